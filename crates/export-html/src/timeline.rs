//! Draws the timeline of a session: a lane for each agent, and the tokens below.

use std::collections::{BTreeMap, HashMap, HashSet};

use core_model::{Lane, PointKind};

use crate::{
    Survey,
    axis::Axis,
    html::Html,
    input::Family,
    words::{day_and_minute, lasting, rounded},
};

/// Limit for the lanes. Further agents share the last one.
const MAX_LANES: usize = 10;

/// Number of columns of a lane. Events in one column are drawn as one.
const N_COLUMNS: f64 = 400.0;

/// Heights in pixels: above the lanes, of a lane, of the token chart.
const TOP: usize = 14;
const LANE: usize = 16;
const TOKENS: usize = 34;

/// An event in a lane. The most important one of a column is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Mark {
    kind: MarkKind,
    /// The number of its line.
    line: u64,
    time: i64,
    millis: i64,
}

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum MarkKind {
    Response,
    Call(u8),
    Error,
}

/// Appends the timeline; nothing if no event has a time.
pub(crate) fn push_timeline(html: &mut Html, survey: &Survey) {
    let (Some(start), Some(end)) = (survey.span.earliest(), survey.span.latest()) else { return };
    let axis = axis(survey);
    let n_lanes = survey.timeline.lanes.len().clamp(1, MAX_LANES);
    let bottom = TOP + n_lanes * LANE;
    let height = bottom + if survey.contexts.is_empty() { 4 } else { TOKENS };
    html.markup("<section class=\"timeline\" aria-label=\"Timeline\">\n");
    html.markup("<svg aria-hidden=\"true\" width=\"100%\" height=\"").show(height).markup("\">\n");
    push_pauses(html, &axis, height);
    push_lanes(html, survey, &axis, n_lanes);
    push_marks(html, survey, &axis, n_lanes);
    push_tokens(html, survey, &axis, bottom);
    push_lines(html, survey, &axis, bottom);
    html.markup("</svg>\n<p class=\"ends\"><span>").text(&day_and_minute(start));
    html.markup("</span><span>").text(&lasting(end.saturating_sub(start))).markup("</span><span>");
    html.text(&day_and_minute(end)).markup("</span></p>\n<ul class=\"legend\">");
    for (class, name) in [
        ("<li class=\"prompt\">", "prompt"),
        ("<li class=\"read\">", "read"),
        ("<li class=\"edit\">", "edit"),
        ("<li class=\"run\">", "run"),
        ("<li class=\"agent-call\">", "agent"),
        ("<li class=\"other\">", "other tool"),
        ("<li class=\"error\">", "error"),
        ("<li class=\"compaction\">", "compaction"),
    ] {
        html.markup(class).markup(name).markup("</li>");
    }
    if let Some(most) = survey.contexts.iter().map(|(_, tokens)| *tokens).max() {
        html.markup("<li class=\"tokens\">context, at most ").text(&rounded(most));
        html.markup(" tokens</li>");
    }
    html.markup("</ul>\n</section>\n");
}

fn axis(survey: &Survey) -> Axis {
    let points = survey.timeline.points.iter().map(|point| (point.time, point.time));
    let runs = survey.runs.calls().filter_map(|run| {
        let start = run.time?;
        Some((start, start.saturating_add(run.duration_ms?.clamp(0, MAX_RUN))))
    });
    Axis::new(points.chain(runs).collect())
}

/// Limit for the duration of a tool in milliseconds: one day. A call with a later result was waiting,
/// not running.
const MAX_RUN: i64 = 24 * 60 * 60 * 1000;

/// Marks where the axis leaves out a pause.
fn push_pauses(html: &mut Html, axis: &Axis, height: usize) {
    for pair in axis.pieces.windows(2) {
        let [before, after] = pair else { continue };
        let (at, width) = (before.at + before.width, after.at - before.at - before.width);
        push_box(html, "<rect class=\"pause\"", (at, width), (0, height));
        html.markup("><title>").text(&lasting(after.start.saturating_sub(before.end)));
        html.markup(" without a line</title></rect>\n");
    }
}

/// Appends the start of a tag with its position: `x` and `width` in percent, `y` and `height` in
/// pixels.
fn push_box(
    html: &mut Html,
    tag: &'static str,
    (x, width): (f64, f64),
    (y, height): (usize, usize),
) {
    html.markup(tag).markup(" x=\"").show(format_args!("{x:.2}%")).markup("\" width=\"");
    html.show(format_args!("{:.2}%", width.max(0.12))).markup("\" y=\"").show(y);
    html.markup("\" height=\"").show(height).markup("\"");
}

fn push_lanes(html: &mut Html, survey: &Survey, axis: &Axis, n_lanes: usize) {
    for (lane_idx, lane) in survey.timeline.lanes.iter().enumerate().take(n_lanes) {
        let (from, to) = (axis.at(lane.start), axis.at(lane.end));
        let y = TOP + lane_idx * LANE;
        push_box(html, "<rect class=\"lane\"", (from, to - from), (y + LANE / 2 - 1, 2));
        html.markup("><title>");
        match &lane.thread {
            None => html.markup("Main conversation"),
            Some(name) => html.markup("Sub-agent ").text(name),
        };
        html.markup("</title></rect>\n");
    }
}

