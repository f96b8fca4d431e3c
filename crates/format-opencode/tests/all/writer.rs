//! Tests of the writer: the messages and parts of written documents, and the counted losses.

use core_model::{Facts, LossKind, Losses, WrittenRecords};
use format_opencode::{Reader, Writer, validate};
use serde_json::Value;

/// Reads a document and writes it again.
fn rewrite(document: &Value) -> (Value, Losses) {
    let document = document.to_string();
    let mut facts = Facts::default();
    for record in Reader::from_reader(document.as_bytes()).flatten() {
        record.as_ref().for_each_event(|event| {
            facts.observe(event);
            true
        });
    }
    let mut writer = Writer::new(Vec::new(), facts);
    for record in Reader::from_reader(document.as_bytes()).flatten() {
        writer.write(&record.as_ref()).expect("a vector");
    }
    let WrittenRecords { target: written, losses } = writer.finish().expect("a vector");
    let stops: Vec<_> = validate(&written).into_iter().filter(|it| it.stops()).collect();
    assert_eq!(stops, []);
    (serde_json::from_slice(&written).expect("JSON"), losses)
}

/// Returns the number of losses of a kind with a name.
fn count(losses: &Losses, kind: LossKind, name: &str) -> u64 {
    losses.iter().filter(|it| (it.0, it.1) == (kind, name)).map(|it| it.2.count).sum()
}

/// A document with one prompt and one response.
fn document(time: Value, parts: Value, finish: Value) -> Value {
    serde_json::json!({
        "info": { "id": "ses_1a", "slug": "a", "projectID": "global", "directory": "/p", "title": "Files",
                  "version": "1.18.33", "time": { "created": 1_795_377_506_114_u64, "updated": 1_795_377_506_114_u64 } },
        "messages": [
            { "info": { "role": "user", "time": { "created": time }, "id": "msg_1", "sessionID": "ses_1a" },
              "parts": [{ "type": "text", "text": "Look" }] },
            { "info": { "role": "assistant", "time": { "created": 1_795_377_507_000_u64 }, "finish": finish,
                        "modelID": "claude-sonnet-4-5", "id": "msg_2", "sessionID": "ses_1a" },
              "parts": parts },
        ],
    })
}

fn call(id: &str, output: Option<&str>) -> Value {
    let state = match output {
        Some(output) => {
            serde_json::json!({ "status": "completed", "input": { "a": 1 }, "output": output,
            "title": "", "metadata": {}, "time": { "start": 1, "end": 1_795_377_508_000_u64 } })
        }
        None => {
            serde_json::json!({ "status": "running", "input": { "a": 1 }, "time": { "start": 1 } })
        }
    };
    serde_json::json!({ "type": "tool", "callID": id, "tool": "read", "state": state })
}

const TIME: u64 = 1_795_377_506_114;

#[test]
fn a_call_has_its_result_in_its_state() {
    let parts = serde_json::json!([call("t1", Some("a.rs"))]);
    let (written, losses) = rewrite(&document(TIME.into(), parts, "tool-calls".into()));
    let response = &written["messages"][1];
    let state = &response["parts"][0]["state"];
    assert_eq!(state["status"], "completed");
    assert_eq!(
        (&state["input"], &state["output"]),
        (&serde_json::json!({ "a": 1 }), &"a.rs".into())
    );
    assert_eq!(response["info"]["finish"], "tool-calls");
    assert_eq!(count(&losses, LossKind::Flattened, "stop_reason"), 0);
    assert_eq!(count(&losses, LossKind::Invented, "stop_reason"), 0);
}

#[test]
fn no_result_is_made_up_for_a_call_without_one() {
    let parts = serde_json::json!([call("t1", None)]);
    let (written, losses) = rewrite(&document(TIME.into(), parts, "tool-calls".into()));
    let state = &written["messages"][1]["parts"][0]["state"];
    assert_eq!(state["status"], "running");
    assert!(state["output"].is_null() && state["error"].is_null(), "{state}");
    assert_eq!(count(&losses, LossKind::Invented, "tool_result"), 0);
}

#[test]
fn a_call_with_the_id_of_an_earlier_one_gets_another_and_keeps_its_result() {
    let parts = serde_json::json!([call("t1", Some("one")), call("t1", Some("two"))]);
    let (written, losses) = rewrite(&document(TIME.into(), parts, "tool-calls".into()));
    let [one, two] = [0, 1].map(|n| &written["messages"][1]["parts"][n]);
    assert_eq!((&one["callID"], &one["state"]["output"]), (&"t1".into(), &"one".into()));
    let id = two["callID"].as_str().expect("an id");
    assert!(core_model::is_replacement_tool_id(id), "{id}");
    assert_eq!(two["state"]["output"], "two");
    assert_eq!(count(&losses, LossKind::Flattened, "tool_use.id"), 1);
    assert_eq!(count(&losses, LossKind::Flattened, "tool_result.tool_use_id"), 1);
}

