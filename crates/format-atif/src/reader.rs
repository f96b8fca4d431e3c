//! Reads events from records, and detects the format of a document.
//!
//! In: `{"step_id":2,"source":"agent","message":"I look.","tool_calls":[..],"observation":{..}}`.
//! Out: the event of a response with a text and calls, and the event of their results.

mod block;

use core_model::{
    Body, Content, Context, Event, Message, Notice, NoticeKind, Role, Start, Title, TitleRank,
    Tokens, Usage, is_carry, is_void,
};
use jsonl::{Raw, Text, Value};

pub use self::block::read_block;
use self::block::{read_call, read_message, read_result, read_thinking};
use crate::{
    NAME,
    record::{Document, Entry, Record, Step},
    unread::VOCABULARY,
};

/// Limit on the steps of a sub-agent's trajectory that are read. Each event is found from the start
/// of its record, so that more steps would take time that grows with their square.
pub(crate) const MAX_STEPS: usize = 1000;

/// The member with the trajectories of sub-agents.
const TRAJECTORIES: &str = "subagent_trajectories";

/// Returns whether a record is of an ATIF document: a step, or the document with its version.
///
/// ```
/// let mut scanner = jsonl::Scanner::default();
/// let head = br#"{"schema_version":"ATIF-v1.8","agent":{"name":"a","version":"1"},"steps":[]}"#;
/// assert!(format_atif::detect(scanner.scan_slice(head, 0)?));
/// # Ok::<(), jsonl::Error>(())
/// ```
pub fn detect(value: Value<'_>) -> bool {
    let [version, step_id, source, message] =
        value.get_all(["schema_version", "step_id", "source", "message"]);
    if let Some(version) = version {
        return version.text().is_some_and(|version| version.body().starts_with("ATIF-v1"));
    }
    let is_source = |source: Text<'_>| ["system", "user", "agent"].iter().any(|it| source.is(it));
    step_id.is_some_and(|id| id.raw().as_u64().is_some())
        && message.is_some()
        && source.and_then(|source| source.text()).is_some_and(is_source)
}

/// Returns whether an object in a damaged document is a whole record, and not an inner value.
pub(crate) fn is_record(value: Value<'_>) -> bool {
    detect(value)
}

