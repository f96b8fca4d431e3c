//! Selects the entries of the conversation, by the client's rule or by the SDK's.
//!
//! In: lines `a`, `b` after `a`, `c` after `a`. Out: the indices of `a` and `c`.

use std::collections::{HashMap, HashSet};

use core_model::{Options, Planner};

use super::Transcript;
use crate::chain::{Chain, SdkChain};

/// The program whose rule selects the entries of the conversation.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum ChainRule {
    /// Client 2.1, with the exceptions that [`Chain`] makes to hide less.
    #[default]
    Cli,
    /// `get_session_messages` of the SDK for Python 0.2.187.
    Sdk,
}

impl Transcript<'_> {
    /// Returns the indices of the messages of the conversation, in its order.
    ///
    /// ```
    /// use format_claude_code::{ChainRule, Transcript};
    ///
    /// let file = br#"{"type":"user","uuid":"a","parentUuid":null,"message":{"content":"one"}}
    /// {"type":"user","uuid":"b","parentUuid":"a","message":{"content":"taken back"}}
    /// {"type":"user","uuid":"c","parentUuid":"a","message":{"content":"two"}}
    /// {"type":"user","uuid":"d","parentUuid":"lost","message":{"content":"three"}}"#;
    /// let transcript = Transcript::from_slice(file);
    /// // The SDK stops at the gap; nothing that was said before it is shown.
    /// assert_eq!(transcript.active_chain(ChainRule::Sdk), [3]);
    /// assert_eq!(transcript.active_chain(ChainRule::Cli), [0, 2, 3]);
    /// ```
    pub fn active_chain(&self, rule: ChainRule) -> Vec<usize> {
        match rule {
            ChainRule::Cli => self.cli_chain(),
            ChainRule::Sdk => self.sdk_chain(),
        }
    }

    fn cli_chain(&self) -> Vec<usize> {
        let mut chain = Box::new(Chain::new(&Options::default()));
        // The messages, each with whether it is a sub-agent's.
        let mut messages = Vec::new();
        self.for_each(|entry| {
            chain.observe(entry.place.offset, &entry.event);
            if entry.event.message().is_some() {
                messages.push((entry.idx, entry.place.offset, entry.event.is_sub_agent()));
            }
        });
        let plan = chain.finish();
        let has_main = messages.iter().any(|(_, _, is_sub_agent)| !is_sub_agent);
        let mut late: HashMap<u64, Vec<usize>> = HashMap::new();
        let by_offset: HashMap<u64, usize> =
            messages.iter().map(|(idx, offset, _)| (*offset, *idx)).collect();
        let mut is_late = HashSet::new();
        for said in &plan.late {
            is_late.insert(said.offset);
            if let Some(&idx) = by_offset.get(&said.offset) {
                late.entry(said.after).or_default().push(idx);
            }
        }
        let mut conversation = Vec::with_capacity(messages.len());
        for place in &self.entries {
            let offset = place.range.start as u64;
            let said = by_offset.get(&offset).filter(|_| !is_late.contains(&offset));
            conversation.extend(said);
            conversation.extend(late.remove(&offset).unwrap_or_default());
        }
        let is_side: HashSet<usize> = messages
            .iter()
            .filter(|(_, offset, is_sub_agent)| {
                has_main && *is_sub_agent || plan.hides(*offset).is_some()
            })
            .map(|(idx, ..)| *idx)
            .collect();
        conversation.retain(|idx| !is_side.contains(idx));
        conversation
    }

    fn sdk_chain(&self) -> Vec<usize> {
        let damaged: HashSet<u64> = self.bad_lines.iter().map(|bad| bad.place.line).collect();
        let has_mark = self.bytes.starts_with(b"\xef\xbb\xbf");
        let mut chain = SdkChain::default();
        self.for_each(|entry| {
            let is_whole = !damaged.contains(&entry.place.line) || self.is_alone(entry.idx);
            // The SDK cannot read a first line with a byte order mark.
            if is_whole && !(has_mark && entry.place.line == 1) {
                chain.push(entry.idx, entry.value);
            }
        });
        chain.finish()
    }

    /// Returns whether Python reads a record on a damaged line as a line of its own. Python ends a
    /// line at a carriage return and skips separators as white space.
    fn is_alone(&self, idx: usize) -> bool {
        let Some(place) = self.entries.get(idx) else { return false };
        let (Some(before), Some(piece), Some(after)) = (
            self.bytes.get(..place.range.start),
            self.bytes.get(place.range.clone()),
            self.bytes.get(place.range.end..),
        ) else {
            return false;
        };
        // The bytes between two records may belong to either.
        let lead = piece.split(|byte| *byte == b'{').next().unwrap_or_default();
        let trail = piece.rsplit(|byte| *byte == b'}').next().unwrap_or_default();
        let is_space = |byte: &&u8| matches!(byte, b' ' | b'\t' | 0x0b | 0x0c | 0x1c..=0x1f);
        let is_end = |byte: Option<&u8>| matches!(byte, None | Some(b'\n' | b'\r'));
        is_end(before.iter().chain(lead).rev().find(|byte| !is_space(byte)))
            && is_end(trail.iter().chain(after).find(|byte| !is_space(byte)))
    }
}
