//! Writes the parts of a page above and below the conversation.

use crate::{
    Figures, Link, Survey,
    html::Html,
    index::address,
    policy::{push_policy, push_script},
    timeline::push_timeline,
    words::{counted, day_and_time, dollars, errors, grouped, lasting, push_time, rounded},
};

/// The keys of the page and their functions.
const KEYS: &[(&str, &str)] = &[
    ("/", "search"),
    ("n, N", "next and previous match"),
    ("j, k", "next and previous message"),
    ("p, P", "next and previous prompt"),
    ("e, E", "next and previous error"),
    ("c", "copy the text of the message"),
    ("o", "open or close all tool calls"),
    ("t", "show or hide thinking"),
    ("w", "wrap long lines or not"),
    ("d", "dark or light"),
    ("Esc", "end the search"),
    ("?", "this list"),
];

/// Appends everything up to the first line of the conversation.
pub(crate) fn push_head(html: &mut Html, survey: &Survey, name: &str) {
    let figures = survey.figures();
    let title = figures.title.as_deref().unwrap_or(name);
    html.markup("<!doctype html>\n<html lang=\"en\" class=\"no-script\">\n<head>\n");
    html.markup("<meta charset=\"utf-8\">\n");
    push_policy(html);
    html.markup("<title>").text(title).markup("</title>\n</head>\n<body>\n");
    html.markup("<a class=\"skip\" href=\"#conversation\">Skip to the conversation</a>\n");
    push_bar(html, &figures, title);
    html.markup("<div class=\"intro\">\n<h1 dir=\"auto\">").text(title).markup("</h1>\n");
    push_facts(html, &figures);
    push_links(html, survey);
    push_figures(html, &figures);
    push_timeline(html, survey);
    html.markup("</div>\n<div class=\"columns\">\n");
    push_prompts(html, survey);
    html.markup("<main id=\"conversation\" tabindex=\"-1\">\n");
}

/// Appends everything after the last line of the conversation.
pub(crate) fn push_foot(html: &mut Html, n_lines: u64, n_unshown: u64, n_skipped: u64) {
    html.markup("</main>\n</div>\n<footer><p>").text(&counted(n_lines, "line", "lines"));
    if n_unshown > 0 {
        html.markup(", of them not shown: ").text(&grouped(n_unshown));
        html.markup(" in which the client keeps its own state");
    }
    if n_skipped > 0 {
        html.markup(if n_unshown > 0 { "; " } else { ", of them not shown: " });
        html.text(&grouped(n_skipped)).markup(" that are not sent to the model, or blank");
    }
    html.markup(".</p></footer>\n<dialog id=\"help\" aria-label=\"Keys\"><dl>");
    for (keys, what) in KEYS {
        html.markup("<dt>");
        for key in keys.split(", ") {
            html.markup("<kbd>").text(key).markup("</kbd> ");
        }
        html.markup("</dt><dd>").text(what).markup("</dd>");
    }
    html.markup("</dl><form method=\"dialog\"><button>Close</button></form></dialog>\n");
    push_script(html);
    html.markup("</body>\n</html>\n");
}

/// The classes of the body that hide a kind of content, and the names of the kinds.
const KINDS: [(&str, &str); 7] = [
    ("no-user", "user"),
    ("no-assistant", "assistant"),
    ("no-thinking", "thinking"),
    ("no-tools", "tools"),
    ("no-agents", "sub-agents"),
    ("no-notices", "system"),
    ("no-pictures", "images"),
];

