//! Tests of OpenCode's database, which each test makes itself.

use rusqlite::{Connection, params};

use super::*;

/// The tables of OpenCode 1.18.33, without the foreign keys and with fewer columns.
const TABLES: &str = "
    CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text,
        slug text NOT NULL, directory text NOT NULL, title text NOT NULL, version text NOT NULL,
        share_url text, summary_additions integer, summary_deletions integer, summary_files integer,
        summary_diffs text, revert text, permission text, time_created integer NOT NULL,
        time_updated integer NOT NULL, time_compacting integer, time_archived integer,
        workspace_id text, path text, agent text, model text, cost real DEFAULT 0 NOT NULL,
        tokens_input integer DEFAULT 0 NOT NULL, tokens_output integer DEFAULT 0 NOT NULL,
        tokens_reasoning integer DEFAULT 0 NOT NULL, tokens_cache_read integer DEFAULT 0 NOT NULL,
        tokens_cache_write integer DEFAULT 0 NOT NULL, metadata text);
    CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL,
        time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
    CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,
        time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);";

/// The document of the session that [`fill`] writes.
const DOCUMENT: &str = r#"{
  "info": {
    "id": "ses_1",
    "slug": "a",
    "projectID": "global",
    "directory": "/p",
    "path": "p",
    "title": "A \"title\"",
    "agent": "build",
    "model": {
      "id": "m",
      "providerID": "anthropic"
    },
    "version": "1.18.33",
    "summary": {
      "additions": 1,
      "deletions": 0,
      "files": 0,
      "diffs": []
    },
    "cost": 0.25,
    "tokens": {
      "input": 1,
      "output": 2,
      "reasoning": 0,
      "cache": {
        "read": 4,
        "write": 0
      }
    },
    "metadata": {
      "n": 1e-7
    },
    "revert": {
      "messageID": "msg_9",
      "snapshot": "s"
    },
    "time": {
      "created": 1795377453936,
      "updated": 1795377462386
    }
  },
  "messages": [
    {
      "info": {
        "role": "user",
        "time": {
          "created": 5
        },
        "agent": "build",
        "model": {
          "providerID": "anthropic",
          "modelID": "m"
        },
        "id": "msg_b",
        "sessionID": "ses_1"
      },
      "parts": [
        {
          "type": "text",
          "text": "Hello",
          "id": "prt_1",
          "sessionID": "ses_1",
          "messageID": "msg_b"
        },
        {
          "type": "text",
          "text": "é \\ud800",
          "id": "prt_2",
          "sessionID": "ses_1",
          "messageID": "msg_b"
        }
      ]
    },
    {
      "info": {
        "role": "assistant",
        "id": "msg_a",
        "sessionID": "ses_1"
      },
      "parts": []
    }
  ]
}
"#;

