//! Prints a session that is still being written.

use std::{
    io::{self, Write},
    ops::ControlFlow,
    path::Path,
    thread,
    time::Duration,
};

use archive::Status;
use conversion::{Recovery, is_damage};
use core_model::{Answers, Follower, Format};
use jsonl::{Line, Scanner, Value};
use sessions::{Filter, Redact, format_of};

use super::{Args, Shower};
use crate::{
    FORMATS,
    commands::export::damage::{Damage, DamageRun},
    interrupt::is_interrupted,
    terminal::stdout::stdout,
};

/// The interval between two looks at the file.
const PAUSE: Duration = Duration::from_millis(250);

/// Prints the lines of a file, and new ones until the user stops it.
pub(super) fn run(args: &Args, filter: &Filter, path: &Path) -> io::Result<Status> {
    let mut follower = Follower::new(path);
    let mut out = stdout();
    let mut shower = None;
    let (mut scanner, mut answers) = (Scanner::default(), Answers::default());
    let (mut search, mut redacted) = (Redact::from(args.redact).search(), Vec::new());
    while !is_interrupted() {
        // The format is detected from the first lines; before there are any, nothing is printed.
        let format = match shower.as_ref() {
            Some((format, _)) => Some(*format),
            None => format(args, path)?,
        };
        if let Some(format) = format {
            if format.framing.is_document() {
                let message = format!(
                    "a {} session is written anew as a whole: only files of lines can be followed (show it without --follow)",
                    format.name
                );
                return Err(io::Error::other(message));
            }
            let (_, shower) =
                shower.get_or_insert_with(|| (format, Shower::new(args, filter, format)));
            let (mut text, mut result) = (Vec::new(), Ok(ControlFlow::Continue(())));
            let mut damage = DamageRun::default();
            let followed = follower.poll(&mut |place, line| {
                if !matches!(result, Ok(ControlFlow::Continue(()))) {
                    return;
                }
                let line = match &mut search {
                    Some(search) => {
                        redacted.clear();
                        search.redact(line, &mut redacted, &mut |_| {});
                        Line::new(&redacted, line.offset())
                    }
                    None => Line::new(line.bytes(), line.offset()),
                };
                let read = (format, &mut scanner, &mut answers);
                result = show(shower, read, (place.line, &line), &mut damage, &mut text);
            })?;
            // Later lines may take long to come, so a run of damaged ones ends here.
            damage.end(&mut |what, _| shower.page.damage(what, &mut text))?;
            if followed.is_restarted {
                shower.page.damage("the file was cut or replaced: from its start", &mut out)?;
            }
            out.write_all(&text)?;
            out.flush()?;
            if result?.is_break() {
                return Ok(Status::Done);
            }
        }
        thread::sleep(PAUSE);
    }
    Ok(Status::Done)
}

fn show(
    shower: &mut Shower<'_>,
    (format, scanner, answers): (&'static Format, &mut Scanner, &mut Answers),
    (number, line): (u64, &Line<'_>),
    damage: &mut DamageRun,
    out: &mut dyn Write,
) -> io::Result<ControlFlow<()>> {
    let mut result = Ok(ControlFlow::Continue(()));
    let mut take = |line: &Line<'_>, value: jsonl::Result<Value<'_>>| {
        match value {
            Ok(value) => {
                if let Some(error) = value.unread(line)
                    && let Err(error) = shower.page.damage(&error.to_string(), out)
                {
                    result = Err(error);
                    return false;
                }
                format.for_each_event(value, |event| {
                    if let Err(error) =
                        damage.end_before(event, &mut |what, _| shower.page.damage(what, out))
                    {
                        result = Err(error);
                        return false;
                    }
                    result = match answers.answer_of(event) {
                        Some(answer) => match shower.event(&answer, out) {
                            Ok(ControlFlow::Continue(())) => shower.event(event, out),
                            result => result,
                        },
                        None => shower.event(event, out),
                    };
                    matches!(result, Ok(ControlFlow::Continue(())))
                });
            }
            Err(error) if is_damage(error) => {
                let line = Damage { file: None, number, error };
                result = damage
                    .push(line, &mut |what, _| shower.page.damage(what, out))
                    .map(ControlFlow::Continue);
            }
            Err(_) => {}
        }
        matches!(result, Ok(ControlFlow::Continue(())))
    };
    Recovery::new(&[format]).line(line, scanner.scan(line), &mut take);
    result
}

/// Returns the format of `--from`, or the detected one; `None` before there is a complete line.
fn format(args: &Args, path: &Path) -> io::Result<Option<&'static Format>> {
    if let Some(format) = args.reading.format() {
        return Ok(Some(format));
    }
    let mut head = Vec::new();
    Follower::new(path).poll(&mut |_, line| {
        if head.len() < 1024 * 1024 {
            head.extend_from_slice(line.bytes());
        }
    })?;
    let is_blank = jsonl::lines(&head).all(|line| line.is_blank());
    if is_blank {
        return Ok(None);
    }
    format_of(FORMATS, &head).map(Some).map_err(io::Error::other)
}
