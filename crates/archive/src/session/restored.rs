//! Converts a session of several files to one file, and back to several files.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use conversion::{
    Agents, CarryMode, Conversion, ConversionHistory, Manifest, ManifestEntry, ManifestEntryKind,
    OtherTarget, Redactions, Sidecar, Sink, Source, Target, first_damage, redact_with,
};
use core_model::Format;
use sessions::{
    Change, Input, Session, SessionEvents, SessionPlace, residue_path, run_session, sidecar_path,
};
use storage::{Backend, Finished, Hashing, Limits, Opened, Scratch, Snapshot};

use crate::{
    error::ConvertError,
    file_report::FileReport,
    job::{Extra, Job, check_target},
    journal::{OutputState, Salt},
    outputs::{
        PublishSet,
        images::{Images, receiver},
        lazy::LazyFile,
    },
};

/// A session without secrets, and the counts of removed ones.
pub(super) struct Staged {
    pub(super) session: Session,
    pub(super) redactions: Redactions,
    /// The folder of the copies, which is removed on drop.
    _folder: Option<Scratch>,
}

impl Job {
    /// Converts a session of several files to one. If `may_grow`, a session that grows meanwhile is
    /// converted at its measured size. `salt` is the hash of its other files.
    pub(crate) fn session_to(
        &self,
        input: &Input,
        (session, salt): (Session, Salt),
        from: &'static Format,
        path: &Path,
        may_grow: bool,
    ) -> Result<FileReport, ConvertError> {
        if session.files().len() == 1 {
            let agents = session.agents().to_vec();
            let manifest = (!agents.is_empty()).then(|| Manifest { agents, ..Manifest::default() });
            return self.convert_file(input, path, &Extra { manifest, ..Extra::default() });
        }
        check_target(input, path)?;
        let mut opened = input.open(self.config.limits)?;
        let replace = match self.outputs.output_state(path, input, &mut opened, salt)? {
            OutputState::UpToDate(status) => return Ok(FileReport::up_to_date(status)),
            OutputState::Open(replace) => replace,
        };
        self.warn_if_shrunk(replace, input, path);
        let mode = opened.mode();
        let staged = &self.staged(session.clone())?;
        let redactions = &staged.redactions;
        self.check_damage(&staged.session, from)?;
        let conversion = self.conversion(from);
        let mut target =
            self.outputs.create_packed(path, mode, self.outputs.write_options.compression)?;
        let mut residue = LazyFile::new(&self.outputs, residue_path(path), mode);
        let mut sidecar = LazyFile::new(&self.outputs, sidecar_path(path), mode);
        let mut images = Images::new(&self.outputs, path, mode);
        let mut each_image = images.writing();
        let mut derived = Agents::default();
        let may_derive = self.may_derive(from, &ConversionHistory::default());
        let to = Target {
            residue: Some(Sink::Final(&mut residue)),
            sidecar: Some(Sink::Final(&mut sidecar)),
            derived: may_derive.then_some(&mut derived),
            images: receiver(self.config.to, &mut each_image),
            ..Target::of(&mut target)
        };
        let mut report = run_session(&conversion, &staged.session, to)?;
        drop(each_image);
        report.redactions.clone_from(redactions);
        let target = target.finish()?;
        let sidecar = sidecar.finish()?;
        if self.config.verify && self.config.carry != CarryMode::None {
            let mut written =
                Source::new(Opened::new(Snapshot::new(target.reread()?)?, Limits::NONE)?);
            let sidecar = sidecar.as_ref().map(Finished::reread).transpose()?;
            verify(&conversion, &staged.session, &mut written, sidecar)?;
        }
        let mut files: Vec<Finished> = residue.finish()?.into_iter().collect();
        if !derived.is_empty() {
            let events = &mut SessionEvents::new(&staged.session, from);
            let place = (path, mode);
            files.extend(self.write_derived(
                events,
                from,
                derived,
                place,
                &mut images,
                &mut report,
            )?);
        }
        let is_changing = match session.change()? {
            Change::None => false,
            Change::Growth if may_grow => true,
            Change::Growth | Change::Other => return Err(ConvertError::Changing),
        };
        files.extend(sidecar);
        files.push(target);
        let (images, image_paths) = images.finish();
        report.image_files = image_paths;
        let mut records = self.outputs.records(input, &mut opened, (&files, &images), salt)?;
        let mut done = self.done(input, Some(path.display().to_string()), from, report);
        done.name_files(&staged.session);
        done.is_changing = is_changing;
        records.iter_mut().for_each(|record| record.tell(&done));
        self.outputs.publish_from(input, path, PublishSet { files, images, replace, records })?;
        Ok(FileReport::converted(done))
    }

