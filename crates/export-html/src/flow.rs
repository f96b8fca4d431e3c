//! Orders the parts of a page that are complete at different times. A result belongs into its call,
//! so the lines between the two wait.
//!
//! In: call 1, text, result 1. Out: call 1 with its result, then the text.

use std::{
    collections::{HashMap, VecDeque},
    io::{self, Write},
};

use crate::html::Html;

/// Limit in bytes for waiting parts. Beyond it, a result is written at its own line.
const MAX_WAITING: usize = 12 * 1024 * 1024;

/// The memory of a waiting part beside its HTML, in bytes.
const OVERHEAD: usize = 256;

/// A part of the page, to which HTML can be appended until it is closed.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub(crate) struct FlowId(u32);

impl FlowId {
    /// The page itself.
    pub(crate) const PAGE: FlowId = FlowId(0);
}

/// The waiting parts, in order.
#[derive(Debug)]
pub(crate) struct Flows {
    flows: HashMap<FlowId, Flow>,
    /// Path from the page to the part that is being written.
    path: Vec<FlowId>,
    n_opened: u32,
    /// Number of waiting bytes of HTML.
    n_waiting: usize,
    max_waiting: usize,
}

#[derive(Debug, Default)]
struct Flow {
    parts: VecDeque<Part>,
    is_closed: bool,
}

#[derive(Debug)]
enum Part {
    Html(Html),
    Flow(FlowId),
}

impl Default for Flows {
    fn default() -> Self {
        Self::with_limit(MAX_WAITING)
    }
}

impl Flows {
    fn with_limit(max_waiting: usize) -> Self {
        let flows = HashMap::from([(FlowId::PAGE, Flow::default())]);
        Self { flows, path: vec![FlowId::PAGE], n_opened: 0, n_waiting: 0, max_waiting }
    }

    /// Returns whether HTML can be appended to a part.
    pub(crate) fn is_open(&self, id: FlowId) -> bool {
        self.flows.get(&id).is_some_and(|flow| !flow.is_closed)
    }

    /// Appends HTML to a part, and returns whether the part is open.
    pub(crate) fn append(&mut self, id: FlowId, html: Html) -> bool {
        let Some(flow) = self.flows.get_mut(&id).filter(|flow| !flow.is_closed) else {
            return false;
        };
        self.n_waiting += html.len();
        match flow.parts.back_mut() {
            Some(Part::Html(last)) => _ = last.append(&html),
            _ => flow.parts.push_back(Part::Html(html.shrunk())),
        }
        true
    }

    /// Opens a part at the end of another one.
    pub(crate) fn open(&mut self, inside: FlowId) -> FlowId {
        self.n_opened += 1;
        let id = FlowId(self.n_opened);
        if let Some(flow) = self.flows.get_mut(&inside).filter(|flow| !flow.is_closed) {
            flow.parts.push_back(Part::Flow(id));
            self.flows.insert(id, Flow::default());
        }
        id
    }

    /// Closes a part. Later parts need not wait for it.
    pub(crate) fn close(&mut self, id: FlowId) {
        if let Some(flow) = self.flows.get_mut(&id) {
            flow.is_closed = true;
        }
    }

    /// Writes the parts that need not wait. If too many bytes wait, some are written early.
    pub(crate) fn write(&mut self, sink: &mut dyn Write) -> io::Result<()> {
        self.write_ready(sink)?;
        while self.weight() > self.max_waiting && self.path.len() > 1 {
            let front = self.path.last().copied().unwrap_or_default();
            self.close(front);
            self.write_ready(sink)?;
        }
        Ok(())
    }

    /// Returns the memory of the waiting parts in bytes.
    fn weight(&self) -> usize {
        self.n_waiting.saturating_add(self.flows.len().saturating_mul(OVERHEAD))
    }

    /// Writes all waiting parts.
    pub(crate) fn finish(&mut self, sink: &mut dyn Write) -> io::Result<()> {
        for flow in self.flows.values_mut() {
            flow.is_closed = true;
        }
        self.write_ready(sink)
    }

    fn write_ready(&mut self, sink: &mut dyn Write) -> io::Result<()> {
        while let Some(front) = self.path.last().copied() {
            let Some(flow) = self.flows.get_mut(&front) else { break };
            match flow.parts.pop_front() {
                Some(Part::Html(html)) => {
                    self.n_waiting -= html.len();
                    sink.write_all(html.as_str().as_bytes())?;
                }
                Some(Part::Flow(inner)) => self.path.push(inner),
                None if flow.is_closed => {
                    self.flows.remove(&front);
                    self.path.pop();
                    if self.flows.len() < self.flows.capacity() / 4 {
                        self.flows.shrink_to(self.flows.len() * 2);
                    }
                }
                None => break,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_waits_for_its_result_and_for_nothing_else() -> io::Result<()> {
        let (mut flows, mut page) = (Flows::default(), Vec::new());
        assert!(flows.append(FlowId::PAGE, Html::of("<a>")));
        let call = flows.open(FlowId::PAGE);
        assert!(flows.append(FlowId::PAGE, Html::of("</a><b>")));
        let agent = flows.open(call);
        let inner = flows.open(agent);
        flows.write(&mut page)?;
        assert_eq!(page, b"<a>");
        assert!(flows.append(call, Html::of("result")));
        assert!(flows.append(inner, Html::of("inner ")));
        flows.close(call);
        assert!(!flows.append(call, Html::of("too late")));
        flows.write(&mut page)?;
        assert_eq!(page, b"<a>inner ");
        flows.close(agent);
        flows.close(inner);
        flows.write(&mut page)?;
        assert_eq!(page, b"<a>inner result</a><b>");
        flows.finish(&mut page)
    }

    #[test]
    fn what_waits_is_bounded() -> io::Result<()> {
        let (mut flows, mut page) = (Flows::with_limit(3 + 3 * OVERHEAD), Vec::new());
        let calls = [flows.open(FlowId::PAGE), flows.open(FlowId::PAGE)];
        flows.append(FlowId::PAGE, Html::of("<p>"));
        flows.write(&mut page)?;
        assert!(page.is_empty() && flows.is_open(calls[0]));
        let mut text = Html::default();
        text.text(&"x".repeat(3 * OVERHEAD));
        flows.append(FlowId::PAGE, text);
        flows.write(&mut page)?;
        assert_eq!(page.len(), 3 + 3 * OVERHEAD);
        assert!(!flows.is_open(calls[0]) && !flows.is_open(calls[1]));
        // Parts without HTML take memory, too.
        let mut flow = FlowId::PAGE;
        for _ in 0..1000 {
            flow = flows.open(flow);
        }
        flows.write(&mut page)?;
        assert!(flows.flows.len() <= 4 && !flows.is_open(flow), "{}", flows.flows.len());
        Ok(())
    }
}
