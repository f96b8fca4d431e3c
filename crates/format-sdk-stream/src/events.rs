//! Writes the lines around messages for sources of other formats: init lines and notices.
//!
//! In: the start of a session in `/p`. Out: `{"type":"system","subtype":"init","cwd":"/p",..}` on
//! the wire, and in a dump the same under `data`.

use core_model::{Event, Facts, LossKind, Notice, NoticeKind, Output};
use jsonl::{Raw, Text};

use crate::{
    compose::Composer,
    record::Flavor,
    session::{Session, respelt},
    speech::{Manner, lose_context},
    wire,
};

/// Writes the `init` line of an interaction. Other formats have no such line.
pub(crate) fn init(
    manner: Manner,
    event: &Event<'_>,
    facts: &Facts,
    session: &mut Session,
    out: &mut Output,
) {
    let style = out.style();
    let spelled = |text: Option<Text<'_>>| text.map(|text| text.as_str().to_owned());
    session.cwd = spelled(event.context.cwd).or_else(|| facts.cwd.clone());
    session.version = spelled(event.context.version).or_else(|| facts.version.clone());
    let known = session.n_prompts.checked_sub(1).and_then(|n| facts.interactions.get(n));
    let uuid = out.uuid(event, "init", 0);
    let mut line = Composer::open_derived(out);
    let is_dump = manner.flavor == Flavor::Dump;
    if is_dump {
        line.string("subtype", "init");
        line.object("data");
    }
    line.string("type", "system");
    line.string("subtype", "init");
    if is_dump {
        session.put_known_id(&mut line);
    }
    let cwd = facts.cwd.as_deref();
    match (event.context.cwd, cwd) {
        (Some(cwd), _) => line.raw("cwd", Raw::from(cwd)),
        (None, Some(cwd)) => line.put("cwd", &respelt(cwd, style)),
        (None, None) => {
            line.string("cwd", "");
            line.lose(LossKind::Invented, "cwd");
        }
    }
    if !is_dump {
        session.put_known_id(&mut line);
        tools(&mut line, facts);
        line.put("mcp_servers", "[]");
    }
    // Readers accept an `init` line without a model.
    let model = known.and_then(|known| known.model).map(|model| respelt(model, style));
    if let Some(model) = model.as_deref().or(session.last_model()) {
        line.put("model", model);
    }
    if is_dump {
        tools(&mut line, facts);
    }
    match known.and_then(|known| known.permission_mode) {
        Some(mode) => line.put("permissionMode", &respelt(mode, style)),
        None => {
            line.string("permissionMode", "default");
            line.lose(LossKind::Invented, "permissionMode");
        }
    }
    if !is_dump {
        line.put("slash_commands", "[]");
        line.string("apiKeySource", "none");
    }
    match (event.context.version, facts.version.as_deref()) {
        (Some(version), _) => line.raw("claude_code_version", Raw::from(version)),
        (None, Some(version)) => line.put("claude_code_version", &respelt(version, style)),
        (None, None) if is_dump => {}
        (None, None) => line.string("claude_code_version", "0.0.0"),
    }
    if !is_dump {
        line.string("output_style", "default");
        for name in ["agents", "skills", "plugins"] {
            line.put(name, "[]");
        }
    }
    line.string("uuid", &uuid);
    if is_dump {
        line.end("}");
    }
    line.lose(LossKind::Invented, "init");
    line.emit();
}

/// Limit for the tools in an `init` line. Each `init` line lists them again, so a file with many
/// names would grow quadratically.
const MAX_TOOLS: usize = 512;

fn tools(line: &mut Composer<'_>, facts: &Facts) {
    let style = line.out.style();
    let names = facts.tools.iter().take(MAX_TOOLS);
    let tools: Vec<_> = names.map(|name| respelt(name, style)).collect();
    line.put("tools", &format!("[{}]", tools.join(style.comma())));
}

/// Writes a message of a client. `words` is the name of the member for its text.
pub(crate) fn notice(
    manner: Manner,
    event: &Event<'_>,
    notice: &Notice<'_>,
    words: &str,
    session: &Session,
    out: &mut Output,
) {
    let mut line = Composer::open(out);
    let is_dump = manner.flavor == Flavor::Dump;
    if is_dump {
        subtype(&mut line, notice);
        line.object("data");
    }
    line.string("type", "system");
    subtype(&mut line, notice);
    if let Some(about) = notice.about {
        line.copy("about", Raw::from(about));
    }
    if let Some(text) = notice.text {
        line.copy(words, text);
    }
    match notice.kind {
        NoticeKind::Error => line.string("level", "error"),
        NoticeKind::Warning => line.string("level", "warning"),
        _ => {}
    }
    if notice.trigger.is_some() || notice.pre_tokens.is_some() {
        line.object("compact_metadata");
        if let Some(trigger) = notice.trigger {
            line.raw("trigger", Raw::from(trigger));
        }
        if let Some(pre_tokens) = notice.pre_tokens {
            line.raw("pre_tokens", pre_tokens);
        }
        line.end("}");
    }
    session.put_known_id(&mut line);
    wire::uuid(&mut line, event);
    if is_dump {
        line.end("}");
    }
    if notice.subtype.is_none() {
        line.lose(LossKind::Invented, "system.subtype");
    }
    line.emit();
    lose_context(event, false, session, out);
}

fn subtype(line: &mut Composer<'_>, notice: &Notice<'_>) {
    match (notice.subtype, notice.kind) {
        (Some(subtype), _) => line.raw("subtype", Raw::from(subtype)),
        (None, NoticeKind::Compaction) => line.string("subtype", "compact_boundary"),
        (None, _) => line.string("subtype", "informational"),
    }
}
