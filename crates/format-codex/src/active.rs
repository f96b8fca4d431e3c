//! Finds the lines that are not part of the conversation: turns that were rolled back, the first lines
//! of other sessions, and the lines that a compaction replaced.
//!
//! In: the offsets of all lines, and which of them are turns of the user. Out: a [`Plan`] with the
//! offsets to hide, and the compactions that keep the turns before them.
//!
//! ```text
//! {"type":"response_item","payload":{"type":"message","role":"user",..}}         shown
//! {"type":"response_item","payload":{"type":"message","role":"user",..}}         hidden
//! {"type":"response_item","payload":{"type":"message","role":"assistant",..}}    hidden
//! {"type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":1}}
//! ```

use std::ops::Range;

use core_model::{Body, Event, Hidden, Options, Plan, Planner};

use crate::{
    history::is_readable,
    record::{Compacted, Entry, Item, Record},
};

/// Builder of the [`Plan`] of a session, in a first pass over offsets.
#[derive(Debug, Default)]
pub struct Active {
    all_branches: bool,
    from_last_compaction: bool,
    /// The history so far.
    slots: Vec<Slot>,
    /// The indexes of the slots that are turns.
    turns: Vec<usize>,
    /// The number of slots at the start that are known to be turns, so that no compaction looks at them again.
    n_only_turns: usize,
    said: Vec<Said>,
    /// The indexes of lines in `said` that were rolled back, in order, so that no roll-back looks at them again.
    rolled_back: Vec<Range<usize>>,
    /// The id of the session, unescaped.
    session_id: Option<String>,
    /// The offset of the last compaction.
    compaction: Option<u64>,
    /// The offsets of the compactions that keep turns before them.
    keeping: Vec<u64>,
}

/// An item of the history.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// The offset of its line.
    offset: u64,
    is_turn: bool,
    /// Whether it is an item of a compaction, which cannot be hidden alone.
    is_replaced: bool,
}

/// A line with words.
#[derive(Clone, Copy, Debug)]
struct Said {
    offset: u64,
    /// Why the line is hidden.
    hidden: Option<&'static str>,
}

impl Said {
    /// Returns the line with the reason why it is hidden, if there is one.
    fn as_hidden(&self, field: Option<&'static str>) -> Option<Hidden> {
        Some(Hidden { offset: self.offset, field: field? })
    }
}

impl Active {
    /// Creates a builder. Options decide whether rolled back turns and compacted history are hidden.
    pub fn new(options: &Options) -> Self {
        let Options { all_branches, from_last_compaction, .. } = *options;
        Self { all_branches, from_last_compaction, ..Self::default() }
    }

    fn compact(&mut self, offset: u64, compacted: &Compacted<'_>) {
        let slot = |is_turn| Slot { offset, is_turn, is_replaced: true };
        match compacted.replacement_history {
            Some(history) => {
                let items = history.items().map(Item::decode).filter(is_readable);
                self.slots = items.map(|item| slot(item.is_user_turn())).collect();
                self.n_only_turns = 0;
                self.find_turns();
            }
            // All turns of the user are kept, and the summary is one more.
            None => {
                let later = self.slots.split_off(self.n_only_turns);
                self.slots.extend(later.into_iter().filter(|slot| slot.is_turn));
                if !self.slots.is_empty() {
                    self.keeping.push(offset);
                }
                self.slots.push(slot(true));
                self.find_turns();
                self.n_only_turns = self.slots.len();
            }
        }
        self.compaction = Some(offset);
    }

    /// Updates the indexes of the turns from slot `n_only_turns` on.
    fn find_turns(&mut self) {
        self.turns.truncate(self.n_only_turns);
        let slots = self.slots.iter().enumerate().skip(self.n_only_turns);
        self.turns.extend(slots.filter(|(_, slot)| slot.is_turn).map(|(slot_idx, _)| slot_idx));
    }