/// Writes a session whose messages are in another order than their ids.
fn fill(database: &Connection) {
    database
        .execute(
            "INSERT INTO session (id, project_id, slug, directory, title, version, revert,
                summary_additions, summary_diffs, time_created, time_updated, path, agent, model, cost,
                tokens_input, tokens_output, tokens_cache_read, metadata)
             VALUES ('ses_1', 'global', 'a', '/p', 'A \"title\"', '1.18.33', ?1, 1, '[]', 1795377453936,
                1795377462386, 'p', 'build', ?2, 0.25, 1, 2, 4, '{\"n\":1e-7}')",
            params![
                r#"{"snapshot":"s","messageID":"msg_9"}"#,
                r#"{"providerID":"anthropic","id":"m"}"#
            ],
        )
        .expect("a row");
    let message = "INSERT INTO message VALUES (?1, 'ses_1', ?2, 0, ?3)";
    let user = r#"{"role":"user","time":{"created":5},"agent":"build","model":{"providerID":"anthropic","modelID":"m"}}"#;
    database.execute(message, params!["msg_b", 5, user]).expect("a row");
    database.execute(message, params!["msg_a", 6, r#"{"role":"assistant"}"#]).expect("a row");
    let part = "INSERT INTO part VALUES (?1, 'msg_b', 'ses_1', 0, 0, ?2)";
    let texts = [r#"{"type":"text","text":"é \\ud800"}"#, r#"{"type":"text","text":"Hello"}"#];
    for (id, data) in ["prt_2", "prt_1"].iter().zip(texts) {
        database.execute(part, params![id, data]).expect("a row");
    }
}

fn create(home: &Home, sql: &str) -> Connection {
    fs::create_dir_all(home.data("")).expect("made");
    let database = Connection::open(home.data("opencode.db")).expect("a database");
    database.execute_batch(sql).expect("tables");
    database
}

/// Returns the path of a session of the database.
fn document(home: &Home, id: &str) -> String {
    home.data("opencode.db").join(format!("{id}.json")).to_str().expect("UTF-8").to_owned()
}

#[test]
fn a_session_of_a_database_is_the_export_of_its_client() {
    let home = Home::new();
    // The client has the database open, and all rows are in the log.
    let database = create(&home, "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;");
    database.execute_batch(TABLES).expect("tables");
    fill(&database);
    let before = home.files();
    assert!(before.keys().any(|path| path.ends_with("opencode.db-wal")), "{:?}", before.keys());
    let export = home.convert(&[&document(&home, "ses_1"), "--to", "opencode", "-o", "-"]);
    assert_eq!(export, DOCUMENT);
    let listed: Value = serde_json::from_str(&home.convert(&["list", "--json"])).expect("JSON");
    assert_eq!((&listed["session"], &listed["project"]), (&json!("ses_1"), &json!("/p")));
    assert!(home.convert(&["show", "ses_1"]).contains("Hello"));
    assert_eq!(home.files(), before);
    drop(database);
}

#[test]
fn a_database_wins_over_the_small_files_that_were_moved_into_it() {
    let home = Home::with_storage();
    let database = create(&home, TABLES);
    fill(&database);
    database.execute("UPDATE session SET id = ?1", [ID]).expect("renamed");
    let listed: Value = serde_json::from_str(&home.convert(&["list", "--json"])).expect("JSON");
    assert_eq!((&listed["session"], &listed["project"]), (&json!(ID), &json!("/p")));
}

#[test]
fn older_tables_lack_members() {
    let home = Home::new();
    let database = create(
        &home,
        "CREATE TABLE session (id, project_id, slug, directory, title, version, time_created,
             time_updated);
         CREATE TABLE message (id, session_id, time_created, data);
         CREATE TABLE part (id, message_id, session_id, data);
         INSERT INTO session VALUES ('ses_1', 'g', 's', '/p', 't', '1.2.0', 1, 2)",
    );
    let export = home.convert(&[&document(&home, "ses_1"), "--to", "opencode", "-o", "-"]);
    let expected = "{\n  \"info\": {\n    \"id\": \"ses_1\",\n    \"slug\": \"s\",\n    \"projectID\": \
         \"g\",\n    \"directory\": \"/p\",\n    \"title\": \"t\",\n    \"version\": \"1.2.0\",\n    \
         \"time\": {\n      \"created\": 1,\n      \"updated\": 2\n    }\n  },\n  \"messages\": []\n}\n";
    assert_eq!(export, expected);
    drop(database);
}

#[test]
fn a_copy_with_another_name_is_a_store_too() {
    let home = Home::new();
    fill(&create(&home, TABLES));
    let copy = home.path("app/copy.sqlite");
    fs::copy(home.data("opencode.db"), &copy).expect("copied");
    let copy = copy.to_str().expect("UTF-8");
    assert_eq!(home.convert(&["list", copy, "--json"]).lines().count(), 1);
    home.convert(&[copy, "--to", "claude-code", "-o", "out"]);
    assert!(home.path("app/out/ses_1.json").exists());
    let one = format!("{copy}/ses_1.json");
    assert_eq!(home.convert(&[&one, "--to", "opencode", "-o", "-"]), DOCUMENT);
}

#[test]
fn hostile_databases_are_refused_or_harmless() {
    let odd_tables = "
        CREATE TABLE message (id, session_id, time_created, data);
        CREATE TABLE part (id, message_id, session_id, data);";
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)";
    for (sql, expected) in [
        // Other tables, and none.
        ("CREATE TABLE other (id)".to_owned(), "lacks the table `session`"),
        // A view instead of a table, which has no end.
        (
            format!(
                "{odd_tables} CREATE VIEW session AS {endless} SELECT 'ses_' || i AS id, '/' AS \
                 directory, 1 AS time_updated FROM n"
            ),
            "lacks the table `session`",
        ),
        // A column that is computed: it is no part of the table.
        (
            format!(
                "{odd_tables} CREATE TABLE session (id, directory, time_updated AS \
                 (length(zeroblob(100000000))))"
            ),
            "lacks the table `session`",
        ),
        // A value that is larger than the limit.
        (
            format!(
                "{odd_tables} CREATE TABLE session (id, directory, time_updated);
                 INSERT INTO session VALUES ('ses_1', zeroblob(300000000), 1)"
            ),
            "the database cannot be read",
        ),
        // Data that is no JSON, and no text.
        (
            format!(
                "{odd_tables} CREATE TABLE session (id, directory, time_updated);
                 INSERT INTO session VALUES ('ses_1', '/', 1);
                 INSERT INTO message VALUES ('m', 'ses_1', 1, '{{')"
            ),
            "m: ",
        ),
        (
            format!(
                "{odd_tables} CREATE TABLE session (id, directory, time_updated);
                 INSERT INTO session VALUES ('ses_1', '/', 1);
                 INSERT INTO message VALUES ('m', 'ses_1', 1, x'ff')"
            ),
            "m: no JSON text",
        ),
    ] {
        let home = Home::new();
        drop(create(&home, &sql));
        let before = home.files();
        let message = home.refuses(&["show", &document(&home, "ses_1")]);
        assert!(message.contains(expected), "{sql}: {message}");
        assert_eq!(home.files(), before);
    }
    // Ids that lead out of the output folder are left out, and said.
    let home = Home::new();
    let database = create(&home, TABLES);
    fill(&database);
    database
        .execute(
            "INSERT INTO session (id, project_id, slug, directory, title, version, time_created,
                 time_updated) VALUES ('../../x', 'g', 's', '/p', 't', '1', 1, 2)",
            [],
        )
        .expect("a row");
    let output = home.run(&["list", "--json"], "");
    assert_eq!(text(&output.stdout).lines().count(), 1, "{}", text(&output.stdout));
    let message = text(&output.stderr);
    assert!(message.contains("sessions with odd ids are left out: 1"), "{message}");
}

