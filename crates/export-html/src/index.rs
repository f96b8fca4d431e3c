//! Writes the page of a folder of sessions, with a row for each.

use std::io::{self, Write};

use crate::{
    Figures,
    html::Html,
    policy::{push_policy, push_script},
    words::{counted, day_and_minute, dollars, errors, grouped, lasting, rounded},
};

/// The attribute of the column by which the rows are sorted at first.
const SORTED: &str = " aria-sort=\"descending\"";

/// A session of a folder.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The address of its page: a path relative to the index, with slashes.
    pub path: String,
    /// The name for a session without a title.
    pub name: String,
    /// The figures of the session.
    pub figures: Box<Figures>,
}

/// Writes the page of a folder of sessions. The sessions are sorted by the time of their first
/// event, most recent first. Sessions without a time are last. Sessions with the same time are sorted
/// by [`Entry::path`].
///
/// # Errors
///
/// Returns an error if the sink returns one.
pub fn write_index(mut sink: impl Write, title: &str, entries: &[Entry]) -> io::Result<()> {
    let mut order: Vec<&Entry> = entries.iter().collect();
    order.sort_by_key(|entry| (std::cmp::Reverse(entry.figures.start), &entry.path));
    let mut html = Html::default();
    html.markup("<!doctype html>\n<html lang=\"en\" class=\"no-script\">\n<head>\n");
    html.markup("<meta charset=\"utf-8\">\n");
    push_policy(&mut html);
    html.markup("<title>").text(title).markup("</title>\n</head>\n<body class=\"index\">\n");
    html.markup("<a class=\"skip\" href=\"#sessions\">Skip to the sessions</a>\n");
    html.markup("<header class=\"bar\"><p class=\"name\" dir=\"auto\">").text(title);
    html.markup(
        "</p><div class=\"controls\"><div role=\"search\">\
         <input type=\"search\" id=\"narrow\" aria-label=\"Show only sessions with\" \
         placeholder=\"Filter  /\" autocomplete=\"off\" spellcheck=\"false\">\
         <output id=\"count\" aria-live=\"polite\"></output></div>\
         <div role=\"group\" aria-label=\"What is shown\">\
         <button type=\"button\" data-toggle=\"only-errors\" aria-pressed=\"false\">Errors only\
         </button><button type=\"button\" id=\"group\" aria-pressed=\"false\">By project</button>\
         <button type=\"button\" id=\"theme\">Theme</button></div></div></header>\n",
    );
    html.markup("<main id=\"sessions\" tabindex=\"-1\">\n<h1 dir=\"auto\">").text(title);
    html.markup("</h1>\n<p class=\"facts\">");
    push_sums(&mut html, &order);
    html.markup("</p>\n<div class=\"table\"><table class=\"sessions\"><thead><tr>");
    for name in
        ["Session", "When", "Duration", "Messages", "Tool calls", "Errors", "Tokens", "Cost"]
    {
        html.markup("<th scope=\"col\"").markup(if name == "When" { SORTED } else { "" });
        html.markup("><button type=\"button\">").markup(name);
        html.markup("</button></th>");
    }
    html.markup("</tr></thead><tbody>\n");
    for entry in order {
        push_row(&mut html, entry);
        sink.write_all(html.take().as_str().as_bytes())?;
    }
    html.markup("</tbody></table></div>\n</main>\n");
    push_script(&mut html);
    html.markup("</body>\n</html>\n");
    sink.write_all(html.as_str().as_bytes())?;
    sink.flush()
}

/// Appends the number of sessions, their tokens and their cost.
fn push_sums(html: &mut Html, entries: &[&Entry]) {
    html.markup("<span>").text(&counted(entries.len() as u64, "session", "sessions"));
    html.markup("</span>");
    let tokens: u64 = entries.iter().map(|entry| entry.figures.tokens.total()).sum();
    if tokens > 0 {
        html.markup(" <span>").text(&rounded(tokens)).markup(" tokens</span>");
    }
    let costs: Vec<f64> = entries.iter().filter_map(|entry| entry.figures.cost).collect();
    if !costs.is_empty() {
        html.markup(" <span>").text(&dollars(costs.iter().sum())).markup("</span>");
    }
}

fn push_row(html: &mut Html, Entry { path, name, figures }: &Entry) {
    let has_errors = figures.errors.total() > 0;
    html.markup(if has_errors { "<tr class=\"error\"" } else { "<tr" });
    html.markup(" data-project=\"").text(figures.project.as_deref().unwrap_or_default());
    html.markup("\">");
    html.markup("<th scope=\"row\"><a dir=\"auto\" href=\"").text(&address(path)).markup("\">");
    html.text(figures.title.as_deref().unwrap_or(name)).markup("</a>");
    html.markup("<span class=\"quiet\" dir=\"auto\">").text(name).markup("</span></th>");
    let lasts = figures.millis;
    let tokens = figures.tokens.total();
    let count = |number: u64| (Some(grouped(number)), number as f64);
    for (name, (value, order)) in [
        ("When", (figures.start.map(day_and_minute), figures.start.unwrap_or(i64::MIN) as f64)),
        ("Duration", (lasts.map(lasting), lasts.unwrap_or(-1) as f64)),
        ("Messages", count(figures.n_messages)),
        ("Tool calls", count(figures.n_tool_calls)),
        ("Errors", (Some(errors(figures.errors)), figures.errors.total() as f64)),
        ("Tokens", ((tokens > 0).then(|| rounded(tokens)), tokens as f64)),
        ("Cost", (figures.cost.map(dollars), figures.cost.unwrap_or(-1.0))),
    ] {
        html.markup("<td data-name=\"").markup(name).markup("\" data-value=\"").show(order);
        html.markup("\">").text(value.as_deref().unwrap_or("–")).markup("</td>");
    }
    html.markup("</tr>\n");
}

/// Returns a relative path as an address without a scheme, a query or a fragment.
pub(crate) fn address(path: &str) -> String {
    let mut address = String::from("./");
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'/' => {
                address.push(char::from(byte));
            }
            _ => address.push_str(&format!("%{byte:02X}")),
        }
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_an_address_and_nothing_else() {
        assert_eq!(address("a b/é#?.html"), "./a%20b/%C3%A9%23%3F.html");
        assert_eq!(address("javascript:x"), "./javascript%3Ax");
    }
}
