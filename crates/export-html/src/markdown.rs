//! Renders the assistant's Markdown. HTML and images in it become text, and links lead to the web
//! only.
//!
//! In: `**a** <b> ![x](http://h/p.png)`. Out: `<strong>a</strong> &lt;b&gt; [http://h/p.png] x`.

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::{
    code::{Language, Marker},
    html::Html,
    words::push_long,
};

/// Length in bytes beyond which a text is shown as written.
const MAX_LENGTH: usize = 256 * 1024;

/// Limit for the nesting of elements. Deeper ones are flat.
const MAX_DEPTH: usize = 24;

/// Appends a text in Markdown. `marker` marks the words of code that names its language.
pub(crate) fn push_markdown(html: &mut Html, text: &str, marker: &mut Marker) {
    if text.len() > MAX_LENGTH {
        return push_long(html, text);
    }
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut printer = Printer::default();
    for event in Parser::new_ext(text, options) {
        match (&mut printer.code, event) {
            (Some((_, code)), Event::Text(text)) => code.push_str(&text),
            (_, event) => {
                printer.end_code(html, marker);
                printer.event(html, event);
            }
        }
    }
    printer.end_code(html, marker);
    while let Some(end) = printer.open.pop() {
        html.markup(end);
    }
}

/// The open elements.
#[derive(Debug, Default)]
struct Printer {
    open: Vec<&'static str>,
    is_in_head: bool,
    /// The language and the text of the open block of code.
    code: Option<(Language, String)>,
}

impl Printer {
    /// Appends the text of the open block of code.
    fn end_code(&mut self, html: &mut Html, marker: &mut Marker) {
        if let Some((language, code)) = self.code.take() {
            marker.push(html, &code, Some(language));
        }
    }

    fn event(&mut self, html: &mut Html, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(html, &tag),
            Event::End(tag) => self.end(html, tag),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => {
                html.text(&text);
            }
            Event::Code(code) | Event::InlineMath(code) | Event::DisplayMath(code) => {
                html.markup("<code>").text(&code).markup("</code>");
            }
            Event::SoftBreak => _ = html.markup("\n"),
            Event::HardBreak => _ = html.markup("<br>"),
            Event::Rule => _ = html.markup("<hr>"),
            Event::TaskListMarker(is_done) => {
                html.markup(if is_done { "☑ " } else { "☐ " });
            }
            Event::FootnoteReference(name) => _ = html.markup("[").text(&name).markup("]"),
        }
    }

    fn start(&mut self, html: &mut Html, tag: &Tag<'_>) {
        if self.open.len() >= MAX_DEPTH {
            // The end of this element closes nothing.
            return self.open.push("");
        }
        let cell = if self.is_in_head { ("<th>", "</th>") } else { ("<td>", "</td>") };
        let (start, end) = match tag {
            Tag::Paragraph | Tag::HtmlBlock => ("<p>", "</p>"),
            Tag::Heading { level: HeadingLevel::H1 | HeadingLevel::H2, .. } => ("<h3>", "</h3>"),
            Tag::Heading { level: HeadingLevel::H3, .. } => ("<h4>", "</h4>"),
            Tag::Heading { .. } => ("<h5>", "</h5>"),
            Tag::BlockQuote(_) => ("<blockquote>", "</blockquote>"),
            Tag::CodeBlock(kind) => {
                if let CodeBlockKind::Fenced(name) = kind {
                    self.code = Language::of_name(name).map(|language| (language, String::new()));
                }
                ("<pre><code>", "</code></pre>")
            }
            Tag::List(None) => ("<ul>", "</ul>"),
            Tag::List(Some(first)) => {
                html.markup("<ol start=\"").show(first).markup("\">");
                ("", "</ol>")
            }
            Tag::Item => ("<li>", "</li>"),
            Tag::Emphasis => ("<em>", "</em>"),
            Tag::Strong => ("<strong>", "</strong>"),
            Tag::Strikethrough => ("<del>", "</del>"),
            Tag::Table(_) => ("<div class=\"table\"><table>", "</tbody></table></div>"),
            Tag::TableHead => {
                self.is_in_head = true;
                ("<thead><tr>", "</tr></thead><tbody>")
            }
            Tag::TableRow => ("<tr>", "</tr>"),
            Tag::TableCell => cell,
            Tag::Link { dest_url, .. } => link(html, dest_url),
            // A page loads no image from outside. Its text and address are shown instead.
            Tag::Image { dest_url, .. } => {
                html.markup("<span class=\"picture\">[").text(dest_url).markup("] ");
                ("", "</span>")
            }
            _ => ("", ""),
        };
        html.markup(start);
        self.open.push(end);
    }

    fn end(&mut self, html: &mut Html, tag: TagEnd) {
        if tag == TagEnd::TableHead {
            self.is_in_head = false;
        }
        html.markup(self.open.pop().unwrap_or_default());
    }
}

/// Starts a link to the web. Any other address is shown as text.
fn link(html: &mut Html, address: &str) -> (&'static str, &'static str) {
    let scheme = address.split(':').next().unwrap_or_default();
    if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
        html.markup("<span class=\"link\" title=\"").text(address).markup("\">");
        return ("", "</span>");
    }
    html.markup("<a rel=\"noopener noreferrer nofollow\" target=\"_blank\" href=\"");
    html.text(address).markup("\" title=\"").text(address).markup("\">");
    ("", "</a>")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(text: &str) -> String {
        let mut html = Html::default();
        push_markdown(&mut html, text, &mut Marker::default());
        html.as_str().to_owned()
    }

    #[test]
    fn structure_without_markup_of_its_own() {
        assert_eq!(
            rendered("# A `b`\n\n- *c*\n- **d**"),
            concat!(
                "<h3>A <code>b</code></h3>",
                "<ul><li><em>c</em></li><li><strong>d</strong></li></ul>",
            )
        );
        assert_eq!(rendered("```\na < b\n```"), "<pre><code>a &lt; b\n</code></pre>");
        assert_eq!(
            rendered("```rust\na < 5\n```\nb"),
            "<pre><code>a &lt; 5\n<i data-w=\"1n1\"></i></code></pre><p>b</p>"
        );
        assert_eq!(rendered("a <b onclick=x>c</b>"), "<p>a &lt;b onclick=x&gt;c&lt;/b&gt;</p>");
        assert_eq!(rendered("<script>x</script>"), "<p>&lt;script&gt;x&lt;/script&gt;</p>");
        assert_eq!(
            rendered("|a|\n|-|\n|b|"),
            concat!(
                "<div class=\"table\"><table><thead><tr><th>a</th></tr></thead><tbody>",
                "<tr><td>b</td></tr></tbody></table></div>",
            )
        );
    }

    #[test]
    fn only_links_to_the_web_are_links() {
        let link = rendered("[a](https://example.org/\"x)");
        assert!(link.contains("href=\"https://example.org/&quot;x\""), "{link}");
        for address in ["javascript:alert(1)", "data:text/html,x", "//host", "file:///x", "x"] {
            let link = rendered(&format!("[a]({address}) ![b]({address}) <{address}>"));
            assert!(!link.contains("href") && !link.contains("<img"), "{link}");
        }
    }

    #[test]
    fn deep_nesting_is_flat() {
        let quotes = rendered(&format!("{}a", "> ".repeat(5000)));
        assert_eq!(quotes.matches("<blockquote>").count(), MAX_DEPTH);
        assert_eq!(quotes.matches("</blockquote>").count(), MAX_DEPTH);
    }
}
