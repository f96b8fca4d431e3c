//! Converts a source while it is read for the first time.
//!
//! In: the events of a source, by windows. Out: the target, if the source turns out to be what its
//! first window promised; otherwise the survey of the source, and the caller converts it anew.
//!
//! Each window is first surveyed, then written, with the facts so far. The promises are checked after
//! each window, and the plan at the end:
//!
//! - The lines of the file are the conversation in its order: the plan is empty.
//! - No sub-agent is among the messages, or all messages are one's.
//! - The writer would have written the same lines with all facts ([`EventWriter::learn`]). If it was told
//!   that a call has no result, none has come since.
//! - The template has the lines that it would have had.
//! - The bytes that cannot be taken back fit in memory.
//!
//! If the plan hides lines, the facts of the others come from a log ([`FactLog`]), so that the source is read a third
//! time only if there were too many events for the log.
//!
//! [`FactLog`]: core_model::FactLog
//! [`EventWriter::learn`]: core_model::EventWriter::learn

use std::{
    cell::Cell,
    io::{self, Write},
};

use crate::{
    carry::{Manifest, UnusedCarries},
    pipeline::{
        Conversion,
        engine::Engine,
        report::Report,
        second_pass::{AgentEngines, SecondPass},
        sink::{MAX_HELD_SOURCE, Sink, Trial},
        survey::{Events, Survey, Surveyor},
    },
};

/// The result of an attempt to convert a source in one pass.
pub(super) enum OnePass {
    /// The target is written.
    Done(Box<Report>),
    /// A promise was broken. The sinks are empty again.
    Failed(Box<Survey>),
    /// The source was not read.
    NotTried,
}

/// The sinks of a source that is not restored.
pub(super) struct Sinks<'w> {
    pub(super) main: Sink<'w>,
    pub(super) sidecar: Option<Sink<'w>>,
    pub(super) residue: Option<Sink<'w>>,
}

impl<'w> Sinks<'w> {
    fn each(&mut self) -> impl Iterator<Item = &mut Sink<'w>> {
        let Self { main, sidecar, residue } = self;
        [Some(main), sidecar.as_mut(), residue.as_mut()].into_iter().flatten()
    }
}

/// The parts of a target beside its sinks.
pub(super) struct Extras<'e> {
    pub(super) agent: Option<&'e str>,
    pub(super) session_start: Option<&'e str>,
    pub(super) manifest: Option<&'e Manifest>,
    pub(super) unused: UnusedCarries,
}

impl Conversion {
    /// Converts a source while it is read for the first time.
    pub(super) fn one_pass(
        &self,
        events: &mut dyn Events,
        sinks: &mut Sinks<'_>,
        extras: &Extras<'_>,
    ) -> io::Result<OnePass> {
        if !(self.from.is_linear && self.to.learns && events.has_windows()) {
            return Ok(OnePass::NotTried);
        }
        let is_held = sinks.each().any(|sink| sink.is_final());
        if is_held && events.size()? > MAX_HELD_SOURCE {
            return Ok(OnePass::NotTried);
        }
        let mut surveyor = Surveyor::new(self, events.other_files());
        if let Some(report) = self.attempt(events, &mut surveyor, sinks, extras)? {
            return Ok(OnePass::Done(Box::new(report)));
        }
        sinks.each().try_for_each(Sink::retract)?;
        surveyor.finish(events).map(|survey| OnePass::Failed(Box::new(survey)))
    }