    /// Removes the secrets of a session's files, with `--redact`, in copies.
    pub(super) fn staged(&self, session: Session) -> Result<Staged, ConvertError> {
        let mut redactions = Redactions::default();
        if !self.config.redact.is_wanted {
            return Ok(Staged { session, redactions, _folder: None });
        }
        let search = self.config.redact.search().unwrap_or_default();
        let folder = Scratch::new()?;
        let agents = session.agents().to_vec();
        let mut files = Vec::new();
        for (n, (file, entry)) in
            session.files().iter().zip(&session.manifest().entries).enumerate()
        {
            let copy = folder.path().join(n.to_string());
            redactions.absorb(redact_with(
                search.clone(),
                self.config.formats,
                file.open()?,
                &mut File::create(&copy)?,
            )?);
            let ManifestEntry { kind, name, tool_use, .. } = entry.clone();
            files.push((copy, kind, name, tool_use));
        }
        let session =
            Session::new(&SessionPlace::Stored(Backend::Disk), files)?.called(session.files());
        let session = session.with_agents(agents);
        Ok(Staged { session, redactions, _folder: Some(folder) })
    }

    /// Refuses a session with an unreadable line, with `--strict`.
    pub(super) fn check_damage(
        &self,
        session: &Session,
        from: &Format,
    ) -> Result<(), ConvertError> {
        if !self.config.options.is_strict {
            return Ok(());
        }
        for file in session.files().iter().filter(|file| file.kind != ManifestEntryKind::Side) {
            let mut source = Source::new(file.bytes()?);
            source.set_framing(from.framing);
            if let Some(damage) = first_damage(&mut source)? {
                return Err(ConvertError::Damage(Box::new(damage)));
            }
        }
        Ok(())
    }
}

/// Converts the output back, and compares it with each file of the session.
pub(super) fn verify(
    conversion: &Conversion,
    session: &Session,
    written: &mut Source<Opened>,
    sidecar: Option<impl Read + Send + 'static>,
) -> Result<(), ConvertError> {
    let mut sidecar = sidecar.map(Sidecar::open).transpose()?;
    let back = Conversion { from: conversion.to, to: conversion.from, ..conversion.clone() };
    let mut restored: Vec<Hashing<io::Sink>> =
        session.files().iter().map(|_| Hashing::new(io::sink())).collect();
    if let Some((main, others)) = restored.split_first_mut() {
        let entries = session.manifest().entries.iter().skip(1);
        let mut targets = Vec::new();
        for (entry, sink) in entries.zip(others) {
            let entry = entry.clone();
            targets.push(OtherTarget { entry, agent: None, sink: Some(sink) });
        }
        let others = targets;
        let target = Target { others, ..Target::of(main) };
        let history = back.conversion_history(written, sidecar.as_mut())?;
        back.run_to(written, &history, sidecar, target)?;
    }
    for (file, restored) in session.files().iter().zip(&restored) {
        let mut original = Hashing::new(io::sink());
        file.copy_to(&mut original)?;
        if restored.digest() != original.digest() {
            return Err(ConvertError::NotExact);
        }
    }
    Ok(())
}
