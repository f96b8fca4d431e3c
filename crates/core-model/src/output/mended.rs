//! Writes values that some clients cannot read in a form that they can.
//!
//! In: the input `{"limit":1e400}`, for Copilot. Out: `{"limit":"1e400"}`, and a loss.

use jsonl::{Style, loadable, respell_str};

use super::Output;
use crate::{LineId, LossKind, TextBody, ToolUse};

impl Output {
    /// Appends the input of a tool use as [`Output::copy_object_input`] does, for a client that cannot read
    /// some JSON: values beyond a double or deeper than `max_depth` become strings, which count as flattened.
    pub fn copy_loadable_input(&mut self, id: LineId, tool: &ToolUse<'_>, max_depth: usize) {
        let input = tool.input.json();
        let is_object = input.raw().as_str().starts_with('{');
        let n_added = usize::from(!is_object);
        let Some(mended) = loadable(input.raw().as_str(), max_depth.saturating_sub(n_added)) else {
            return self.copy_object_input(id, tool);
        };
        self.lose(LossKind::Flattened, "tool_use.input");
        self.touch(id);
        let mut compact = Vec::new();
        respell_str(&mut compact, &mended, Style::Compact);
        let (before, after) = if is_object { ("", "") } else { ("{\"value\":", "}") };
        self.put(id, before);
        self.put(id, &String::from_utf8_lossy(&compact));
        self.put(id, after);
    }

    /// Appends the media type of an image as a string, in the usual spelling: some clients do not know `image/jpg` or
    /// `IMAGE/PNG`. Another spelling counts as flattened.
    pub fn copy_media_type(&mut self, id: LineId, body: TextBody<'_>) {
        let written = body.decode();
        let usual = match written.to_ascii_lowercase() {
            jpg if jpg == "image/jpg" => "image/jpeg".to_owned(),
            usual => usual,
        };
        if usual == *written {
            return self.copy_quoted(id, body);
        }
        self.lose(LossKind::Flattened, "block.image.media_type");
        self.touch(id);
        self.put_string(id, &usual);
    }
}
