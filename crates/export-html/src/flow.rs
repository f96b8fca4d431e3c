//! The order of a page whose parts are ready at different times: a call stands before its result,
//! and what comes between them waits.

use std::{
    collections::{HashMap, VecDeque},
    io::{self, Write},
};

use crate::html::Html;

/// How many bytes may wait for a result, before it is shown where it stands in the log.
const MAX_WAITING: usize = 32 * 1024 * 1024;

/// A part of the page that others can be put into until it is closed.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub(crate) struct FlowId(u32);

impl FlowId {
    /// The page itself.
    pub(crate) const PAGE: FlowId = FlowId(0);
}

/// The parts that wait, in their order.
#[derive(Debug)]
pub(crate) struct Flows {
    flows: HashMap<FlowId, Flow>,
    /// From the page down to the part that is written right now.
    path: Vec<FlowId>,
    n_opened: u32,
    /// The bytes that wait.
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

    /// Returns whether something can be put into a part.
    pub(crate) fn is_open(&self, id: FlowId) -> bool {
        self.flows.get(&id).is_some_and(|flow| !flow.is_closed)
    }

    /// Puts HTML at the end of a part that is open; returns whether it is.
    pub(crate) fn append(&mut self, id: FlowId, html: Html) -> bool {
        let Some(flow) = self.flows.get_mut(&id).filter(|flow| !flow.is_closed) else {
            return false;
        };
        self.n_waiting += html.len();
        match flow.parts.back_mut() {
            Some(Part::Html(last)) => _ = last.append(&html),
            _ => flow.parts.push_back(Part::Html(html)),
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

    /// Closes a part: what stands after it waits no longer.
    pub(crate) fn close(&mut self, id: FlowId) {
        if let Some(flow) = self.flows.get_mut(&id) {
            flow.is_closed = true;
        }
    }

    /// Writes what waits for nothing. If too much waits, it waits no longer.
    pub(crate) fn write(&mut self, sink: &mut dyn Write) -> io::Result<()> {
        self.write_ready(sink)?;
        while self.n_waiting > self.max_waiting && self.path.len() > 1 {
            let front = self.path.last().copied().unwrap_or_default();
            self.close(front);
            self.write_ready(sink)?;
        }
        Ok(())
    }

    /// Writes all that waits.
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
        let (mut flows, mut page) = (Flows::with_limit(3), Vec::new());
        let calls = [flows.open(FlowId::PAGE), flows.open(FlowId::PAGE)];
        flows.append(FlowId::PAGE, Html::of("<p>"));
        flows.write(&mut page)?;
        assert!(page.is_empty() && flows.is_open(calls[0]));
        flows.append(FlowId::PAGE, Html::of("</p>"));
        flows.write(&mut page)?;
        assert_eq!(page, b"<p></p>");
        assert!(!flows.is_open(calls[0]) && !flows.is_open(calls[1]));
        Ok(())
    }
}
