//! Says which lines of a session cannot be read.
//!
//! In: lines 2 to 9, which are damaged. Out: `line 2: byte 7: unexpected end of line`, and `lines 3 to 9: 7 such lines;
//! the first of them: byte 9: unexpected end of line`.

use std::{fmt, io};

use core_model::{Body, Event};

/// The place and the error of an unreadable line.
#[derive(Clone, Copy, Debug)]
pub(in crate::commands) struct Damage<'r> {
    /// The file of the sub-agent with the line; `None` for the main file.
    pub(in crate::commands) file: Option<&'r str>,
    pub(in crate::commands) number: u64,
    pub(in crate::commands) error: jsonl::Error,
}

impl fmt::Display for Damage<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, number, error } = self;
        match file {
            Some(file) => write!(f, "{file}, line {number}: {error}"),
            None => write!(f, "line {number}: {error}"),
        }
    }
}

/// Unreadable lines without a message between them. The first is printed at once, and the others together, because
/// the words about a line of two bytes have 80.
#[derive(Debug, Default)]
pub(in crate::commands) struct DamageRun {
    /// The file of the first line; `None` before there is one.
    file: Option<Option<Box<str>>>,
    rest: Option<Rest>,
}

/// Prints words about a number of unreadable lines.
type Print<'p> = dyn FnMut(&str, u64) -> io::Result<()> + 'p;

/// The lines of a run after its first one.
#[derive(Debug)]
struct Rest {
    n_lines: u64,
    first: u64,
    last: u64,
    error: jsonl::Error,
}

impl DamageRun {
    /// Adds a line. Calls `print` with the words to print now, if there are any.
    pub(in crate::commands) fn push(
        &mut self,
        damage: Damage<'_>,
        print: &mut Print<'_>,
    ) -> io::Result<()> {
        let Damage { file, number, error } = damage;
        if self.file.as_ref().is_none_or(|known| known.as_deref() != file) {
            self.end(print)?;
            self.file = Some(file.map(Into::into));
            return print(&damage.to_string(), 1);
        }
        let rest = self.rest.get_or_insert(Rest { n_lines: 0, first: number, last: number, error });
        rest.n_lines += 1;
        rest.last = number;
        Ok(())
    }

    /// Ends the run if an event may be printed after it.
    pub(in crate::commands) fn end_before(
        &mut self,
        event: &Event<'_>,
        print: &mut Print<'_>,
    ) -> io::Result<()> {
        if matches!(event.body, Body::Other) { Ok(()) } else { self.end(print) }
    }

    /// Ends the run. Calls `print` with the words about its other lines, if there are any.
    pub(in crate::commands) fn end(&mut self, print: &mut Print<'_>) -> io::Result<()> {
        let file = self.file.take().flatten();
        let Some(Rest { n_lines, first, last, error }) = self.rest.take() else { return Ok(()) };
        if n_lines == 1 {
            let damage = Damage { file: file.as_deref(), number: first, error };
            return print(&damage.to_string(), 1);
        }
        let of_file = file.map(|file| format!("{file}, ")).unwrap_or_default();
        let what = format!(
            "{of_file}lines {first} to {last}: {n_lines} such lines; the first of them: {error}"
        );
        print(&what, n_lines)
    }
}

#[cfg(test)]
mod tests {
    use jsonl::ErrorKind;

    use super::*;

    fn printed(lines: &[(Option<&str>, u64)]) -> Vec<String> {
        let (mut run, mut printed) = (DamageRun::default(), Vec::new());
        let mut print = |what: &str, _| {
            printed.push(what.to_owned());
            Ok(())
        };
        for &(file, number) in lines {
            let error = jsonl::Error { offset: number * 10, kind: ErrorKind::Empty };
            run.push(Damage { file, number, error }, &mut print).expect("memory");
        }
        run.end(&mut print).expect("memory");
        printed
    }

    #[test]
    fn lines_after_the_first_are_said_together() {
        assert_eq!(printed(&[]), [""; 0]);
        assert_eq!(printed(&[(None, 2)]), ["line 2: byte 20: empty line"]);
        let two = ["line 2: byte 20: empty line", "line 3: byte 30: empty line"];
        assert_eq!(printed(&[(None, 2), (None, 3)]), two);
        let rest = "such lines; the first of them: byte 30: empty line";
        let lines: Vec<_> = [2, 3, 4, 6].map(|number| (None, number)).into();
        assert_eq!(printed(&lines), [two[0].to_owned(), format!("lines 3 to 6: 3 {rest}")]);
        let lines: Vec<_> = [2, 3, 4].map(|number| (Some("a"), number)).into();
        let agent = [format!("a, {}", two[0]), format!("a, lines 3 to 4: 2 {rest}")];
        assert_eq!(printed(&lines), agent);
        // Another file is another run.
        assert_eq!(printed(&[(None, 2), (Some("a"), 2)]), [two[0], &agent[0]]);
    }
}
