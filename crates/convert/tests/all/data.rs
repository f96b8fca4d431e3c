//! Tests with the shared data, if it exists: every pair of formats and back, exact reasons of refusals,
//! dumps of the SDK.
//!
//! `cargo run --release -p sessionlog-convert --example matrix -- --third DIR...` covers third formats too.

use std::{collections::BTreeMap, io};

use convert::{CarryMode, Conversion, Detected, FORMATS, Source, by_name, detect};
use core_model::{Format, Options, SdkVersion};

use crate::shared::{
    data::data,
    parallel::check_all,
    ways::{others, there_and_back},
};

/// The refused files, and the reasons: most have no line with content of a session.
const REFUSED: &[(&str, &str)] = &[
    ("crash/all_nul.jsonl", "unknown"),
    ("encoding/cesu8_surrogate_bytes.jsonl", "unknown"),
    ("encoding/escaped_nul.jsonl", "unknown"),
    ("encoding/lone_low_surrogate_key.jsonl", "unknown"),
    ("encoding/nfc_nfd.jsonl", "unknown"),
    ("encoding/surrogate_pair_split.jsonl", "unknown"),
    ("framing/utf16le.jsonl", "UTF-16 text"),
    ("sdk/mixed_formats.jsonl", "claude-code or clido"),
    ("structure/key_order.jsonl", "unknown"),
    ("structure/proto_keys.jsonl", "unknown"),
    ("structure/type_not_string.jsonl", "unknown"),
];

type Session = (String, &'static Format, Vec<u8>);

/// Returns the sessions below folders, and the names of refused files with reasons.
fn sessions(folders: &[&str]) -> (Vec<Session>, Vec<(String, String)>) {
    let (mut sessions, mut refused) = (Vec::new(), Vec::new());
    for (name, bytes) in data(folders) {
        match detect(&mut Source::new(io::Cursor::new(&bytes))).expect("in memory") {
            Detected::Format(from) => sessions.push((name, from, bytes)),
            Detected::Empty => sessions.push((name, FORMATS[0], bytes)),
            Detected::Ambiguous(one, other) => {
                refused.push((name, format!("{} or {}", one.name, other.name)));
            }
            Detected::Foreign(what) | Detected::Archive(what) => {
                refused.push((name, what.to_owned()))
            }
            Detected::Unknown => refused.push((name, "unknown".to_owned())),
        }
    }
    (sessions, refused)
}

fn name((name, _, _): &Session) -> String {
    name.clone()
}

fn comes_back((_, from, bytes): &Session) -> Vec<String> {
    others(&[from])
        .flat_map(|to| {
            [CarryMode::Inline, CarryMode::Sidecar]
                .into_iter()
                .filter_map(move |mode| there_and_back(bytes, from, to, mode))
        })
        .collect()
}

#[test]
fn what_clients_and_sdks_wrote_comes_back() {
    // Sessions of clients that we do not support.
    let clients = ["cc-new", "cc-old", "clido", "sdk", "tui-new", "tui-old"];
    let clients: Vec<String> = clients.iter().map(|name| format!("clients/{name}")).collect();
    let folders: Vec<&str> =
        ["real", "sdk-dump"].into_iter().chain(clients.iter().map(String::as_str)).collect();
    let (sessions, refused) = sessions(&folders);
    if !sessions.is_empty() {
        let others: Vec<_> =
            refused.iter().filter(|(_, why)| why != "a Qwen Code session").collect();
        assert!(others.is_empty(), "{others:?}");
        check_all(&sessions, name, comes_back);
    }
}

#[test]
fn hostile_files_come_back() {
    let (sessions, refused) = sessions(&["hostile"]);
    if sessions.is_empty() {
        return;
    }
    let refused: Vec<_> = refused
        .iter()
        .map(|(name, why)| (name.strip_prefix("hostile/").unwrap_or(name), &**why))
        .collect();
    assert_eq!(refused, REFUSED);
    check_all(&sessions, name, comes_back);
}

fn stem_of(file: &str) -> &str {
    file.split('.').next().unwrap_or_default()
}

#[test]
fn captures_become_what_the_sdk_dumps() {
    let wire = by_name("sdk-stream:wire").expect("a format");
    let dump = by_name("sdk-stream").expect("a format");
    let captures: BTreeMap<_, _> = data(&["real"]).into_iter().collect();
    for (folder, sdk_version) in
        [("sdk-dump/0.1.6", SdkVersion::V0_1_6), ("sdk-dump/0.2.187", SdkVersion::V0_2_187)]
    {
        let mut n_equal = 0;
        for (name, expected) in data(&[folder]) {
            let stem = name.rsplit('/').next().unwrap_or_default();
            let (repository, file) = stem.split_once("__").expect("named for its capture");
            let found: Vec<_> = captures
                .iter()
                .filter(|(name, _)| {
                    let name = name.strip_prefix("real/").unwrap_or(name);
                    let found = name.rsplit('/').next().unwrap_or_default();
                    name.starts_with(repository) && stem_of(found) == stem_of(file)
                })
                .collect();
            let [(_, capture)] = found[..] else { panic!("{} captures of {name}", found.len()) };
            let options = Options { sdk_version, ..Options::default() };
            let conversion = Conversion {
                formats: FORMATS,
                from: wire,
                to: dump,
                carry: CarryMode::None,
                options,
            };
            let dumped = conversion.convert(capture, None).expect("in memory").bytes;
            assert!(dumped == expected, "{name} differs");
            n_equal += 1;
        }
        assert!(n_equal == 20 || captures.is_empty(), "{n_equal} of 20 in {folder}");
    }
}
