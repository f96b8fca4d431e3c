//! Finds the file of a session to go on with.
//!
//! In: an id, and Claude Code as the agent. The session is in Claude Code, and its copy in Codex went on.
//! Out: the copy, because its new turns are to come home.

use std::{fs, io, path::Path};

use core_model::Format;
use sessions::{Input, LATEST, Stored, Warning, absolute, newest_with_turns};
use storage::Backend;

use super::Args;
use crate::{FORMATS, by_name, environment::lookup, terminal::message::warn};

/// The file to go on with.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) input: Input,
    /// The session in the folder of the wanted agent, if the file is that.
    pub(super) stored: Option<Stored>,
}

/// Returns the file of the session that the arguments name.
///
/// A path means this file. An id, or `latest`, means the session in all agents that have it: if the wanted
/// agent is one of them, the file of another one that has turns of its own comes to it.
///
/// # Errors
///
/// Returns an error if there is no such session, or if several have the id.
pub(super) fn find(args: &Args, to: &'static Format) -> io::Result<Found> {
    let is_path = fs::metadata(&args.session).is_ok()
        || !matches!(Input::at(FORMATS, args.session.clone()).storage(), Backend::Disk);
    let is_latest = !is_path && args.session.as_os_str() == LATEST;
    let here = is_latest.then(|| Path::new("."));
    let from = args.from.as_deref().and_then(by_name);
    let mut told = Vec::new();
    // Both searches may meet the same folder.
    let mut warn_once = |warning: Warning| {
        if !told.contains(&warning) {
            warn(&warning);
            told.push(warning);
        }
    };
    let looked_up = lookup(args.project.as_deref().or(here), from, None);
    let input = looked_up.find(&args.session, &mut warn_once)?;
    // An input that is no file is refused later, with its own reason.
    let path = input.path().map(Path::to_owned).unwrap_or_default();
    let versions = lookup(None, None, None).versions(&path, &mut warn_once);
    let (mut there, others): (Vec<Stored>, Vec<Stored>) =
        versions.into_iter().partition(|version| version.format.family == to.family);
    let is_it = |version: &Stored| absolute(&version.path) == absolute(&path);
    let is_there = there.iter().any(is_it);
    let is_chosen = is_path || from.is_some() || there.is_empty();
    if is_chosen && !is_there {
        return Ok(Found { input, stored: None });
    }
    let others: Vec<Input> = others.iter().map(Stored::input).collect();
    if !is_chosen && let Some(other) = newest_with_turns(FORMATS, &others) {
        return Ok(Found { input: other.clone(), stored: None });
    }
    if is_there {
        there.retain(is_it);
    }
    let stored = there.into_iter().next();
    let input = stored.as_ref().map_or(input, Stored::input);
    Ok(Found { input, stored })
}
