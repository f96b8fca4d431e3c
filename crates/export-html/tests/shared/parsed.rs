//! Parses a page like a browser, and finds parts that no page may have.

use std::cell::RefCell;

use html5ever::{
    buffer_queue::BufferQueue,
    tendril::StrTendril,
    tokenizer::{
        Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts, states::RawKind,
    },
};

const VOID: [&str; 6] = ["meta", "br", "hr", "img", "input", "link"];

/// The parts of a page.
#[derive(Debug, Default)]
pub(crate) struct Parsed {
    /// The elements in order: name and attributes.
    pub(crate) elements: Vec<(String, Vec<(String, String)>)>,
    /// The text outside of style and script.
    pub(crate) text: String,
    /// The faults of the page.
    pub(crate) problems: Vec<String>,
    open: Vec<String>,
}

#[derive(Default)]
struct Sink(RefCell<Parsed>);

impl TokenSink for Sink {
    type Handle = ();

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<()> {
        let mut parsed = self.0.borrow_mut();
        match token {
            Token::TagToken(tag) => return parsed.tag(&tag, line),
            Token::CharacterTokens(text) => {
                let is_code = |name: &String| name == "style" || name == "script";
                if !parsed.open.last().is_some_and(is_code) {
                    parsed.text.push_str(&text);
                }
            }
            Token::CommentToken(text) => parsed.problems.push(format!("{line}: comment {text}")),
            Token::NullCharacterToken => parsed.problems.push(format!("{line}: NUL")),
            Token::ParseError(what) => parsed.problems.push(format!("{line}: {what}")),
            Token::DoctypeToken(_) | Token::EOFToken => {}
        }
        TokenSinkResult::Continue
    }
}

impl Parsed {
    fn tag(&mut self, tag: &Tag, line: u64) -> TokenSinkResult<()> {
        let name = tag.name.to_string();
        if tag.kind == TagKind::EndTag {
            match self.open.pop() {
                Some(open) if open == name => {}
                open => self.problems.push(format!("{line}: </{name}> ends {open:?}")),
            }
            return TokenSinkResult::Continue;
        }
        let attributes = tag.attrs.iter();
        let attributes = attributes.map(|it| (it.name.local.to_string(), it.value.to_string()));
        self.elements.push((name.clone(), attributes.collect()));
        if !VOID.contains(&&*name) && !tag.self_closing {
            self.open.push(name.clone());
        }
        match &*name {
            "script" => TokenSinkResult::RawData(RawKind::ScriptData),
            "style" => TokenSinkResult::RawData(RawKind::Rawtext),
            "title" if self.open.len() == 3 => TokenSinkResult::RawData(RawKind::Rcdata),
            _ => TokenSinkResult::Continue,
        }
    }
}

/// Parses a page, and records its faults.
pub(crate) fn parse(page: &str) -> Parsed {
    let input = BufferQueue::default();
    input.push_back(StrTendril::from(page));
    let options = TokenizerOpts { exact_errors: true, ..TokenizerOpts::default() };
    let tokenizer = Tokenizer::new(Sink::default(), options);
    _ = tokenizer.feed(&input);
    tokenizer.end();
    let mut parsed = tokenizer.sink.0.into_inner();
    let mut problems = std::mem::take(&mut parsed.problems);
    if !parsed.open.is_empty() {
        problems.push(format!("not closed: {:?}", parsed.open));
    }
    let mut ids = std::collections::HashSet::new();
    for (name, attributes) in &parsed.elements {
        for (key, value) in attributes {
            let is_fine = match (&**name, &**key) {
                (_, "id") => ids.insert(value.clone()),
                ("a", "href") => {
                    let is_web = value.starts_with("http://") || value.starts_with("https://");
                    let has = |wanted: &str| attributes.iter().any(|(key, _)| key == wanted);
                    value.starts_with('#') || value.starts_with("./") || is_web && has("rel")
                }
                ("img", "src") => value.starts_with("data:image/"),
                (_, "href" | "src" | "style" | "srcdoc" | "action" | "ping") => false,
                (_, key) => !key.starts_with("on"),
            };
            if !is_fine {
                problems.push(format!("<{name} {key}={value:?}>"));
            }
        }
    }
    let scripts = parsed.elements.iter().filter(|(name, _)| name == "script").count();
    if scripts != 1 {
        problems.push(format!("{scripts} scripts"));
    }
    let is_forbidden = |char: char| {
        char.is_control() && char != '\n' && char != '\t'
            || matches!(char, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if let Some(char) = page.chars().find(|char| is_forbidden(*char)) {
        problems.push(format!("a character {char:?}"));
    }
    Parsed { problems, ..parsed }
}