#[test]
fn images_that_the_client_cannot_decode_are_no_files() {
    let file = |data: &str| {
        let url = format!("data:image/png;base64,{data}");
        serde_json::json!({ "type": "file", "mime": "image/png", "url": url })
    };
    let mut result = call("t1", Some("seen"));
    result["state"]["attachments"] = serde_json::json!([file("iVBORw=="), file("iVBOR")]);
    let mut document = document(TIME.into(), serde_json::json!([result]), "tool-calls".into());
    document["messages"][0]["parts"] =
        serde_json::json!([file("iVBORw=="), file("iVBORw"), file("REDACTED="), file("[removed]")]);
    let rules: Vec<_> =
        validate(document.to_string().as_bytes()).into_iter().map(|it| it.rule).collect();
    assert_eq!(rules.iter().filter(|rule| **rule == "data-url").count(), 4);
    let (written, losses) = rewrite(&document);
    let parts = written["messages"][0]["parts"].as_array().expect("parts");
    let types: Vec<_> = parts.iter().map(|part| part["type"].as_str()).collect();
    assert_eq!(types, [Some("file"), Some("text"), Some("text"), Some("text")]);
    assert_eq!(parts[1]["text"], "[image]");
    let attachments = &written["messages"][1]["parts"][0]["state"]["attachments"];
    assert_eq!(attachments.as_array().map(Vec::len), Some(1));
    assert_eq!(count(&losses, LossKind::Flattened, "block.image"), 3);
    assert_eq!(count(&losses, LossKind::Dropped, "block.image"), 1);
}

#[test]
fn a_reason_to_stop_that_is_made_up_or_replaced_is_counted() {
    let text = serde_json::json!([{ "type": "text", "text": "Done." }]);
    let calls = serde_json::json!([call("t1", Some("a.rs"))]);
    for (parts, finish, written_as, kind) in [
        (&text, Value::Null, "stop", Some(LossKind::Invented)),
        (&text, "length".into(), "length", None),
        (&text, "content-filter".into(), "stop", Some(LossKind::Flattened)),
        (&calls, "stop".into(), "tool-calls", Some(LossKind::Flattened)),
    ] {
        let (written, losses) = rewrite(&document(TIME.into(), parts.clone(), finish.clone()));
        assert_eq!(written["messages"][1]["info"]["finish"], written_as, "{finish}");
        for each in [LossKind::Invented, LossKind::Flattened] {
            let n = count(&losses, each, "stop_reason");
            assert_eq!(n, u64::from(kind == Some(each)), "{finish} {each:?}");
        }
    }
}

#[test]
fn a_time_finer_than_a_millisecond_is_counted() {
    let text = serde_json::json!([{ "type": "text", "text": "Done." }]);
    for (time, n_lost) in [(Value::from(TIME), 0), (serde_json::json!(1_795_377_506_114.5), 1)] {
        let (written, losses) = rewrite(&document(time.clone(), text.clone(), "stop".into()));
        let created = written["messages"][0]["info"]["time"]["created"].as_u64();
        assert!(created.is_some_and(|it| it.abs_diff(TIME) <= 1), "{time}: {created:?}");
        assert_eq!(count(&losses, LossKind::Flattened, "info.time.created"), n_lost, "{time}");
    }
}

#[test]
fn members_of_the_session_that_are_made_up_are_counted() {
    let mut document = document(TIME.into(), serde_json::json!([]), "stop".into());
    document["info"]["title"] = "New session - 2026-11-12T13:55:00.000Z".into();
    document["info"]["directory"] = Value::Null;
    let (written, losses) = rewrite(&document);
    assert!(written["info"]["title"].as_str().is_some_and(|it| it.starts_with("New session - ")));
    for name in ["info.title", "info.directory", "info.slug", "info.projectID", "info.version"] {
        assert_eq!(count(&losses, LossKind::Invented, name), 1, "{name}");
    }
}

#[test]
fn a_prompt_later_than_the_clock_stops_the_client() {
    use core_model::{Check, Problem};

    let document = document(TIME.into(), serde_json::json!([]), "stop".into()).to_string();
    let rules = |now: u64| {
        let mut rules = Vec::new();
        let mut note = |problem: Problem| rules.push(problem.rule);
        let format = format_opencode::FORMAT;
        let mut check = Check::new((format.checker)()).at(now.cast_signed());
        let mut records = jsonl::Records::new(document.as_bytes(), format.framing);
        let mut units = jsonl::UnitScanner::default();
        while let Some(unit) = records.next().expect("a slice") {
            let (unit, value) = units.scan(&unit, format.framing.paths());
            check.line(&unit, value, &mut note);
        }
        check.finish(&mut note);
        rules.contains(&"future")
    };
    assert!(rules(TIME - 1) && !rules(TIME));
    assert!(validate(document.as_bytes()).iter().all(|problem| problem.rule != "future"));
}