/// Reads the first event of a record.
pub fn read(value: Value<'_>) -> Event<'_> {
    match Record::decode(value).entry {
        Entry::Document(document) => read_start(value, &document),
        Entry::Step(step) => read_step(value, &step),
        Entry::Trajectory(document) => {
            // The members around its steps.
            let mut event = other(value, Text::new("\"subagent_trajectories\""));
            as_agent(&mut event, &document);
            event
        }
        Entry::Other => read_member(value, 0).unwrap_or_else(|| {
            let name = value.members().map(|(key, _)| key).find(|key| key.is(TRAJECTORIES));
            other(value, name)
        }),
    }
}

/// Reads event `n` of a record, for `n` from 1.
pub(crate) fn read_more(value: Value<'_>, n: u32) -> Option<Event<'_>> {
    let n = usize::try_from(n).ok()?;
    match Record::decode(value).entry {
        Entry::Document(document) => {
            let title = read_title(value, &document);
            let notes = read_notes(value, &document);
            title.into_iter().chain(notes).nth(n.checked_sub(1)?)
        }
        Entry::Step(step) if n == 1 => read_observation(value, &step),
        Entry::Step(_) => None,
        Entry::Trajectory(document) => {
            let mut event = read_inner(value, &document, n.checked_sub(1)?)?;
            as_agent(&mut event, &document);
            Some(event)
        }
        Entry::Other => read_member(value, n),
    }
}

fn other<'l>(value: Value<'l>, kind: Option<Text<'l>>) -> Event<'l> {
    Event { kind, vocabulary: &VOCABULARY, ..Event::other(NAME, value) }
}

/// Marks an event as one of a sub-agent.
fn as_agent<'l>(event: &mut Event<'l>, document: &Document<'l>) {
    event.context.is_sidechain = true;
    event.context.agent_id = document.trajectory_id;
}

/// Reads the start of a session from the document without its steps.
fn read_start<'l>(value: Value<'l>, document: &Document<'l>) -> Event<'l> {
    let agent = document.agent;
    let [version, model, extra] =
        agent.map_or([None; 3], |agent| agent.get_all(["version", "model_name", "extra"]));
    let extra = extra
        .map_or([None; 4], |extra| extra.get_all(["cwd", "git_branch", "cwds", "git_branches"]));
    let first = |list: Option<Value<'l>>| list?.items().next();
    let text = |value: Option<Value<'l>>| value?.text();
    let [cwd, branch, cwds, branches] = extra;
    let mut event = other(value, text(value.get("schema_version")));
    event.context = Context {
        session_id: document.session_id,
        version: text(version),
        cwd: text(cwd.or_else(|| first(cwds))),
        git_branch: text(branch.or_else(|| first(branches))),
        ..Context::default()
    };
    event.body = Body::Start(Start { model: text(model), tools: None });
    event
}

fn read_title<'l>(value: Value<'l>, document: &Document<'l>) -> Option<Event<'l>> {
    let text = document.extra?.get("title")?.text().filter(|text| !text.is_blank())?;
    let body = Body::Title(Title { text, rank: TitleRank::User });
    Some(Event { body, ..other(value, Text::new("\"title\"")) })
}

fn read_notes<'l>(value: Value<'l>, document: &Document<'l>) -> Option<Event<'l>> {
    let text = document.notes.filter(|text| !text.is_blank())?;
    let notice = Notice {
        kind: NoticeKind::Info,
        subtype: Text::new("\"notes\""),
        about: None,
        text: Some(text.into()),
        trigger: None,
        pre_tokens: None,
    };
    Some(Event { body: Body::Notice(notice), ..other(value, Text::new("\"notes\"")) })
}

/// Reads member `n` behind the steps, which no event has a place for.
fn read_member(value: Value<'_>, n: usize) -> Option<Event<'_>> {
    let is_said = |(key, value): &(Text<'_>, Value<'_>)| match () {
        () if key.is("steps") || key.is(TRAJECTORIES) => false,
        () if key.is("extra") => !value.members().all(|(key, value)| is_carry(key, value)),
        () => !is_void(value),
    };
    let (key, _) = value.members().filter(is_said).nth(n)?;
    Some(other(value, Some(key)))
}

/// Reads event `n` of the steps of a sub-agent. The steps behind the limit are one event.
fn read_inner<'l>(trajectory: Value<'l>, document: &Document<'l>, n: usize) -> Option<Event<'l>> {
    let rest = || Some(other(trajectory, Text::new("\"steps\"")));
    let mut n_before = 0usize;
    for (step_idx, value) in document.steps?.items().enumerate() {
        if step_idx == MAX_STEPS {
            return if n == n_before { rest() } else { None };
        }
        if !value.is_object() {
            // An item that is no step.
            if !value.is_null() && n_before == n {
                return rest();
            }
            n_before = n_before.saturating_add(usize::from(!value.is_null()));
            continue;
        }
        let Entry::Step(step) = Record::decode(value).entry else {
            // An object of another kind.
            if n_before == n {
                return Some(other(value, None));
            }
            n_before = n_before.saturating_add(1);
            continue;
        };
        let n_events = if step.results().is_some() { 2 } else { 1 };
        match n.checked_sub(n_before) {
            Some(0) => return Some(read_step(value, &step)),
            Some(1) if n_events == 2 => return read_observation(value, &step),
            _ => n_before = n_before.saturating_add(n_events),
        }
    }
    None
}

/// Reads what is said in a step.
fn read_step<'l>(value: Value<'l>, step: &Step<'l>) -> Event<'l> {
    let mut event = other(value, step.source);
    event.context = context(step);
    let Some(source) = step.source else { return event };
    let kind = step.extra_member("kind").and_then(|kind| kind.text());
    let is_kind = |name: &str| kind.is_some_and(|kind| kind.is(name));
    let said = |role| Message::new(role, Content::new(step.message, read_block));
    event.body = match &*source.decode() {
        "user" => Body::Message(Message { is_queued: is_kind("queued"), ..said(Role::User) }),
        "agent" => Body::Message(read_response(value, step, is_kind("meta"))),
        "system" if is_kind("notice") => Body::Notice(read_notice(step)),
        "system" if is_kind("compaction") => {
            Body::Message(Message { is_summary: true, ..said(Role::User) })
        }
        // An empty text beside results says nothing.
        "system" if is_empty(step) && step.results().is_some() => Body::Other,
        "system" => Body::Message(Message { is_meta: true, ..said(Role::User) }),
        _ => Body::Other,
    };
    event
}

fn context<'l>(step: &Step<'l>) -> Context<'l> {
    let [cwd, is_sidechain] =
        step.extra.map_or([None; 2], |extra| extra.get_all(["cwd", "is_sidechain"]));
    Context {
        time: step.timestamp.map(|time| time.raw()),
        cwd: cwd.and_then(|cwd| cwd.text()),
        is_sidechain: is_sidechain.and_then(|it| it.bool()) == Some(true),
        ..Context::default()
    }
}

