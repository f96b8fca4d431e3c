//! Reads time zones from the zone files of a Unix system.
//!
//! In: `Europe/Berlin`. Out: the zone in `/usr/share/zoneinfo/Europe/Berlin`. The time zone database of `jiff` lists all
//! folders of the zone files, and panics if one of them cannot be closed.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

use core_model::folder_entries;
use jiff::tz::TimeZone;

/// The folders that may have the zone files; the first one that exists has them.
const FOLDERS: [&str; 3] = ["/usr/share/zoneinfo", "/usr/share/lib/zoneinfo", "/etc/zoneinfo"];

/// The folder of zone files in a path of one.
const IN_PATHS: &str = "zoneinfo/";

/// The file with the time zone of a machine.
const LOCAL_ZONE: &str = "/etc/localtime";

/// The name of a zone that is read from a file whose name does not tell.
const LOCAL_NAME: &str = "Local";

/// Returns the time zone that `TZ` names, or that of this machine without it. An unknown one is shown as UTC.
pub(super) fn local(tz: Option<OsString>) -> TimeZone {
    let zone = match tz.as_ref().map(|tz| tz.to_string_lossy()) {
        None => of_file(LOCAL_NAME, Path::new(LOCAL_ZONE)),
        Some(tz) if tz.is_empty() => Some(TimeZone::UTC),
        Some(tz) => match tz.strip_prefix(':') {
            Some(name) => of_variable(name),
            None => TimeZone::posix(&tz).ok().or_else(|| of_variable(&tz)),
        },
    };
    zone.unwrap_or_else(TimeZone::unknown)
}

/// Returns the zone of a name, or of the path of a zone file.
fn of_variable(text: &str) -> Option<TimeZone> {
    let name = text.rfind(IN_PATHS).and_then(|at| text.get(at + IN_PATHS.len()..)).unwrap_or(text);
    named(name).or_else(|| of_file(LOCAL_NAME, Path::new(text)))
}

/// Returns the time zone of a name, in upper or lower case.
pub(super) fn named(name: &str) -> Option<TimeZone> {
    let named = std::env::var_os("TZDIR").map(PathBuf::from);
    let folders = match &named {
        Some(folder) => vec![folder.as_path()],
        None => FOLDERS.map(Path::new).to_vec(),
    };
    let mut path = folders.into_iter().find(|folder| folder.is_dir())?.to_owned();
    let mut found = String::new();
    for part in name.split('/') {
        let is_name = |char: char| char.is_ascii_alphanumeric() || matches!(char, '+' | '-' | '_');
        if part.is_empty() || !part.chars().all(is_name) {
            return None;
        }
        let part = spelled(&path, part)?;
        path.push(&part);
        found = if found.is_empty() { part } else { format!("{found}/{part}") };
    }
    of_file(&found, &path)
}

/// Returns a name in a folder as it is spelled there.
fn spelled(folder: &Path, name: &str) -> Option<String> {
    if folder.join(name).exists() {
        return Some(name.to_owned());
    }
    let entries = folder_entries(folder).ok()?;
    let mut names = entries.iter().filter_map(|entry| entry.name.to_str());
    names.find(|there| there.eq_ignore_ascii_case(name)).map(str::to_owned)
}

fn of_file(name: &str, path: &Path) -> Option<TimeZone> {
    TimeZone::tzif(name, &fs::read(path).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn local_named(tz: &str) -> TimeZone {
        local(Some(tz.into()))
    }

    #[test]
    fn a_variable_names_a_zone_in_each_of_its_ways() {
        let rule = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").expect("a rule");
        assert_eq!(local_named("CET-1CEST,M3.5.0,M10.5.0/3"), rule);
        assert_eq!(local_named(""), TimeZone::UTC);
        assert_eq!(local_named("Mars/Olympus"), TimeZone::unknown());
        if !Path::new("/usr/share/zoneinfo/Europe/Berlin").exists() {
            return;
        }
        let berlin = TimeZone::get("Europe/Berlin").expect("known");
        for tz in [
            "Europe/Berlin",
            ":Europe/Berlin",
            "europe/berlin",
            "/usr/share/zoneinfo/Europe/Berlin",
            ":../zoneinfo/Europe/Berlin",
        ] {
            let found = local_named(tz);
            assert_eq!((&found, found.iana_name()), (&berlin, Some("Europe/Berlin")), "{tz}");
        }
        for name in ["../passwd", "/etc/localtime", "Europe/", "Europe", "Europe/./Berlin", ""] {
            assert!(named(name).is_none(), "{name}");
        }
    }
}