    fn roll_back(&mut self, n_turns: u64, end: u64) {
        let n_turns = usize::try_from(n_turns).unwrap_or(usize::MAX);
        let n_kept = self.turns.len().saturating_sub(n_turns);
        let Some(cut) = self.turns.get(n_kept).copied() else { return };
        let Some(first) = self.slots.get(cut).copied() else { return };
        self.turns.truncate(n_kept);
        self.slots.truncate(cut);
        self.n_only_turns = self.n_only_turns.min(cut);
        self.hide(first, end);
    }

    /// Hides the lines from a slot to the roll-back at an offset.
    fn hide(&mut self, first: Slot, end: u64) {
        let is_cut = |said: &&mut Said| {
            said.offset > first.offset || said.offset == first.offset && !first.is_replaced
        };
        let last = self.said.partition_point(|said| said.offset < end);
        let mut from = last;
        while let Some(before) = from.checked_sub(1) {
            if let Some(hidden) = self.rolled_back.pop_if(|hidden| hidden.end == from) {
                from = hidden.start;
                continue;
            }
            let Some(said) = self.said.get_mut(before).filter(is_cut) else { break };
            said.hidden = Some("rolled_back");
            from = before;
        }
        if from < last {
            self.rolled_back.push(from..last);
        }
    }
}

impl Planner for Active {
    fn observe(&mut self, offset: u64, event: &Event<'_>) {
        if event.nth > 0 || !event.value.is_object() {
            return;
        }
        let record = Record::decode(event.value);
        let mut hidden = None;
        if let (Entry::SessionMeta(meta), Some(id)) = (&record.entry, event.context.session_id) {
            let id = id.decode();
            let own = self.session_id.get_or_insert_with(|| id.clone().into_owned());
            // A fork copies the lines of its parent, the first one included.
            if *own != id {
                hidden = Some("session_meta");
            }
            _ = meta;
        }
        let is_said = matches!(event.body, Body::Message(_) | Body::Notice(_));
        if is_said || hidden.is_some() {
            self.said.push(Said { offset, hidden });
        }
        if self.all_branches {
            return;
        }
        match record.entry {
            Entry::Item(item) if is_readable(&item) => {
                let is_turn = item.is_user_turn();
                if is_turn {
                    self.turns.push(self.slots.len());
                }
                self.slots.push(Slot { offset, is_turn, is_replaced: false });
            }
            Entry::Compacted(compacted) if compacted.message.is_some() => {
                self.compact(offset, &compacted);
            }
            Entry::Event(Some(kind), payload) if kind.is("thread_rolled_back") => {
                let n_turns = payload.get("num_turns").and_then(|it| it.raw().as_u64());
                if let Some(n_turns) = n_turns.filter(|n_turns| *n_turns > 0) {
                    self.roll_back(n_turns, offset);
                }
            }
            _ => {}
        }
    }

    fn finish(self: Box<Self>) -> Plan {
        let Self { from_last_compaction, slots, said, compaction, keeping, .. } = *self;
        let Some(first) = compaction.filter(|_| from_last_compaction) else {
            let hidden = said.iter().filter_map(|said| said.as_hidden(said.hidden));
            return Plan { hidden: hidden.collect(), ..Plan::default() };
        };
        // Slots are in the order of the file: those before the compaction are the turns that it keeps.
        let is_kept = |offset: u64| slots.binary_search_by_key(&offset, |it| it.offset).is_ok();
        let hidden = said.iter().filter_map(|said| {
            let is_compacted = said.offset < first && !is_kept(said.offset);
            said.as_hidden(said.hidden.or(is_compacted.then_some("compacted")))
        });
        Plan { hidden: hidden.collect(), keeping, ..Plan::default() }
    }
}

#[cfg(test)]
mod tests {
    use jsonl::{Scanner, lines};

    use super::*;

    fn plan(session: &str, options: &Options) -> Plan {
        let mut active = Box::new(Active::new(options));
        let mut scanner = Scanner::default();
        for line in lines(session.as_bytes()) {
            let value = scanner.scan(&line).expect("JSON");
            crate::FORMAT.for_each_event(value, |event| {
                active.observe(line.offset(), event);
                true
            });
        }
        active.finish()
    }