fn is_empty(step: &Step<'_>) -> bool {
    match step.message {
        None => true,
        Some(message) => message.text().is_some_and(|text| text.is_empty()) || is_void(&message),
    }
}

/// Reads a response: its thinking, its text and its calls, which are three members of the step.
fn read_response<'l>(value: Value<'l>, step: &Step<'l>, is_meta: bool) -> Message<'l> {
    type Read = for<'a> fn(Value<'a>) -> core_model::Block<'a>;
    let thinking: Option<(Value<'l>, Read)> =
        step.reasoning_content.map(|_| (value, read_thinking as Read));
    let calls: Option<(Value<'l>, Read)> = step
        .tool_calls
        .filter(|calls| calls.items().next().is_some())
        .map(|calls| (calls, read_call as Read));
    let has_others = thinking.is_some() || calls.is_some();
    let text: Option<(Value<'l>, Read)> = match step.message {
        Some(_) if has_others && is_empty(step) => None,
        Some(message) if message.is_array() => Some((message, read_block as Read)),
        Some(message) if message.text().is_some() => Some((value, read_message as Read)),
        _ => None,
    };
    let mut all = [thinking, text, calls].into_iter().flatten();
    let content = match (all.next(), all.next(), all.next()) {
        (Some(_), None, _) if !has_others => Content::new(step.message, read_block),
        (Some((one, read)), None, _) => Content::one(one, read),
        (Some(before), Some((array, read)), None) => Content::after(before, array, read),
        (Some(before), Some((array, read)), Some((after, read_after))) => {
            Content::after(before, array, read).followed_by(after, read_after)
        }
        (None, ..) => Content::new(step.message, read_block),
    };
    let extra = step.extra.map_or([None; 4], |extra| {
        extra.get_all(["message_id", "request_id", "stop_reason", "is_api_error"])
    });
    let text = |value: Option<Value<'l>>| value?.text();
    let [id, request_id, stop_reason, is_api_error] = extra;
    Message {
        id: text(id),
        request_id: text(request_id),
        model: step.model_name,
        stop_reason: text(stop_reason).map(Raw::from),
        usage: step.metrics.map(|metrics| Usage::new(metrics, tokens)),
        is_api_error: is_api_error.and_then(|it| it.bool()) == Some(true),
        is_meta,
        ..Message::new(Role::Assistant, content)
    }
}

/// Reads a notice of another format, which a writer of this crate wrote.
fn read_notice<'l>(step: &Step<'l>) -> Notice<'l> {
    let names = ["level", "subtype", "about", "trigger", "pre_tokens"];
    let [level, subtype, about, trigger, pre_tokens] =
        step.extra.map_or([None; 5], |extra| extra.get_all(names));
    let text = |value: Option<Value<'l>>| value?.text();
    let kind = match text(level).map(|level| level.decode()).as_deref() {
        Some("compaction") => NoticeKind::Compaction,
        Some("error") => NoticeKind::Error,
        Some("warning") => NoticeKind::Warning,
        _ => NoticeKind::Info,
    };
    Notice {
        kind,
        subtype: text(subtype),
        about: text(about),
        text: step.message.filter(|_| !is_empty(step)).map(|message| message.raw()),
        trigger: text(trigger),
        pre_tokens: pre_tokens.map(|tokens| tokens.raw()),
    }
}

/// Reads the results in a step.
fn read_observation<'l>(value: Value<'l>, step: &Step<'l>) -> Option<Event<'l>> {
    let results = step.results()?;
    let mut message = Message::new(Role::User, Content::one(results, read_result));
    let has_results = message.tool_results().next().is_some();
    message.is_meta = !has_results;
    let mut items = results.items();
    if let (Some(only), None) = (items.next(), items.next()) {
        let extra = only.get("extra").and_then(|extra| extra.get("tool_use_result"));
        message.tool_use_result = extra.map(|extra| extra.raw());
    }
    let mut event = other(value, Text::new("\"observation\""));
    event.context = context(step);
    event.body = Body::Message(message);
    Some(event)
}

/// Reads the tokens of a step. The cached tokens are part of the prompt's.
fn tokens(metrics: Value<'_>) -> Tokens {
    let count = |value: Option<Value<'_>>| value.and_then(|it| it.raw().as_u64()).unwrap_or(0);
    let [prompt, output, cached, extra] =
        metrics.get_all(["prompt_tokens", "completion_tokens", "cached_tokens", "extra"]);
    let written = extra.and_then(|extra| extra.get("cache_creation_input_tokens"));
    let (cache_read, cache_creation) = (count(cached), count(written));
    let input = count(prompt).saturating_sub(cache_read).saturating_sub(cache_creation);
    Tokens { input, output: count(output), cache_read, cache_creation }
}