/// Appends the sticky bar: title, figures, search and filters.
fn push_bar(html: &mut Html, figures: &Figures, title: &str) {
    html.markup("<header class=\"bar\">\n<p class=\"name\" dir=\"auto\">").text(title);
    html.markup("</p>\n<p class=\"sum\">");
    html.text(&counted(figures.n_tool_calls, "call", "calls")).markup(" · ");
    html.text(&counted(figures.errors.total(), "error", "errors"));
    if figures.tokens.total() > 0 {
        html.markup(" · ").text(&rounded(figures.tokens.total())).markup(" tokens");
    }
    html.markup(
        "</p>\n<div class=\"controls\">\n\
         <div role=\"search\"><input type=\"search\" id=\"query\" aria-label=\"Search this page\" \
         placeholder=\"Search  /\" autocomplete=\"off\" spellcheck=\"false\">\
         <output id=\"count\" aria-live=\"polite\"></output>\
         <button type=\"button\" id=\"previous\" aria-label=\"Previous match\">↑</button>\
         <button type=\"button\" id=\"next\" aria-label=\"Next match\">↓</button></div>\n\
         <div role=\"group\" aria-label=\"What is shown\">\
         <button type=\"button\" data-toggle=\"only-errors\" aria-pressed=\"false\">Errors only\
         </button>",
    );
    for (toggle, kind) in KINDS {
        html.markup("<button type=\"button\" class=\"kind\" data-toggle=\"").markup(toggle);
        html.markup("\" aria-pressed=\"false\" aria-label=\"Hide ").markup(kind);
        html.markup("\" title=\"Hide ").markup(kind).markup("\">").markup(kind).markup("</button>");
    }
    html.markup(
        "<button type=\"button\" data-toggle=\"no-wrap\" aria-pressed=\"false\">Long lines</button>\
         <button type=\"button\" id=\"theme\">Theme</button>\
         <button type=\"button\" id=\"keys\" aria-label=\"Keys\">?</button></div>\n\
         </div>\n</header>\n",
    );
}

fn push_facts(html: &mut Html, figures: &Figures) {
    html.markup("<p class=\"facts\">");
    if let Some(project) = &figures.project {
        html.markup("<code dir=\"auto\">").text(project).markup("</code> ");
    }
    if let Some(model) = &figures.model {
        html.markup("<span>").text(model).markup("</span> ");
    }
    if let Some(start) = figures.start {
        html.markup("<span>").text(&day_and_time(start)).markup("</span> ");
    }
    if let Some(id) = &figures.session_id {
        html.markup("<span class=\"id\">").text(id).markup("</span>");
    }
    html.markup("</p>\n");
}

/// Appends the links to sessions that this one was made from, or that were made from it.
fn push_links(html: &mut Html, survey: &Survey) {
    for Link { words, name, path } in &survey.links {
        html.markup("<p class=\"facts\"><span>").text(words).markup(" <a href=\"");
        html.text(&address(path)).markup("\">").text(name).markup("</a></span></p>\n");
    }
}

fn push_figures(html: &mut Html, figures: &Figures) {
    let tokens = figures.tokens;
    let cached = tokens.cache_read.saturating_add(tokens.cache_creation);
    let sent = tokens.input.saturating_add(cached);
    let some = |number: u64| (number > 0).then(|| grouped(number));
    let rows = [
        ("Prompts", Some(grouped(figures.n_prompts))),
        ("Tool calls", Some(grouped(figures.n_tool_calls))),
        ("Errors", Some(errors(figures.errors))),
        ("Sub-agents", some(figures.n_sub_agents)),
        ("Duration", figures.millis.map(lasting)),
        ("Outcome", figures.outcome.map(|outcome| outcome.words().to_owned())),
        ("Tokens sent", (sent > 0).then(|| rounded(sent))),
        ("of them cached", (cached > 0).then(|| rounded(cached))),
        ("Tokens written", (tokens.output > 0).then(|| rounded(tokens.output))),
        ("Cost", figures.cost.map(dollars)),
    ];
    html.markup("<dl class=\"figures\">");
    for (name, value) in rows {
        if let Some(value) = value {
            html.markup("<div><dt>").markup(name).markup("</dt><dd>").text(&value);
            html.markup("</dd></div>");
        }
    }
    html.markup("</dl>\n");
}

/// Appends the list of prompts.
fn push_prompts(html: &mut Html, survey: &Survey) {
    if survey.prompts.is_empty() {
        return;
    }
    let start = survey.span.earliest().unwrap_or_default();
    html.markup("<nav class=\"outline\" aria-label=\"Prompts\"><details open><summary>Prompts ");
    html.markup("<span class=\"quiet\">").text(&grouped(survey.n_prompts));
    html.markup("</span></summary><ol>\n");
    for prompt in &survey.prompts {
        html.markup("<li><a href=\"#e").show(prompt.line).markup("\" dir=\"auto\">");
        html.text(&prompt.text).markup("</a> ");
        if let Some(time) = prompt.time {
            push_time(html, time, start);
        }
        html.markup("</li>\n");
    }
    html.markup("</ol>");
    let n_more = survey.n_prompts - survey.prompts.len() as u64;
    if n_more > 0 {
        html.markup("<p class=\"quiet\">and ").text(&grouped(n_more)).markup(" more</p>");
    }
    html.markup("</details></nav>\n");
}
