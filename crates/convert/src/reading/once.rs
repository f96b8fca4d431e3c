//! Reads sessions and counts each record once, also if several sessions have a copy of it.
//!
//! In: a session and its copy. Out: the events of both, the events of the copy marked as copies. Each
//! session is read once; one that has copies of others is then read again without them.

use std::{
    borrow::Borrow,
    collections::BTreeSet,
    io,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use core_model::{Body, Event, Format, Hashes, Place, Tokens};
use rayon::prelude::*;
use sessions::{
    Kin, Owners, Prefilter, Prices, ReadError, SessionFiles, SessionTurns, SessionUsage, TurnKeys,
    TurnsCollector, Usage,
};

use super::moments::Bounds;
use crate::{
    FORMATS, by_name,
    environment::{Threads, read},
    terminal::progress::{Mode, Progress},
};

/// An item of a session's file.
pub(crate) enum Item<'e, 'l> {
    /// An event that counts.
    Event(&'e Event<'l>),
    /// An event that counts elsewhere: in another session, or earlier in this one.
    Copy,
    /// Bytes that cannot be read.
    Damage,
}

/// Receives the items of a session with their places.
pub(crate) type EachItem<'e> = dyn FnMut(Place, Item<'_, '_>) + 'e;

/// A session that was read to its end.
pub(crate) struct SessionRead {
    pub(crate) turns: SessionTurns,
    pub(crate) usage: SessionUsage,
    /// The id in its lines, or else the name of its file.
    pub(crate) id: String,
    /// The other sessions that it names.
    pub(crate) kin: Vec<Kin>,
    /// The size of its files in bytes.
    pub(crate) n_bytes: u64,
    /// The formats of its files; none for files beside it.
    pub(crate) formats: Vec<Option<&'static Format>>,
}

/// Reads a session with its sub-agents. Records in `left_out` are copies.
pub(crate) fn session(
    unit: &SessionFiles,
    format: Option<&'static Format>,
    keys: &TurnKeys,
    left_out: &Hashes,
    progress: &Progress,
    each: &mut EachItem<'_>,
) -> Result<SessionRead, ReadError> {
    // A session that is read again without its copies was counted.
    let silent = Progress::start(Mode::None, 0, 0);
    let progress = if left_out.is_empty() { progress } else { &silent };
    let (mut usage, mut turns) = (SessionUsage::default(), TurnsCollector::default());
    let mut kin = BTreeSet::new();
    let (mut id, mut known, mut formats, mut n_bytes) = (None, format, Vec::new(), 0);
    for input in unit.files().filter(|input| !input.is_side_file()) {
        usage.start_file();
        let mut file = keys.file(input);
        let mut last = None;
        let format = read(input, known, &Prefilter::ALL, progress, &mut |place, line, event| {
            // A line may have several events and counts once.
            if last.replace(place.offset) != Some(place.offset) {
                n_bytes += line.bytes().len() as u64;
            }
            let Ok(event) = event else {
                each(place, Item::Damage);
                return Ok(true);
            };
            if id.is_none() {
                id = event.context.session_id.map(|id| id.decode().into_owned());
            }
            let turn = file.key(place, line, event);
            let is_new = turns.push(&turn, event);
            // Below the start of a copied session are the records of the other one.
            let is_of_another = matches!(event.body, Body::Start(_))
                && event.context.session_id.zip(id.as_deref()).is_some_and(|(it, id)| !it.is(id));
            if is_new && !is_of_another && kin.len() < MAX_KIN {
                Kin::of(&turn.origin, &mut |other| _ = kin.insert(other));
            }
            if let Some(format) = by_name(event.format) {
                usage.push(keys, &turn, event, format);
            }
            let is_counted = is_new && !left_out.contains(&turn.key);
            each(place, if is_counted { Item::Event(event) } else { Item::Copy });
            Ok(true)
        })?;
        progress.add_file();
        formats.push(format);
        known = known.or(unit.format_of_all(format));
    }
    let id = id.or_else(|| unit.main.stem().map(str::to_owned)).unwrap_or_default();
    Ok(SessionRead {
        turns: turns.finish(),
        usage,
        id,
        kin: kin.into_iter().collect(),
        n_bytes,
        formats,
    })
}

/// The responses of several sessions, and the id of each session or the reason why it was not read.
pub(crate) struct CountedResponses {
    /// The responses, each once.
    pub(crate) usage: Usage,
    /// The ids, in the order of the sessions.
    pub(crate) ids: Vec<Result<String, ReadError>>,
    /// The number of lines that cannot be read.
    pub(crate) n_unread: u64,
}

/// Counts the responses of sessions on several threads, each response once.
///
/// # Errors
///
/// Returns an error if threads cannot be started.
pub(crate) fn responses<U: Borrow<SessionFiles> + Sync>(
    units: &[U],
    format: Option<&'static Format>,
    n_jobs: usize,
    with_copies: bool,
    progress: &Progress,
) -> io::Result<CountedResponses> {
    let keys = TurnKeys::new(FORMATS);
    let usage = Mutex::new(Usage::of_sessions(units.len(), with_copies));
    let n_unread = AtomicU64::new(0);
    let add = |(session_idx, unit): (usize, &U)| {
        let none = Hashes::default();
        let read = session(unit.borrow(), format, &keys, &none, progress, &mut |_, item| {
            n_unread.fetch_add(u64::from(matches!(item, Item::Damage)), Ordering::Relaxed);
        })?;
        let rank = read.turns.rank(session_idx);
        usage.lock().unwrap_or_else(PoisonError::into_inner).add(session_idx, rank, read.usage);
        Ok(read.id)
    };
    let pool = Threads::start(n_jobs)?;
    let ids = pool.install(|| units.par_iter().enumerate().map(add).collect());
    let usage = usage.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(CountedResponses { usage, ids, n_unread: n_unread.into_inner() })
}

/// Limit on the other sessions that a session names.
const MAX_KIN: usize = 64;

/// Tokens and cost of a session.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spent {
    pub(crate) tokens: Tokens,
    /// The cost in US dollars, as the log states it or else by prices; `None` without a response.
    pub(crate) cost: Option<f64>,
}

