//! Prints a whole session as Markdown. A sub-agent is printed before the result of the tool use
//! that started it, as a quote.
//!
//! ```text
//! ## Assistant
//! > ## Assistant     (a sub-agent)
//! ## User            (the result of the sub-agent)
//! ```

use std::{
    collections::{HashMap, HashSet},
    io::{self, Write},
    path::Path,
};

use core_model::{Agent, Markdown, SessionTree, quoted, shown_time};
use jsonl::Scanner;

use crate::{Entry, Filter, Transcript, open_session_tree};

/// Nesting of sub-agents beyond which they are not printed.
const MAX_DEPTH: usize = 10;

/// Printer of a session with its sub-agents.
#[derive(Clone, Debug, Default)]
pub struct SessionMarkdown<'m> {
    /// How messages are printed.
    pub markdown: Markdown<'m>,
    /// Which entries are printed.
    pub filter: Filter,
    /// Whether to print sub-agents only.
    pub agents_only: bool,
}

impl SessionMarkdown<'_> {
    /// Prints a session, given the path of its main file.
    ///
    /// Sub-agents without a known tool use are printed last. For a sub-agent without a file, a line
    /// names its id.
    ///
    /// # Errors
    ///
    /// Returns an error if a file of the session cannot be read, or `out` cannot be written.
    ///
    /// ```no_run
    /// use format_claude_code::SessionMarkdown;
    ///
    /// let main = "projects/-home-ada-pages/fb02d60f-60fc-4f60-a756-f9afd272cd18.jsonl";
    /// SessionMarkdown::default().print(main.as_ref(), &mut std::io::stdout().lock())?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn print(&self, main: &Path, out: &mut dyn Write) -> io::Result<()> {
        let tree = open_session_tree(main)?;
        let transcript = Transcript::open(main)?;
        header(main, &transcript, out)?;
        let mut printer = Printer::new(self, &tree, out);
        printer.conversation(transcript)?;
        for agent in &tree.agents {
            if !printer.seen.contains(agent.id.as_str()) {
                printer.start(agent, 0)?;
                printer.run()?;
            }
        }
        Ok(())
    }
}

fn header(main: &Path, transcript: &Transcript<'_>, out: &mut dyn Write) -> io::Result<()> {
    let stem = main.file_stem().unwrap_or_default().to_string_lossy();
    let (mut project, mut date) = (None, None);
    let mut entries = transcript.entries();
    while let Some(entry) = entries.next() {
        let cwd = entry.event.context.cwd;
        project = project.or_else(|| cwd.map(|cwd| cwd.decode().into_owned()));
        date = date.or(entry.millis());
        if project.is_some() && date.is_some() {
            break;
        }
    }
    writeln!(out, "# Session Reconstruction\n\n**Session ID:** `{stem}`")?;
    if let Some(project) = project {
        writeln!(out, "**Project:** `{}`", project.replace(['\n', '\r', '`'], " "))?;
    }
    writeln!(out, "**Date:** {}\n\n---\n", shown_time(date))
}

/// A conversation and the next entry of it to print.
struct Frame<'b> {
    transcript: Transcript<'static>,
    next: usize,
    depth: usize,
    agent: Option<&'b Agent>,
    /// Whether the sub-agents that the next entry answers are printed already.
    is_announced: bool,
}

struct Printer<'p, 'b> {
    options: &'p SessionMarkdown<'p>,
    /// The sub-agents by the tool uses that started them.
    agents: HashMap<&'b str, Vec<&'b Agent>>,
    /// The ids of the sub-agents without a file, by the tool uses that started them.
    missing: HashMap<&'b str, Vec<&'b str>>,
    seen: HashSet<&'b str>,
    frames: Vec<Frame<'b>>,
    scanner: Scanner,
    out: &'p mut dyn Write,
}

impl<'p, 'b> Printer<'p, 'b> {
    fn new(
        options: &'p SessionMarkdown<'p>,
        tree: &'b SessionTree,
        out: &'p mut dyn Write,
    ) -> Self {
        let mut agents: HashMap<&str, Vec<&Agent>> = HashMap::new();
        for agent in &tree.agents {
            if let Some(tool_use) = agent.tool_use.as_deref() {
                agents.entry(tool_use).or_default().push(agent);
            }
        }
        let mut missing: HashMap<&str, Vec<&str>> = HashMap::new();
        for agent in &tree.missing {
            missing.entry(&agent.tool_use).or_default().push(&agent.id);
        }
        let (seen, frames) = (HashSet::new(), Vec::new());
        Self { options, agents, missing, seen, frames, scanner: Scanner::default(), out }
    }

