//! Writes sessions of coding agents as HTML. A page is one file that loads nothing else.
//!
//! A page is written in two passes over the events of a session. A [`Survey`] collects the facts
//! above the conversation, then a [`Page`] writes it. The memory holds ids and waiting parts.
//!
//! A page of a stranger's session is safe to open. All text of the session is escaped in one place, so that no
//! markup of the session reaches the page. A content security policy permits the page's own style and script by
//! their hashes, images of `data:` URLs, and no request. An image of the session is shown if it is PNG, JPEG, GIF or
//! WebP in base64 of at most 16 MiB; any other image, SVG included, becomes a note.
//!
//! ```
//! use export_html::{Page, Survey};
//! use jsonl::Scanner;
//!
//! let line = br#"{"type":"user","sessionId":"s","message":{"role":"user","content":"a < b?"}}"#;
//! let mut scanner = Scanner::default();
//! let event = format_claude_code::read(scanner.scan_slice(line, 0)?);
//!
//! let mut survey = Survey::new(&format_claude_code::FORMAT);
//! survey.push(&event);
//! let mut page = Page::new(Vec::new(), survey, "a session")?;
//! page.push(&event)?;
//! let page = page.finish()?;
//! assert!(String::from_utf8(page.sink)?.contains("<pre dir=\"auto\">a &lt; b?</pre>"));
//! assert_eq!(page.figures.title.as_deref(), Some("a < b?"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::string_slice))]

mod axis;
mod calls;
mod casts;
mod code;
mod diff;
mod flow;
mod head;
mod html;
mod index;
mod input;
mod markdown;
mod message;
mod notice;
mod page;
mod picture;
mod policy;
mod runs;
mod spent;
mod survey;
mod threads;
mod timeline;
mod words;

pub use self::{
    index::{Entry, write_index},
    page::{FinishedPage, Page, is_page},
    spent::Spent,
    survey::{Figures, Link, Survey},
};