/// Draws the events of the agents, column by column.
fn push_marks(html: &mut Html, survey: &Survey, axis: &Axis, n_lanes: usize) {
    let mut marks: BTreeMap<(usize, u32), Mark> = BTreeMap::new();
    let mut add = |lane: usize, mark: Mark| {
        let column = (axis.at(mark.time) / 100.0 * N_COLUMNS) as u32;
        let key = (lane.min(n_lanes - 1), column);
        let known = marks.entry(key).or_insert(mark);
        if (known.kind, known.millis) < (mark.kind, mark.millis) {
            *known = mark;
        }
    };
    let lanes = survey.timeline.lanes.iter().enumerate();
    let hash = |thread: &str| survey.threads.hasher().hash(thread);
    let hash = |lane: &Lane| lane.thread.as_deref().map_or(0, hash);
    let lanes: HashMap<u64, usize> = lanes.map(|(idx, lane)| (hash(lane), idx)).collect();
    for run in survey.runs.calls() {
        let Some(time) = run.time else { continue };
        let kind = MarkKind::Call(run.family as u8);
        let millis = run.duration_ms.unwrap_or_default().clamp(0, MAX_RUN);
        let kind = if run.is_error { MarkKind::Error } else { kind };
        let lane = lanes.get(&run.thread).copied().unwrap_or_default();
        add(lane, Mark { kind, line: run.line, time, millis });
    }
    for point in &survey.timeline.points {
        let kind = match point.kind {
            PointKind::Response => MarkKind::Response,
            PointKind::Error => MarkKind::Error,
            _ => continue,
        };
        add(point.lane, Mark { kind, line: point.place.line, time: point.time, millis: 0 });
    }
    for ((lane, _), mark) in marks {
        push_mark(html, axis, TOP + lane * LANE, mark);
    }
}

fn push_mark(html: &mut Html, axis: &Axis, y: usize, mark: Mark) {
    let Mark { kind, line, time, millis } = mark;
    let (from, to) = (axis.at(time), axis.at(time.saturating_add(millis)));
    let (class, name) = match kind {
        MarkKind::Response => ("<rect class=\"said\"", "said"),
        MarkKind::Error => ("<rect class=\"error\"", "error"),
        MarkKind::Call(number) => match number {
            n if n == Family::Read as u8 => ("<rect class=\"read\"", "read"),
            n if n == Family::Edit as u8 => ("<rect class=\"edit\"", "edit"),
            n if n == Family::Run as u8 => ("<rect class=\"run\"", "run"),
            n if n == Family::Agent as u8 => ("<rect class=\"agent-call\"", "agent"),
            _ => ("<rect class=\"other\"", "tool"),
        },
    };
    let (top, height) = match kind {
        MarkKind::Response => (y + LANE / 2 - 2, 4),
        // Errors are taller too, so that they do not differ by color only.
        MarkKind::Error => (y, LANE - 1),
        MarkKind::Call(_) => (y + 4, LANE - 8),
    };
    html.markup("<a tabindex=\"-1\" href=\"#e").show(line).markup("\">");
    push_box(html, class, (from, (to - from).max(0.22)), (top, height));
    html.markup("><title>").markup(name);
    if millis >= 100 {
        html.markup(", ").text(&lasting(millis));
    }
    html.markup("</title></rect></a>\n");
}

/// Draws the tokens in the context as an area of columns.
fn push_tokens(html: &mut Html, survey: &Survey, axis: &Axis, bottom: usize) {
    let most = survey.contexts.iter().map(|(_, tokens)| *tokens).max().unwrap_or_default();
    let mut columns: BTreeMap<u32, u64> = BTreeMap::new();
    for (time, tokens) in &survey.contexts {
        let column = columns.entry((axis.at(*time) / 100.0 * N_COLUMNS) as u32).or_default();
        *column = (*column).max(*tokens);
    }
    let ends = columns.keys().copied().skip(1).chain([N_COLUMNS as u32]);
    for ((column, tokens), end) in columns.iter().zip(ends) {
        let room = TOKENS - 6;
        let height = ((*tokens as f64 / most.max(1) as f64) * room as f64).ceil() as usize;
        let share = 100.0 / N_COLUMNS;
        // Columns overlap a little, because the area would have seams otherwise.
        let width = f64::from(end.saturating_sub(*column)) * share + 0.02;
        let x = f64::from(*column) * share;
        push_box(html, "<rect class=\"tokens\"", (x, width), (bottom + TOKENS - height, height));
        html.markup("><title>").text(&rounded(*tokens));
        html.markup(" tokens in the context</title></rect>\n");
    }
}

/// Draws prompts and compactions, through all lanes.
fn push_lines(html: &mut Html, survey: &Survey, axis: &Axis, bottom: usize) {
    let prompts = survey.prompts.iter().filter_map(|prompt| Some((prompt.time?, prompt.line)));
    let points = survey.timeline.points.iter();
    let compactions = points.filter(|point| point.kind == PointKind::Compaction);
    let compactions = compactions.map(|point| (point.time, point.place.line));
    push_kind(html, ("<g class=\"prompt\">", "prompt"), prompts, axis, bottom);
    push_kind(html, ("<g class=\"compaction\">", "compaction"), compactions, axis, bottom);
}

/// Draws a line for each time, at most one in a column.
fn push_kind(
    html: &mut Html,
    (start, name): (&'static str, &'static str),
    times: impl Iterator<Item = (i64, u64)>,
    axis: &Axis,
    bottom: usize,
) {
    let mut drawn = HashSet::new();
    for (time, line) in times {
        let at = axis.at(time);
        if !drawn.insert((at / 100.0 * N_COLUMNS) as u64) {
            continue;
        }
        html.markup("<a tabindex=\"-1\" href=\"#e").show(line).markup("\">").markup(start);
        html.markup("<line x1=\"").show(format_args!("{at:.2}%")).markup("\" x2=\"");
        html.show(format_args!("{at:.2}%")).markup("\" y1=\"8\" y2=\"").show(bottom);
        html.markup("\"/><circle cx=\"").show(format_args!("{at:.2}%"));
        html.markup("\" cy=\"6\" r=\"4\"/><title>").markup(name).markup("</title></g></a>\n");
    }
}