    /// Surveys a source, and writes it as long as no promise is broken. Returns the report if none
    /// was.
    fn attempt(
        &self,
        events: &mut dyn Events,
        surveyor: &mut Surveyor<'_>,
        sinks: &mut Sinks<'_>,
        extras: &Extras<'_>,
    ) -> io::Result<Option<Report>> {
        let is_full = Cell::new(false);
        let Sinks { main, sidecar, residue } = sinks;
        let mut main = Trial::new(main.reborrow(), &is_full);
        let mut sidecar = sidecar.as_mut().map(|sink| Trial::new(sink.reborrow(), &is_full));
        let mut residue = residue.as_mut().map(|sink| Trial::new(sink.reborrow(), &is_full));
        let mut unused = Some((&mut main, sidecar.as_mut(), residue.as_mut()));
        let (mut pass, mut n_samples) = (None, 0);
        events.for_each_window(&mut |window| {
            window.for_each(&mut |line, event| {
                surveyor.observe(line, event);
                true
            })?;
            if let Some((main, sidecar, residue)) = unused.take() {
                n_samples = surveyor.n_samples();
                if let Some(survey) = surveyor.so_far() {
                    let mut begun = self.begin(survey, main, extras);
                    if let Some(sidecar) = sidecar {
                        begun.set_sidecar(sidecar);
                    }
                    begun.set_residue(residue.map(|residue| residue as &mut dyn Write));
                    pass = Some(begun);
                }
            }
            // After a broken promise, the rest of the source is only surveyed.
            pass = pass.take().filter(|_| {
                surveyor.is_simple() && surveyor.n_samples() == n_samples && !is_full.get()
            });
            let Some(writing) = &mut pass else { return Ok(true) };
            let facts = surveyor.shown_facts();
            if facts.is_refuted() || !writing.learn(facts) {
                pass = None;
                return Ok(true);
            }
            let mut result = Ok(());
            window.for_each(&mut |line, event| {
                result = writing.line(line, event);
                result.is_ok()
            })?;
            result.map(|()| true)
        })?;
        surveyor.shown_facts().set_incomplete(false);
        let Some(pass) = pass.filter(|_| surveyor.plan().is_empty()) else { return Ok(None) };
        events.release();
        let report = pass.finish()?;
        if is_full.get() {
            return Ok(None);
        }
        for trial in [residue, sidecar, Some(main)].into_iter().flatten() {
            trial.accept()?;
        }
        Ok(Some(report))
    }

    /// Creates the pass that writes.
    fn begin<'w>(
        &self,
        mut survey: Survey,
        main: &'w mut dyn Write,
        extras: &Extras<'_>,
    ) -> Box<SecondPass<'w>> {
        survey.facts.agent = extras.agent.map(str::to_owned);
        survey.facts.session_start = extras.session_start.map(str::to_owned);
        let mut engine =
            Engine::new(self.from, self.to, &self.options, self.carry, &mut survey, main);
        if let Some(manifest) = extras.manifest {
            engine.set_manifest(manifest);
        }
        let others = (Vec::new(), AgentEngines::new(self, None));
        let pass = SecondPass::new(engine, survey, self.from, &[], None, others, extras.manifest);
        Box::new(pass.counting_carries(extras.unused.clone()))
    }
}

#[cfg(test)]
mod tests {
    use core_model::{Format, Formats, Options};

    use super::*;
    use crate::{
        Retract, Source, Target,
        pipeline::{engine::CarryMode, survey::EachEvent},
    };

    static FORMATS: Formats = Formats::new(&[
        &format_claude_code::FORMAT,
        &format_clido::FORMAT,
        &format_sdk_stream::DUMP,
        &format_sdk_stream::WIRE,
    ]);

    /// Bytes, and how often they were taken back.
    #[derive(Default)]
    struct Bytes {
        bytes: Vec<u8>,
        n_retracted: u32,
    }

    impl Write for Bytes {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.bytes.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Retract for Bytes {
        fn retract(&mut self) -> io::Result<()> {
            self.bytes.clear();
            self.n_retracted += 1;
            Ok(())
        }
    }

    fn sink(bytes: &mut Bytes, is_final: bool) -> Sink<'_> {
        match is_final {
            true => Sink::Final(bytes),
            false => Sink::Retractable(bytes),
        }
    }

