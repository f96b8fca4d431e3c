//! Tests of the folder of small files. `storage` was written by OpenCode 1.1.65, and `storage.json` is its
//! export of the session.

use std::{fs, path::PathBuf};

use format_opencode::{list_sessions, read_session};

const ID: &str = "ses_deb0be6ebffeslg1iHEgbIqKWa";

fn path(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/all")).join(name)
}

#[test]
fn a_session_of_small_files_is_the_export_of_its_client() {
    let document = read_session(path("storage"), ID).expect("read");
    let expected = fs::read_to_string(path("storage.json")).expect("a file");
    assert_eq!(String::from_utf8(document).expect("text"), expected);
}

#[test]
fn a_session_is_listed() {
    let sessions = list_sessions(path("storage")).expect("listed");
    let [session] = &sessions[..] else { panic!("{sessions:?}") };
    assert_eq!((session.id.as_str(), session.cwd.as_str()), (ID, "/home/user/project"));
    assert_eq!(session.n_messages, 4);
    assert!(session.first_prompt.contains("@@mock:write"), "{}", session.first_prompt);
}

#[test]
fn odd_stores_are_errors_or_empty() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    assert_eq!(list_sessions(folder.path()).expect("listed"), []);
    fs::create_dir_all(at("session/p")).expect("made");
    fs::write(at("session/p/ses_1.json"), "{\"id\":").expect("written");
    fs::write(at("session/p/other.json"), "{}").expect("written");
    let reason = |id: &str| read_session(folder.path(), id).map_err(|error| error.to_string());
    let torn = reason("ses_1").expect_err("torn");
    assert!(torn.starts_with("the session: byte 6: "), "{torn}");
    for id in ["ses_2", "../p/ses_1", "", "other"] {
        assert!(reason(id).is_err(), "{id}");
    }
    fs::write(at("session/p/ses_1.json"), "{}").expect("written");
    fs::create_dir_all(at("message/ses_1")).expect("made");
    fs::write(at("message/ses_1/msg_1.json"), "[]").expect("written");
    assert_eq!(reason("ses_1").expect_err("an array"), "msg_1: no JSON object");
    fs::write(at("message/ses_1/msg_1.json"), "{}").expect("written");
    assert!(reason("ses_1").is_ok());
}
