//! Builds a JSON object: members in order, values as written.
//!
//! In: `text("a", "x")`, `raw("b", "1.50")`, `text("a", "y")`. Out: `{"a":"y","b":1.50}`.

use std::collections::HashMap;

use jsonl::{Style, json_string, push_string};

/// Builder of a JSON object.
#[derive(Debug, Default)]
pub(super) struct Object {
    /// The members; `None` for a removed one.
    members: Vec<Option<(String, String)>>,
    places: HashMap<String, usize>,
}

impl Object {
    /// Sets a member to a string.
    pub(super) fn text(&mut self, name: &str, text: &str) {
        self.raw(name, json_string(text));
    }

    /// Sets a member to a string, or to `null`.
    pub(super) fn maybe(&mut self, name: &str, text: Option<&str>) {
        match text {
            Some(text) => self.text(name, text),
            None => self.raw(name, "null"),
        }
    }

    /// Sets a member to a value as written. An existing member keeps its position.
    pub(super) fn raw(&mut self, name: &str, value: impl Into<String>) {
        let new = Some((name.to_owned(), value.into()));
        match self.places.get(name).and_then(|place| self.members.get_mut(*place)) {
            Some(member) => *member = new,
            None => {
                self.places.insert(name.to_owned(), self.members.len());
                self.members.push(new);
            }
        }
    }

    /// Removes a member.
    pub(super) fn remove(&mut self, name: &str) {
        let member = self.places.remove(name).and_then(|place| self.members.get_mut(place));
        if let Some(member) = member {
            *member = None;
        }
    }

    /// Returns the object as JSON.
    pub(super) fn finish(self) -> String {
        let mut written = vec![b'{'];
        for (n, (name, value)) in self.members.iter().flatten().enumerate() {
            if n > 0 {
                written.push(b',');
            }
            push_string(&mut written, name, Style::Compact);
            written.push(b':');
            written.extend_from_slice(value.as_bytes());
        }
        written.push(b'}');
        String::from_utf8_lossy(&written).into_owned()
    }
}
