//! Computes the names that clients give to the folder of a project: `-a--b-c-d` for `/a/.b_c d`.

use crate::unicode::nfc;

/// Length in bytes at which client 2.1 cuts the name of a project's folder.
pub const MAX_PROJECT_DIR: usize = 200;

/// Returns the name of the folder in which client 2.1.330 keeps the transcripts of a project.
///
/// Every UTF-16 unit other than an ASCII letter or digit becomes `-`. A name longer than
/// [`MAX_PROJECT_DIR`] is cut and gets a hash. The path cannot be computed from the name; the
/// transcripts have it as `cwd`.
///
/// ```
/// use format_claude_code::encode_project_dir;
///
/// assert_eq!(encode_project_dir("/home/u/my_proj v2 (x)"), "-home-u-my-proj-v2--x-");
/// ```
pub fn encode_project_dir(path: &str) -> String {
    shortened(dashed(path.encode_utf16(), u32::from), path.encode_utf16().map(i32::from))
}

/// Returns the names that the folder of a project may have, the client's own first. The others are
/// from client 2.0, from the SDK for Python, which composes characters first (NFC), and from other
/// programs (FORMAT.md, "Place").
///
/// ```
/// let names = format_claude_code::candidates("/a/.b_c d");
/// assert_eq!(names[0], "-a--b-c-d");
/// assert!(names.contains(&"-a-.b_c d".to_owned()));
/// # #[cfg(feature = "unicode")]
/// assert!(format_claude_code::candidates("/e\u{301}").contains(&"--".to_owned()));
/// ```
pub fn candidates(path: &str) -> Vec<String> {
    let composed: String = nfc(path).collect();
    let by_char = dashed(composed.chars(), u32::from);
    let dots = path.replace(['/', '.'], "-");
    let mut names = vec![
        encode_project_dir(path),
        dashed(path.encode_utf16(), u32::from),
        shortened(by_char, composed.chars().map(|char| u32::from(char) as i32)),
        dots.clone(),
        path.replace('/', "-"),
        format!("-{dots}"),
    ];
    let bare: Vec<String> =
        names.iter().filter_map(|name| name.strip_prefix('-').map(str::to_owned)).collect();
    names.extend(bare);
    let is_name =
        |name: &str| !matches!(name, "" | "." | "..") && !name.contains(['/', '\\', '\0']);
    let mut unique: Vec<String> = Vec::with_capacity(names.len());
    for name in names {
        if is_name(&name) && !unique.contains(&name) {
            unique.push(name);
        }
    }
    unique
}

/// Returns the part of a cut name before its hash; `None` if the name is not cut.
pub(super) fn cut(name: &str) -> Option<&str> {
    let rest = name.get(MAX_PROJECT_DIR..)?;
    let is_hash = rest.strip_prefix('-')?.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if is_hash && rest.len() > 1 { name.get(..MAX_PROJECT_DIR) } else { None }
}

fn dashed<T: Copy>(units: impl Iterator<Item = T>, code: fn(T) -> u32) -> String {
    let name = |unit: T| match char::from_u32(code(unit)) {
        Some(char) if char.is_ascii_alphanumeric() => char,
        _ => '-',
    };
    units.map(name).collect()
}

fn shortened(name: String, units: impl Iterator<Item = i32>) -> String {
    match name.get(..MAX_PROJECT_DIR) {
        Some(head) if name.len() > MAX_PROJECT_DIR => format!("{head}-{}", hash(units)),
        _ => name,
    }
}

/// Returns the absolute value of Java's string hash in base 36.
fn hash(units: impl Iterator<Item = i32>) -> String {
    let hash = units.fold(0i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(unit));
    let mut rest = hash.unsigned_abs();
    let mut digits = Vec::new();
    while rest > 0 || digits.is_empty() {
        digits.extend(char::from_digit(rest % 36, 36));
        rest /= 36;
    }
    digits.into_iter().rev().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_golden_checks_of_the_requirements() {
        let cases = [
            (
                "/Users/foo/.erk/repos/erk/worktrees/feature-branch",
                "-Users-foo--erk-repos-erk-worktrees-feature-branch",
            ),
            ("/home/u/my_proj v2 (x)", "-home-u-my-proj-v2--x-"),
            ("/a/.b_c d", "-a--b-c-d"),
            ("/tmp/😀", "-tmp---"),
            ("/tmp/e\u{301}é~", "-tmp-e---"),
            ("C:\\x", "C--x"),
            ("/home/orangepi/claude-life-dev", "-home-orangepi-claude-life-dev"),
        ];
        for (path, name) in cases {
            assert_eq!(encode_project_dir(path), name);
        }
        let long = format!("/{}", "a".repeat(250));
        let name = encode_project_dir(&long);
        assert_eq!(name, format!("-{}-feo44x", "a".repeat(199)));
        assert_eq!(cut(&name), name.get(..200));
        assert_eq!(encode_project_dir(&"a".repeat(200)), "a".repeat(200));
    }

    #[test]
    fn candidates_are_the_names_of_all_layouts() {
        assert_eq!(
            candidates("/a/.b_c d"),
            [
                "-a--b-c-d",
                "-a--b_c d",
                "-a-.b_c d",
                "--a--b_c d",
                "a--b-c-d",
                "a--b_c d",
                "a-.b_c d"
            ]
        );
        assert!(candidates("/tmp/😀").contains(&"-tmp--".to_owned()));
        let long = format!("/{}", "a".repeat(250));
        assert!(candidates(&long).contains(&format!("-{}", "a".repeat(250))));
        assert!(candidates("/Users/john/Code/project").contains(&"Users-john-Code-project".into()));
    }

    #[test]
    fn no_candidate_leads_elsewhere() {
        for path in ["..", ".", "", "/..", "..\\..\\x", "a\0b", "../../etc"] {
            for name in candidates(path) {
                assert!(!name.contains(['/', '\\', '\0']) && name != ".." && name != ".", "{path}");
            }
        }
    }
}