/// A session that was counted.
pub(crate) struct Counted<T> {
    pub(crate) value: T,
    /// Its tokens and cost in the period.
    pub(crate) spent: Spent,
    pub(crate) turns: SessionTurns,
}

/// Counts sessions on several threads, each record once. `count` reads a session without the records
/// that are left out; it is called again for a session that has copies of others.
///
/// Returns the results in the order of the sessions.
///
/// # Errors
///
/// Returns an error if threads cannot be started.
pub(crate) fn each_once<T: Send>(
    units: &[SessionFiles],
    n_jobs: usize,
    with_copies: bool,
    period: Bounds,
    count: impl Fn(&SessionFiles, &TurnKeys, &Hashes) -> Result<(T, SessionRead), ReadError> + Sync,
) -> io::Result<Vec<Result<Counted<T>, ReadError>>> {
    let pool = Threads::start(n_jobs)?;
    let keys = TurnKeys::new(FORMATS);
    let usage = Mutex::new(Usage::of_sessions(units.len(), with_copies));
    let first = |(session_idx, unit): (usize, &SessionFiles)| {
        let (counted, read) = count(unit, &keys, &Hashes::default())?;
        let rank = read.turns.rank(session_idx);
        let mut usage = usage.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        usage.add(session_idx, rank, read.usage);
        Ok((counted, read.turns))
    };
    let counted: Vec<Result<(T, SessionTurns), ReadError>> =
        pool.install(|| units.par_iter().enumerate().map(first).collect());
    let none = SessionTurns::default();
    let owners = match with_copies {
        true => Owners::default(),
        false => Owners::of(counted.iter().map(|it| it.as_ref().map_or(&none, |(_, it)| it))),
    };
    let again = |(session_idx, result): (usize, Result<(T, SessionTurns), ReadError>)| {
        let (counted, turns) = result?;
        let left_out = owners.copies(session_idx, &turns);
        match units.get(session_idx) {
            Some(unit) if !left_out.is_empty() => Ok((count(unit, &keys, &left_out)?.0, turns)),
            _ => Ok((counted, turns)),
        }
    };
    let counted: Vec<Result<(T, SessionTurns), ReadError>> =
        pool.install(|| counted.into_par_iter().enumerate().map(again).collect());
    let usage = usage.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    let spent = spent(&usage, period, units.len());
    let all = counted.into_iter().zip(spent);
    let with_spent = |(result, spent): (Result<(T, SessionTurns), ReadError>, Spent)| {
        result.map(|(value, turns)| Counted { value, spent, turns })
    };
    Ok(all.map(with_spent).collect())
}

/// Returns the tokens and the cost of each session in a period.
fn spent(usage: &Usage, period: Bounds, n_sessions: usize) -> Vec<Spent> {
    let prices = Prices::known();
    let mut all = vec![Spent::default(); n_sessions];
    for response in usage.responses().filter(|response| period.has(response.time)) {
        let Some(spent) = all.get_mut(response.session_idx) else { continue };
        spent.tokens += response.tokens;
        if let Some(cost) = response.cost_by(&prices) {
            spent.cost = Some(spent.cost.unwrap_or(0.0) + cost);
        }
    }
    all
}