#[cfg(unix)]
#[test]
fn a_pipe_beside_a_database_does_not_block() {
    let home = Home::new();
    fill(&create(&home, TABLES));
    let pipe = home.data("opencode.db-wal");
    let mkfifo = std::process::Command::new("mkfifo").arg(&pipe).status().expect("it runs");
    assert!(mkfifo.success());
    let message = home.refuses(&["show", &document(&home, "ses_1")]);
    assert!(message.contains("opencode.db-wal is no regular file"), "{message}");
}

#[test]
fn a_damaged_database_is_an_error_wherever_it_is_cut() {
    let home = Home::new();
    drop({
        let database = create(&home, TABLES);
        fill(&database);
        database
    });
    let path = home.data("opencode.db");
    let whole = fs::read(&path).expect("a file");
    for length in [0, 15, 16, 100, 4096, 5000, whole.len() / 2, whole.len() - 1] {
        fs::write(&path, &whole[..length]).expect("written");
        let output = home.run(&["show", &document(&home, "ses_1")], "");
        assert!(output.status.code().is_some_and(|code| code > 0), "{length}");
        assert!(!text(&output.stderr).contains("panicked"), "{length}: {}", text(&output.stderr));
    }
    // Bytes that differ are found, or change a value.
    for at in (0..whole.len()).step_by(97) {
        let mut odd = whole.clone();
        odd[at] ^= 0xa5;
        fs::write(&path, odd).expect("written");
        let output = home.run(&["show", &document(&home, "ses_1")], "");
        assert!(output.status.code().is_some(), "{at}");
        assert!(!text(&output.stderr).contains("panicked"), "{at}: {}", text(&output.stderr));
    }
}

#[test]
fn no_copy_of_a_database_is_left() {
    let home = Home::new();
    fill(&create(&home, TABLES));
    let scratch = home.path("tmp");
    fs::create_dir(&scratch).expect("made");
    let output = Command::new(env!("CARGO_BIN_EXE_convert"))
        .args(["show", "ses_1"])
        .env_clear()
        .env("HOME", home.path(""))
        .env("TMPDIR", &scratch)
        .output()
        .expect("the program runs");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(fs::read_dir(&scratch).expect("a folder").count(), 0);
}