    /// Events that have no windows, so that they are read twice.
    struct Whole<'e>(&'e mut dyn Events);

    impl Events for Whole<'_> {
        fn for_each(&mut self, each: &mut EachEvent<'_>) -> io::Result<()> {
            self.0.for_each(each)
        }
    }

    /// A reader that counts how often it is read from the start.
    struct Rewound<'s>(io::Cursor<&'s [u8]>, u32);

    impl io::Read for Rewound<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.1 += u32::from(self.0.position() == 0);
            self.0.read(buffer)
        }
    }

    impl io::Seek for Rewound<'_> {
        fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
            self.0.seek(to)
        }
    }

    const MODES: [CarryMode; 3] = [CarryMode::None, CarryMode::Inline, CarryMode::Sidecar];

    /// Converts a source in one pass and in two, and compares the bytes and the reports. Returns how
    /// often the output was taken back, and how often the source was read.
    fn tries(
        source: &str,
        from: &'static Format,
        to: &'static Format,
        carry: CarryMode,
    ) -> [u32; 2] {
        let conversion =
            Conversion { formats: FORMATS, from, to, carry, options: Options::default() };
        let convert = |n_scanners: usize, is_whole: bool, is_final: bool| {
            let [mut main, mut sidecar, mut residue] = [(); 3].map(|()| Bytes::default());
            let target = Target {
                sidecar: Some(sink(&mut sidecar, is_final)),
                residue: Some(sink(&mut residue, is_final)),
                ..Target::new(sink(&mut main, is_final))
            };
            let reader = Rewound(io::Cursor::new(source.as_bytes()), 0);
            let mut read = Source::new(reader).with_scanners(n_scanners);
            let report = read.with_events(from, |events| match is_whole {
                true => conversion.run_events(&mut Whole(events), target),
                false => conversion.run_events(events, target),
            });
            let report = format!("{:?}", report.expect("memory"));
            let n_tries = [main.n_retracted, read.reader().1];
            (main.bytes, sidecar.bytes, residue.bytes, report, n_tries)
        };
        let (main, sidecar, residue, report, n_tries) = convert(0, false, false);
        for (n_scanners, is_whole, is_final) in
            [(0, true, false), (0, false, true), (1, false, false), (2, false, false)]
        {
            let other = convert(n_scanners, is_whole, is_final);
            let what = (to.name, carry, n_scanners, is_whole, is_final);
            assert!(!main.is_empty() && other.0 == main, "{what:?}");
            assert_eq!((other.1, other.2, &other.3), (sidecar.clone(), residue.clone(), &report));
        }
        n_tries
    }

    /// Returns how often the output of a transcript is taken back, which is the same for all carries.
    fn retracted(lines: &[String]) -> u32 {
        let source = lines.concat();
        let of = |carry| tries(&source, &format_claude_code::FORMAT, &format_clido::FORMAT, carry);
        let [n_tries, others @ ..] = MODES.map(of);
        assert_eq!(others, [n_tries; 2]);
        assert_eq!(n_tries[1], n_tries[0] + 1, "no line is read more often than it is written");
        n_tries[0]
    }

    /// Returns a line of a transcript with a message.
    fn line(id: &str, parent: &str, role: &str, content: &str, more: &str) -> String {
        let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
        let (fill, response) = ("fill ".repeat(100), format!("\"id\":\"m{id}\","));
        let response = if role == "assistant" { &*response } else { "" };
        format!(
            "{{\"type\":\"{role}\",\"uuid\":\"{id}\",\"parentUuid\":{parent},\"sessionId\":\"s\",\
             \"timestamp\":\"2026-01-01T10:00:00.000Z\"{more},\"message\":{{{response}\
             \"role\":\"{role}\",\"content\":{content}}},\"slug\":\"{fill}\"}}\n"
        )
    }

    const CWD: &str = ",\"cwd\":\"/p\",\"version\":\"2\"";

    /// Returns prompts and responses, each of which follows the one before it.
    fn chain(n_lines: usize) -> Vec<String> {
        let id = |n: usize| n.checked_sub(1).map_or(String::new(), |n| n.to_string());
        let role = |n: usize| if n.is_multiple_of(2) { "user" } else { "assistant" };
        let text = |n| format!("[{{\"type\":\"text\",\"text\":\"{n}\"}}]");
        (0..n_lines).map(|n| line(&n.to_string(), &id(n), role(n), &text(n), CWD)).collect()
    }

    #[test]
    fn a_linear_source_is_read_once() {
        assert_eq!(retracted(&chain(40)), 0);
        // One window.
        assert_eq!(retracted(&chain(2)), 0);
    }

    #[test]
    fn a_hidden_line_and_a_late_line_start_a_second_pass() {
        let mut lines = chain(40);
        let other = "[{\"type\":\"text\",\"text\":\"regretted\"}]";
        lines.insert(30, line("x", "28", "assistant", other, CWD));
        assert_eq!(retracted(&lines), 1);
        let mut lines = chain(40);
        lines.swap(30, 31);
        assert_eq!(retracted(&lines), 1);
    }

    #[test]
    fn messages_that_come_late_start_no_third_pass() {
        let id = |n: usize| n.checked_sub(1).map_or(String::new(), |n| format!("a{n}"));
        let text = "[{\"type\":\"text\",\"text\":\"left\"}]";
        let mut lines: Vec<String> =
            (0..20).map(|n| line(&id(n + 1), &id(n), "user", text, CWD)).collect();
        // It is in no branch, and has the first values of the session.
        let progress = format!(
            "{{\"type\":\"progress\",\"sessionId\":\"s\",\"timestamp\":\"2026-01-01T10:00:00.000Z\"{CWD}}}\n"
        );
        lines.insert(0, progress);
        assert_eq!(retracted(&[&lines[..], &chain(40)].concat()), 1);
        // No prompt comes, so that the writer makes one up.
        let id = |n: usize| n.checked_sub(1).map_or(String::new(), |n| n.to_string());
        let responses = (0..40).map(|n| line(&id(n + 1), &id(n), "assistant", text, CWD));
        lines.extend(responses);
        assert_eq!(retracted(&lines), 1);
    }

    #[test]
    fn a_hidden_line_is_read_twice_for_a_writer_that_does_not_learn() {
        let mut lines = chain(40);
        lines.insert(30, line("x", "28", "assistant", "[]", CWD));
        for to in [&format_sdk_stream::DUMP, &format_sdk_stream::WIRE] {
            for carry in MODES {
                let n_tries = tries(&lines.concat(), &format_claude_code::FORMAT, to, carry);
                assert_eq!(n_tries, [0, 2], "{} {carry:?}", to.name);
            }
        }
    }

    #[test]
    fn a_result_that_was_denied_starts_a_second_pass() {
        let call = "[{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"Read\",\"input\":{}}]";
        let result = "[{\"type\":\"tool_result\",\"tool_use_id\":\"t\",\"content\":\"found\"}]";
        let mut lines = chain(40);
        lines[1] = line("1", "0", "assistant", call, CWD);
        assert_eq!(retracted(&lines), 0, "no result comes");
        lines[30] = line("30", "29", "user", result, CWD);
        assert_eq!(retracted(&lines), 1);
        let mut lines = chain(40);
        lines[2] = line("2", "1", "user", result, CWD);
        assert_eq!(retracted(&lines), 0, "no call comes");
        lines[31] = line("31", "30", "assistant", call, CWD);
        assert_eq!(retracted(&lines), 1);
    }

    #[test]
    fn a_first_value_that_comes_late_starts_a_second_pass() {
        let without: Vec<String> = chain(40).iter().map(|line| line.replace(CWD, "")).collect();
        assert_eq!(retracted(&without), 0);
        for member in [",\"cwd\":\"/p\"", ",\"version\":\"2\""] {
            let mut lines = without.clone();
            lines[30] = lines[30].replace(",\"message\"", &format!("{member},\"message\""));
            assert_eq!(retracted(&lines), 1, "{member}");
        }
        let relocated = "{\"type\":\"relocated\",\"relocatedCwd\":\"/q\",\"sessionId\":\"s\"}\n";
        let mut lines = chain(40);
        lines.insert(30, relocated.to_owned());
        assert_eq!(retracted(&lines), 1);
    }

    #[test]
    fn a_title_that_changes_starts_a_second_pass() {
        let title = |text: &str| {
            format!("{{\"type\":\"ai-title\",\"aiTitle\":\"{text}\",\"sessionId\":\"s\"}}\n")
        };
        let mut lines = chain(40);
        lines.insert(30, title("one"));
        assert_eq!(retracted(&lines), 0);
        lines.insert(2, title("one"));
        assert_eq!(retracted(&lines), 0);
        lines.insert(36, title("two"));
        assert_eq!(retracted(&lines), 1);
    }

    #[test]
    fn the_messages_are_the_sessions_own_or_all_are_a_sub_agents() {
        let aside = |line: &String| {
            line.replace(",\"message\"", ",\"isSidechain\":true,\"agentId\":\"a\",\"message\"")
        };
        let mut lines: Vec<String> = chain(40).iter().map(aside).collect();
        assert_eq!(retracted(&lines), 0);
        let own = chain(40);
        lines[30].clone_from(&own[30]);
        let n_tries = tries(
            &lines.concat(),
            &format_claude_code::FORMAT,
            &format_clido::FORMAT,
            CarryMode::Inline,
        );
        assert_eq!(n_tries[0], 1);
        let mut lines = own;
        lines[30] = aside(&lines[30]);
        let n_tries = tries(
            &lines.concat(),
            &format_claude_code::FORMAT,
            &format_clido::FORMAT,
            CarryMode::Inline,
        );
        assert_eq!(n_tries[0], 1);
    }

    #[test]
    fn a_carry_needs_both_lines_of_its_template() {
        let text = "[{\"type\":\"text\",\"text\":\"more\"}]";
        let mut lines = chain(40);
        for (n, prompt) in lines.iter_mut().enumerate().take(20).skip(1) {
            *prompt = line(&n.to_string(), &(n - 1).to_string(), "user", text, CWD);
        }
        let source = lines.concat();
        let of = |carry| tries(&source, &format_claude_code::FORMAT, &format_clido::FORMAT, carry);
        assert_eq!(MODES.map(of), [[0, 1], [1, 2], [1, 2]]);
    }

    #[test]
    fn a_source_without_messages_at_its_start_is_read_twice() {
        let mut lines = chain(40);
        let snapshot = format!(
            "{{\"type\":\"file-history-snapshot\",\"messageId\":\"{}\"}}\n",
            "m".repeat(8_080)
        );
        lines.insert(0, snapshot);
        assert_eq!(retracted(&lines), 1);
    }

    #[test]
    fn damaged_lines_are_no_reason_for_a_second_pass() {
        let mut lines = chain(40);
        lines[7] = "{\"type\":\"user\",\"uu".to_owned() + &lines[7];
        lines.insert(30, "torn\n".to_owned());
        assert_eq!(retracted(&lines), 0);
    }

    #[test]
    fn bytes_that_cannot_be_taken_back_are_held_up_to_a_limit() {
        let words = "words ".repeat(1_000);
        let text = format!("[{{\"type\":\"text\",\"text\":\"{words}\"}}]");
        let lines: Vec<String> = (0..18usize)
            .map(|n| {
                let parent = n.checked_sub(1).map_or(String::new(), |n| n.to_string());
                line(&n.to_string(), &parent, "user", &text, CWD)
            })
            .collect();
        // Each source is read twice if its sink is final, and the bytes are the same.
        assert_eq!(retracted(&lines), 0);
        assert_eq!(retracted(&lines[..8]), 0);
    }

    #[test]
    fn a_writer_that_does_not_learn_is_not_called_early() {
        let source = chain(40).concat();
        for to in [&format_sdk_stream::DUMP, &format_sdk_stream::WIRE] {
            for carry in MODES {
                let n_tries = tries(&source, &format_claude_code::FORMAT, to, carry);
                assert_eq!(n_tries, [0, 2]);
            }
        }
    }
}
