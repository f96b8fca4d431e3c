//! Maps times to positions in the timeline. Hours without an event are drawn as short pauses.
//!
//! In: events at 09:00 to 09:10 and at 15:00 to 15:10. Out: two pieces of nearly 50 % each, with a
//! pause of 1.5 % between them.

/// Pause in milliseconds below which events are in one piece: five minutes.
const CLOSE: i64 = 5 * 60 * 1000;

/// Limit for the pieces of the axis.
const MAX_PIECES: usize = 24;

/// Width of a pause, in percent of the whole.
const PAUSE: f64 = 1.5;

/// A piece of time with events, and its position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Piece {
    pub(crate) start: i64,
    pub(crate) end: i64,
    /// The left edge, in percent of the whole.
    pub(crate) at: f64,
    pub(crate) width: f64,
}

/// The axis of a timeline.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Axis {
    pub(crate) pieces: Vec<Piece>,
}

impl Axis {
    /// Creates an axis for all events between two times.
    pub(crate) fn new(mut spans: Vec<(i64, i64)>) -> Self {
        spans.sort_unstable();
        let mut pieces = joined(&spans, CLOSE);
        if pieces.len() > MAX_PIECES {
            let pauses = pieces.iter().zip(pieces.iter().skip(1));
            let mut pauses: Vec<_> =
                pauses.map(|(one, next)| next.start.saturating_sub(one.end)).collect();
            pauses.sort_unstable_by(|one, other| other.cmp(one));
            // Only the longest pauses are cut out.
            pieces = joined(&spans, pauses.get(MAX_PIECES - 1).copied().unwrap_or(CLOSE));
        }
        let lasts = |piece: &Piece| piece.end.saturating_sub(piece.start).max(1000) as f64;
        let total: f64 = pieces.iter().map(lasts).sum();
        let room = 100.0 - PAUSE * pieces.len().saturating_sub(1) as f64;
        let mut at = 0.0;
        for piece in &mut pieces {
            (piece.at, piece.width) = (at, room * lasts(piece) / total);
            at += piece.width + PAUSE;
        }
        Self { pieces }
    }

    /// Returns the position of a time, in percent of the whole.
    pub(crate) fn at(&self, time: i64) -> f64 {
        let after = self.pieces.partition_point(|piece| piece.start <= time);
        let Some(piece) = self.pieces.get(after.saturating_sub(1)) else { return 0.0 };
        let length = piece.end.saturating_sub(piece.start).max(1000) as f64;
        let passed = time.saturating_sub(piece.start) as f64;
        piece.at + piece.width * (passed / length).clamp(0.0, 1.0)
    }
}

/// Joins sorted spans that are close together.
fn joined(spans: &[(i64, i64)], close: i64) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for &(start, end) in spans {
        let end = end.max(start);
        match pieces.last_mut() {
            Some(last) if start.saturating_sub(last.end) <= close => last.end = last.end.max(end),
            _ => pieces.push(Piece { start, end, at: 0.0, width: 0.0 }),
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = 60_000;

    #[test]
    fn a_night_takes_little_room() {
        let night = 600 * MINUTE;
        let spans = vec![(night, night + MINUTE), (0, 2 * MINUTE), (2 * MINUTE, 3 * MINUTE)];
        let axis = Axis::new(spans);
        assert_eq!(axis.pieces.len(), 2);
        assert_eq!((axis.at(0), axis.at(i64::MIN)), (0.0, 0.0));
        assert_eq!(axis.at(3 * MINUTE), (100.0 - PAUSE) * 0.75);
        assert_eq!(axis.at(300 * MINUTE), axis.at(3 * MINUTE));
        assert_eq!(axis.at(night), axis.at(3 * MINUTE) + PAUSE);
        assert!((axis.at(i64::MAX) - 100.0).abs() < 1e-9);
    }

    #[test]
    fn any_times_have_a_place() {
        assert_eq!(Axis::new(Vec::new()).at(5), 0.0);
        let spans: Vec<_> = (0..500).map(|n| (n * n * MINUTE, n * n * MINUTE)).collect();
        let axis = Axis::new(spans);
        assert!(axis.pieces.len() <= MAX_PIECES && axis.pieces.len() > 1);
        let extremes = Axis::new(vec![(i64::MIN, i64::MIN), (i64::MAX, 0)]);
        assert!(extremes.at(0).is_finite());
    }
}
