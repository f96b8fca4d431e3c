//! Checks that every reader reads every line, with the same result each time.

use core_model::{Block, Content, Event};
use jsonl::Scanner;

/// Reads every line with every format, twice.
pub fn read(input: &[u8]) {
    let mut scanner = Scanner::default();
    for line in jsonl::lines(input) {
        let Ok(value) = scanner.scan(&line) else { continue };
        for format in convert::FORMATS.iter() {
            let is_own = (format.detect)(value);
            assert_eq!(
                is_own,
                (format.detect)(value),
                "{}: detection is not deterministic",
                format.name
            );
            let event = format.first_event(value);
            assert_eq!(event.format, format.name, "an event has another format");
            let said = said(&event);
            assert_eq!(
                said,
                self::said(&format.first_event(value)),
                "{}: reading is not deterministic",
                format.name
            );
        }
    }
}

/// Returns the content of an event as text, with its blocks.
fn said(event: &Event<'_>) -> String {
    let mut said = format!("{:?}", event.body);
    for (block, raw) in event.message().into_iter().flat_map(|message| message.blocks()) {
        said += &format!("{block:?}{}", raw.as_str());
        if let Block::ToolResult(result) = block {
            let inner = match result.content {
                Content::Blocks(_) => result.content.blocks().count(),
                _ => 0,
            };
            said += &inner.to_string();
        }
    }
    said
}
