//! Checks that every format crate has the same files.

use std::path::Path;

use super::{Problem, entries, relative};

const FILES: &[&str] = &[
    "FORMAT.md",
    "src/lib.rs",
    "src/record.rs",
    "src/reader.rs",
    "src/writer.rs",
    "tests/all/fixtures.rs",
];

pub(super) fn check(root: &Path, problems: &mut Vec<Problem>) {
    for folder in entries(&root.join("crates")) {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !name.starts_with("format-") {
            continue;
        }
        for file in FILES {
            if !folder.join(file).is_file() {
                problems.push(Problem {
                    file: format!("{}/{file}", relative(root, &folder)),
                    line: 1,
                    what: "a missing file".to_owned(),
                    advice: "add it: CONTRIBUTING.md lists the files of a format crate",
                });
            }
        }
    }
}
