//! Files that were planned in pieces: put together once all pieces are there.
//!
//! Lines that are converted each for itself may be converted anywhere: a piece has the lines that start
//! in its bytes, and the pieces one after the other are what the whole file would have become.

use std::{
    ffi::OsStr,
    fs::File,
    io,
    path::{Path, PathBuf, absolute},
};

use sessions::Input;
use storage::{
    Asked, Interruption, Pending, PendingOptions, Place, RECEIPTS, Replace, Snapshot, unwritten,
};

use super::{
    chunk::{is_of, lines_of},
    planned::{Planned, PlannedPiece},
    receipt::Receipt,
    store::Store,
};
use crate::{
    file_report::{FileEnd, FileReport},
    folder_run::SessionReport,
    journal::{Base, Journal, JournalEntry, Origin, OutputOptions, Salt, Standing, Written},
    status::FileStatus,
};

/// Where pieces wait, below the folder of receipts.
const PIECES: &str = "pieces";

/// Returns the units of a file in pieces of at most so many bytes.
pub fn pieces(whole: Planned, max_bytes: u64) -> Vec<Planned> {
    let (step, size) = (max_bytes.max(1), whole.bytes);
    let name = whole.out.strip_prefix(&whole.root).unwrap_or(&whole.out);
    let folder = whole.root.join(RECEIPTS).join(PIECES).join(name);
    let piece = |piece_idx: u64| {
        let start = piece_idx * step;
        let range = [start, size.min(start.saturating_add(step))];
        let (of, whole_path) = (whole.id.clone(), whole.out.clone());
        Planned {
            id: format!("{}#{start}", whole.id).into(),
            bytes: range[1] - start,
            out: folder.join(start.to_string()),
            piece: Some(PlannedPiece { range, of, whole: whole_path }),
            ..whole.clone()
        }
    };
    (0..size.div_ceil(step)).map(piece).collect()
}

/// Returns the receipt of a piece of a file that was put together, and is as it was then.
pub(super) fn joined(
    planned: &Planned,
    store: &Store,
    base: &Base,
    options: &OutputOptions,
) -> Option<Vec<u8>> {
    let PlannedPiece { of, whole, .. } = planned.piece.as_ref()?;
    let etag = Planned::etag([&Input::file(planned.main.clone())]);
    let receipt = store.read(of).filter(|receipt| is_of(receipt, &etag));
    let written = lines_of(&receipt);
    let journal = Journal::of_lines(written.iter().map(Vec::as_slice), options.clone());
    let snapshot = &mut Snapshot::new(File::open(&planned.main).ok()?).ok()?;
    let path = &absolute(&planned.main).ok()?;
    let below = whole.strip_prefix(&planned.root).ok()?;
    let standing =
        journal.standing(base, below, &mut Origin::open(path, snapshot, Salt::default())).ok()?;
    let Standing::UpToDate(status) = standing else { return None };
    let files = vec![FileReport::new(FileEnd::UpToDate, status)];
    let worked = SessionReport { files, ..SessionReport::default() };
    let in_bytes = planned.bytes;
    Some(Receipt { planned, worked, error: None, in_bytes, etag, written }.line())
}

/// Puts the pieces of a file together, in their order, and keeps a receipt of it; returns the line of
/// the journal.
///
/// # Errors
///
/// `AlreadyExists` if another file has its name; the system's own.
pub fn join(
    pieces: &[&Planned],
    journal: &Journal,
    base: &Base,
    options: &OutputOptions,
    n_lines: u64,
    interruption: Interruption,
) -> io::Result<Option<Vec<u8>>> {
    let Some((first, PlannedPiece { of, whole, .. })) =
        pieces.first().and_then(|first| Some((*first, first.piece.as_ref()?)))
    else {
        return Ok(None);
    };
    let store = Store::of(base.clone(), interruption);
    let etag = Planned::etag([&Input::file(first.main.clone())]);
    if pieces.iter().all(|it| joined(it, &store, base, options).is_some()) {
        return Ok(None);
    }
    let below = whole.strip_prefix(&first.root).unwrap_or(whole);
    let source = absolute(&first.main)?;
    let mut snapshot = Snapshot::new(File::open(&source)?)?;
    let mut origin = Origin::open(&source, &mut snapshot, Salt::default());
    let replace = match journal.standing(base, below, &mut origin)? {
        Standing::Open(replace) => replace,
        Standing::UpToDate(_) => Replace::Own,
    };
    // What goes to a store is not planned in pieces.
    let folder = base.folder().ok_or(io::ErrorKind::Unsupported)?;
    let place = Place::below(folder, below)?;
    let pending_options = PendingOptions { compression: None, asked: Asked::Sha256, interruption };
    let mut pending = Pending::create(place, snapshot.mode(), pending_options)?;
    let mut left = Vec::new();
    for piece in pieces {
        let below = piece.out.strip_prefix(&first.root).unwrap_or(&piece.out);
        let of_pieces = folder.below(below.parent().unwrap_or(Path::new("")))?;
        let name = below.file_name().unwrap_or(OsStr::new("")).to_owned();
        io::copy(&mut of_pieces.read(&name)?, &mut pending)?;
        left.push((of_pieces, name));
    }
    let finished = pending.finish()?;
    finished.sync()?;
    let record = JournalEntry {
        source,
        stat: snapshot.stat().clone(),
        source_hash: snapshot.hash()?,
        salt: Salt::default(),
        written: Some(Written {
            below: PathBuf::from(below),
            length: finished.length(),
            hash: finished.hash(),
            sha256: finished.sha256(),
            etag: None,
        }),
        status: FileStatus::Done,
        records: n_lines,
        lost: 0,
        damaged: 0,
    };
    finished.publish(replace).map_err(|error| unwritten(error, whole))?;
    let line = record.line(options).trim_ascii_end().to_vec();
    let unit = Planned { id: of.clone(), piece: None, out: whole.clone(), ..first.clone() };
    let files = vec![FileReport::new(FileEnd::UpToDate, FileStatus::Done)];
    let worked = SessionReport { files, ..SessionReport::default() };
    let (in_bytes, written) = (record.stat.length, vec![line.clone()]);
    let receipt = Receipt { planned: &unit, worked, error: None, in_bytes, etag, written };
    store.write(of, &receipt.line())?;
    for (folder, name) in left {
        // A piece that stays is only not needed any more.
        _ = folder.remove(&name);
    }
    Ok(Some(line))
}
