//! Every reader takes every line, and says the same of it twice.

use core_model::{Block, Content, Event};
use jsonl::Scanner;

/// Checks that all formats read all lines, whatever they hold.
pub fn read(input: &[u8]) {
    let mut scanner = Scanner::default();
    for line in jsonl::lines(input) {
        let Ok(value) = scanner.scan(&line) else { continue };
        for format in convert::FORMATS.iter() {
            let is_own = (format.detect)(value);
            assert_eq!(is_own, (format.detect)(value), "{}: detection is pure", format.name);
            let event = (format.read)(value);
            assert_eq!(event.format, format.name, "an event names its format");
            let said = said(&event);
            assert_eq!(said, self::said(&(format.read)(value)), "{}: reading is pure", format.name);
        }
    }
}

/// Returns everything that an event says, blocks and their contents included.
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