    fn conversation(&mut self, transcript: Transcript<'static>) -> io::Result<()> {
        self.frames.push(Frame { transcript, next: 0, depth: 0, agent: None, is_announced: false });
        self.run()
    }

    /// Prints the started conversations to their ends, the most recent first.
    fn run(&mut self) -> io::Result<()> {
        while let Some(mut frame) = self.frames.pop() {
            let Some(entry) = frame.transcript.entry(frame.next, &mut self.scanner) else {
                if frame.agent.is_some() {
                    self.line(&"-".repeat(40), frame.depth.saturating_sub(1))?;
                }
                continue;
            };
            if !std::mem::replace(&mut frame.is_announced, true) {
                let started = tool_uses(&entry);
                let depth = frame.depth;
                if !started.is_empty() {
                    self.frames.push(frame);
                    self.announce(&started, depth)?;
                    continue;
                }
            }
            let mut text = String::new();
            // Clients up to 2.0.28 write sub-agents into the main file.
            let is_inline = frame.agent.is_none() && entry.event.is_sub_agent();
            let depth = frame.depth.saturating_add(usize::from(is_inline));
            if self.options.filter.matches(&entry) && (depth > 0 || !self.options.agents_only) {
                let mode =
                    frame.agent.and_then(|agent| agent.description.as_ref()?.kind.as_deref());
                self.options.markdown.event(&entry.event, depth, mode, &mut text);
            }
            self.out.write_all(text.as_bytes())?;
            frame.next = frame.next.saturating_add(1);
            frame.is_announced = false;
            self.frames.push(frame);
        }
        Ok(())
    }

    /// Starts the sub-agents of tool uses. The first one is printed first.
    fn announce(&mut self, tool_uses: &[String], depth: usize) -> io::Result<()> {
        for tool_use in tool_uses {
            for id in self.missing.remove(tool_use.as_str()).unwrap_or_default() {
                self.line(&format!("--- *Sub-Agent Delegation `{}`* ---", plain(id)), depth)?;
                self.line("(Sub-agent log file not found)", depth)?;
                self.line(&"-".repeat(40), depth)?;
            }
            for agent in self.agents.get(tool_use.as_str()).cloned().unwrap_or_default() {
                if !self.seen.contains(agent.id.as_str()) {
                    // One sub-agent at a time: the entry is visited again, and starts the next one.
                    if let Some(frame) = self.frames.last_mut() {
                        frame.is_announced = false;
                    }
                    return self.start(agent, depth);
                }
            }
        }
        Ok(())
    }

    /// Starts a sub-agent that has not been printed. Agents may name each other in a circle.
    fn start(&mut self, agent: &'b Agent, depth: usize) -> io::Result<()> {
        if !self.seen.insert(&agent.id) {
            return Ok(());
        }
        self.line(&format!("--- *Sub-Agent Delegation `{}`* ---", plain(&agent.id)), depth)?;
        if depth >= MAX_DEPTH {
            return self.line(&format!("(More than {MAX_DEPTH} sub-agents deep)"), depth);
        }
        let transcript = Transcript::open(&agent.path)?;
        let (depth, agent) = (depth.saturating_add(1), Some(agent));
        self.frames.push(Frame { transcript, next: 0, depth, agent, is_announced: false });
        Ok(())
    }

    fn line(&mut self, line: &str, depth: usize) -> io::Result<()> {
        writeln!(self.out, "{}\n", quoted(line, depth))
    }
}

/// Returns the ids of the tool uses that the results in an entry answer.
fn tool_uses(entry: &Entry<'_>) -> Vec<String> {
    let results = entry.event.message().into_iter().flat_map(|message| message.tool_results());
    results.map(|result| result.tool_use_id.decode().into_owned()).collect()
}

/// Returns an id without characters that would end a code span.
fn plain(id: &str) -> String {
    id.replace(['`', '\n', '\r'], " ")
}
