//! Collects points in time by conversation, for a timeline.
//!
//! In: a prompt at 10:00 and a tool call of a sub-agent at 10:01. Out: two points, in lanes 0 and
//! 1.

use super::{ErrorPolicy, Viewed, thread};
use crate::{Body, ByHash, Event, IdHasher, NoticeKind, Place, Role, Status};

/// The kind of a point.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum PointKind {
    /// A prompt.
    Prompt,
    /// A text of the assistant.
    Response,
    /// A tool call.
    ToolUse,
    /// A tool result.
    ToolResult,
    /// A notice of the client.
    Notice,
    /// The end of a run.
    Outcome,
    /// A compaction.
    Compaction,
    /// A failure of a tool, a request or a run.
    Error,
}

/// A point of the timeline.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Point {
    /// The line.
    pub place: Place,
    /// The time in milliseconds since 1970.
    pub time: i64,
    /// The kind.
    pub kind: PointKind,
    /// The index of its lane.
    pub lane: usize,
}

/// A conversation: the main one, or a sub-agent's.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Lane {
    /// The thread, as [`thread`] returns it.
    pub thread: Option<String>,
    /// The first time, in milliseconds since 1970.
    pub start: i64,
    /// The last time, in milliseconds since 1970.
    pub end: i64,
}

/// View that collects the points of a timeline, in bounded memory.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// The points in the order of the file. Times may go back. If there are very many points, some
    /// are removed, failures and compactions last.
    pub points: Vec<Point>,
    /// The conversations, in the order of their first points.
    pub lanes: Vec<Lane>,
    /// Indices of lanes, by hashes of their names.
    by_thread: ByHash<Option<usize>>,
    main_lane: Option<usize>,
    hasher: IdHasher,
    /// The lane of the last point, which the next point probably shares.
    last_lane: usize,
    /// One of this many moments becomes a point, except failures and compactions.
    stride: u64,
    n_moments: u64,
}

/// Limit of points. A longer session shows some of its moments.
const MAX_POINTS: usize = 128 * 1024;

impl Timeline {
    /// Adds an event, if it has a time and visible content.
    pub fn push(&mut self, place: Place, event: &Event<'_>) {
        self.view(place, &Viewed::passing(event));
    }

    /// Adds an event that other views also use.
    pub fn view(&mut self, place: Place, viewed: &Viewed<'_, '_>) {
        let event = viewed.event;
        let (Some(time), Some(kind)) = (viewed.time, kind(viewed)) else { return };
        let thread = thread(event);
        if self.lanes.get(self.last_lane).is_none_or(|lane| lane.thread != thread) {
            let known = match &thread {
                None => &mut self.main_lane,
                Some(thread) => self.by_thread.entry(self.hasher.hash(thread)).or_default(),
            };
            self.last_lane = *known.get_or_insert(self.lanes.len());
            if self.last_lane == self.lanes.len() {
                self.lanes.push(Lane { thread, start: time, end: time });
            }
        }
        let lane = self.last_lane;
        if let Some(lane) = self.lanes.get_mut(lane) {
            (lane.start, lane.end) = (lane.start.min(time), lane.end.max(time));
        }
        self.n_moments += 1;
        let is_marked = matches!(kind, PointKind::Error | PointKind::Compaction);
        if is_marked || self.n_moments.is_multiple_of(self.stride.max(1)) {
            self.points.push(Point { place, time, kind, lane });
        }
        if self.points.len() > MAX_POINTS {
            self.thin();
        }
    }

    /// Removes every second point; failures and compactions only if there are many.
    fn thin(&mut self) {
        self.stride = 2 * self.stride.max(1);
        let is_marked =
            |point: &Point| matches!(point.kind, PointKind::Error | PointKind::Compaction);
        let n_marked = self.points.iter().filter(|point| is_marked(point)).count();
        let keeps_marked = n_marked < MAX_POINTS / 4;
        let mut is_kept = false;
        self.points.retain(|point| {
            if keeps_marked && is_marked(point) {
                return true;
            }
            is_kept = !is_kept;
            is_kept
        });
    }
}

/// Returns the kind of an event's point.
fn kind(viewed: &Viewed<'_, '_>) -> Option<PointKind> {
    let message = match &viewed.event.body {
        Body::Message(message) => message,
        Body::Outcome(outcome) => {
            let is_success = outcome.status == Status::Success;
            return Some(if is_success { PointKind::Outcome } else { PointKind::Error });
        }
        Body::Notice(notice) => {
            return Some(match notice.kind {
                NoticeKind::Compaction => PointKind::Compaction,
                NoticeKind::Error => PointKind::Error,
                _ => PointKind::Notice,
            });
        }
        _ => return None,
    };
    if message.is_api_error || viewed.failed_results(ErrorPolicy::Flag).next().is_some() {
        return Some(PointKind::Error);
    }
    if !message.has_content() {
        return None;
    }
    Some(match message.role {
        _ if viewed.block_counts.n_tool_uses > 0 => PointKind::ToolUse,
        _ if viewed.block_counts.n_tool_results > 0 => PointKind::ToolResult,
        Role::User if message.is_prompt_of(viewed.block_counts) => PointKind::Prompt,
        Role::User => PointKind::Notice,
        Role::Assistant => PointKind::Response,
    })
}