    fn session(lines: &[String]) -> (String, Vec<u64>) {
        let (mut text, mut offsets) = (String::new(), Vec::new());
        for line in lines {
            offsets.push(text.len() as u64);
            text.push_str(line);
            text.push('\n');
        }
        (text, offsets)
    }

    fn line(kind: &str, payload: &str) -> String {
        format!(r#"{{"timestamp":"t","type":"{kind}","payload":{payload}}}"#)
    }

    fn said(role: &str, text: &str) -> String {
        line(
            "response_item",
            &format!(
                r#"{{"type":"message","role":"{role}","content":[{{"type":"input_text","text":"{text}"}}]}}"#
            ),
        )
    }

    fn roll_back(n_turns: u32) -> String {
        line("event_msg", &format!(r#"{{"type":"thread_rolled_back","num_turns":{n_turns}}}"#))
    }

    fn hidden(offsets: &[u64], field: &'static str) -> Vec<Hidden> {
        offsets.iter().map(|offset| Hidden { offset: *offset, field }).collect()
    }

    #[test]
    fn rolled_back_turns_are_hidden() {
        let lines = [
            said("user", "one"),
            said("assistant", "1"),
            said("user", "<environment_context>x"),
            said("user", "two"),
            said("assistant", "2"),
            roll_back(1),
            said("user", "three"),
        ];
        let (text, at) = session(&lines);
        assert_eq!(plan(&text, &Options::default()).hidden, hidden(&at[3..5], "rolled_back"));
        let options = Options { all_branches: true, ..Options::default() };
        assert_eq!(plan(&text, &options), Plan::default());
        let (text, at) = session(&[said("user", "one"), said("assistant", "1"), roll_back(9)]);
        assert_eq!(plan(&text, &Options::default()).hidden, hidden(&at[..2], "rolled_back"));
    }

    #[test]
    fn a_roll_back_into_a_compaction_hides_what_follows_it() {
        let compacted = line("compacted", r#"{"message":"S"}"#);
        let lines = [said("user", "one"), compacted, said("user", "two"), roll_back(2)];
        let (text, at) = session(&lines);
        assert_eq!(plan(&text, &Options::default()).hidden, hidden(&at[2..3], "rolled_back"));
        let options = Options { from_last_compaction: true, ..Options::default() };
        assert_eq!(plan(&text, &options).hidden, hidden(&at[2..3], "rolled_back"));
    }

    #[test]
    fn a_compaction_without_a_replacement_keeps_the_turns_before_it() {
        let legacy = |text: &str| line("compacted", &format!(r#"{{"message":"{text}"}}"#));
        let replaced = r#"{"message":"","replacement_history":[{"type":"message","role":"user","content":[{"type":"input_text","text":"K"}]}]}"#;
        let lines = [
            said("user", "zero"),
            line("compacted", replaced),
            said("user", "<environment_context>x"),
            said("user", "one"),
            said("assistant", "1"),
            legacy("S"),
            said("user", "two"),
            said("assistant", "2"),
            legacy("T"),
            said("user", "three"),
        ];
        let (text, at) = session(&lines);
        assert_eq!(plan(&text, &Options::default()), Plan::default());
        let options = Options { from_last_compaction: true, ..Options::default() };
        let cut = plan(&text, &options);
        let gone = [at[0], at[2], at[4], at[7]];
        assert_eq!(cut.hidden, hidden(&gone, "compacted"));
        assert_eq!(cut.keeping, [at[5], at[8]]);
        // The turns are K, one, S, two, T and three.
        let (text, at) = session(&[&lines[..], &[roll_back(3)]].concat());
        let cut = plan(&text, &options);
        let field = |n: usize| cut.hides(at[n]);
        let fields: Vec<_> = (0..10).map(field).collect();
        let (compacted, rolled_back) = (Some("compacted"), Some("rolled_back"));
        let expected = [compacted, None, compacted, None, compacted, None];
        assert_eq!((&fields[..6], &fields[6..]), (&expected[..], &[rolled_back; 4][..]));
    }

    /// Returns the lines that roll-backs hide, with a search through all lines for each.
    fn simple_plan(lines: &[(&str, u32)], at: &[u64]) -> Vec<Hidden> {
        let (mut slots, mut hidden) = (Vec::new(), vec![false; lines.len()]);
        for (line_idx, (kind, n)) in lines.iter().enumerate() {
            match *kind {
                "user" | "assistant" => slots.push((line_idx, *kind == "user", false)),
                "short" => {
                    slots.retain(|(_, is_turn, _)| *is_turn);
                    slots.push((line_idx, true, true));
                }
                "long" => slots = (0..*n).map(|n| (line_idx, n % 2 == 0, true)).collect(),
                _ => {
                    let turns = slots.iter().enumerate().filter(|(_, slot)| slot.1);
                    let turns: Vec<usize> = turns.map(|(slot_idx, _)| slot_idx).collect();
                    let cut = turns.len().saturating_sub(*n as usize);
                    let Some(cut) = turns.get(cut).copied() else { continue };
                    let (first, _, is_replaced) = slots[cut];
                    slots.truncate(cut);
                    hidden[first + usize::from(is_replaced)..line_idx].fill(true);
                }
            }
        }
        let is_shown = |line_idx: &usize| matches!(lines[*line_idx].0, "user" | "assistant");
        let hidden = (0..lines.len()).filter(|it| hidden[*it] && is_shown(it));
        hidden.map(|it| Hidden { offset: at[it], field: "rolled_back" }).collect()
    }

    #[test]
    fn roll_backs_and_compactions_in_any_order_hide_as_a_search_through_all_lines_does() {
        let (mut seed, mut n_hidden) = (1_u32, 0);
        for _ in 0..400 {
            let mut lines = Vec::new();
            for _ in 0..24 {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let kinds = ["user", "assistant", "user", "short", "long", "back", "back"];
                lines.push((kinds[(seed >> 16) as usize % 7], 1 + (seed >> 24) % 4));
            }
            let message =
                r#"{"type":"message","role":"ROLE","content":[{"type":"input_text","text":"K"}]}"#;
            let write = |(kind, n): &(&str, u32)| match *kind {
                "short" => line("compacted", r#"{"message":"S"}"#),
                "long" => {
                    let role = |n| if n % 2 == 0 { "user" } else { "assistant" };
                    let items: Vec<_> = (0..*n).map(|n| message.replace("ROLE", role(n))).collect();
                    let items = items.join(",");
                    let items = format!(r#"{{"message":"","replacement_history":[{items}]}}"#);
                    line("compacted", &items)
                }
                "back" => roll_back(*n),
                role => said(role, "x"),
            };
            let (text, at) = session(&lines.iter().map(write).collect::<Vec<_>>());
            let found = plan(&text, &Options::default()).hidden;
            let shown: Vec<_> = found
                .into_iter()
                .filter(|it| {
                    let line_idx = at.binary_search(&it.offset).expect("a line");
                    matches!(lines[line_idx].0, "user" | "assistant")
                })
                .collect();
            assert_eq!(shown, simple_plan(&lines, &at), "{lines:?}");
            n_hidden += shown.len();
        }
        assert!(n_hidden > 400, "{n_hidden}");
    }

    #[test]
    fn a_summary_after_nothing_keeps_nothing() {
        let compacted = line("compacted", r#"{"message":"S"}"#);
        let (text, at) = session(&[said("assistant", "1"), compacted, said("user", "two")]);
        let options = Options { from_last_compaction: true, ..Options::default() };
        let cut = plan(&text, &options);
        assert_eq!(cut.hidden, hidden(&at[..1], "compacted"));
        assert!(cut.keeping.is_empty());
    }

    #[test]
    fn the_first_line_of_another_session_is_hidden() {
        let meta = |id: &str| line("session_meta", &format!(r#"{{"id":"{id}"}}"#));
        let (text, at) = session(&[meta("a"), meta("b"), said("user", "one"), meta("a")]);
        assert_eq!(plan(&text, &Options::default()).hidden, hidden(&at[1..2], "session_meta"));
    }
}
