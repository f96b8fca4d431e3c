//! Finding the files of a session, and the evidence in them.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
};

use jsonl::{Scanner, Stream};

use super::{Agent, Bundle, Bundles, Evidence, FileRole, Link, Linked, Missing};
use crate::{Block, Content, Disk, Event, Files, Format, Role};

/// The bytes of a description that are read.
const MAX_DESCRIPTION: u64 = 64 * 1024;

impl Bundles {
    /// Returns the files that belong to a main file, in the order of their names: those in the
    /// folder of its name, and those beside it. Links are not followed.
    ///
    /// # Errors
    ///
    /// Those of reading the folders.
    pub fn files(&self, main: &Path) -> io::Result<Vec<(PathBuf, FileRole)>> {
        let mut files = Vec::new();
        let beside = match main.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let mut folders = vec![main.with_extension("")];
        self.add_files(beside, main, &mut files, None)?;
        while let Some(folder) = folders.pop() {
            self.add_files(&folder, main, &mut files, Some(&mut folders))?;
        }
        files.sort_by(|(one, _), (other, _)| one.cmp(other));
        Ok(files)
    }

    fn add_files(
        &self,
        folder: &Path,
        main: &Path,
        files: &mut Vec<(PathBuf, FileRole)>,
        mut folders: Option<&mut Vec<PathBuf>>,
    ) -> io::Result<()> {
        let entries = match fs::read_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            // The main file's name may have no ending, and so be that of the folder.
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Ok(()),
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            let kind = entry.file_type()?;
            // Beside a file that is named without a folder, names have none either.
            let path = match main.parent() {
                Some(parent) if parent == folder => parent.join(entry.file_name()),
                Some(parent) if parent.as_os_str().is_empty() && folder == Path::new(".") => {
                    PathBuf::from(entry.file_name())
                }
                _ => entry.path(),
            };
            if let (true, Some(folders)) = (kind.is_dir(), &mut folders) {
                folders.push(path);
            } else if kind.is_file()
                && path != main
                && let Some(owner) = (self.owner)(&path, &Disk)
                && owner.main == main
            {
                files.push((path, owner.role));
            }
        }
        Ok(())
    }
}

impl Bundle {
    /// Finds the files of a session and reads them for what links them.
    ///
    /// # Errors
    ///
    /// Those of reading folders and files.
    pub fn open(format: &Format, main: &Path) -> io::Result<Self> {
        let files = match &format.bundles {
            Some(bundles) => bundles.files(main)?,
            None => Vec::new(),
        };
        Self::of_files(format, main, files, &Disk)
    }

    /// Reads the files of a session, opened as it is said, for what links them.
    ///
    /// # Errors
    ///
    /// Those of reading the files.
    pub fn of_files(
        format: &Format,
        main: &Path,
        files: Vec<(PathBuf, FileRole)>,
        opened: &dyn Files,
    ) -> io::Result<Self> {
        let mut bundle = Bundle { main: main.to_owned(), ..Bundle::default() };
        let Some(bundles) = format.bundles else { return Ok(bundle) };
        let mut descriptions = BTreeMap::new();
        for (path, role) in files {
            match role {
                FileRole::Agent(id) => {
                    bundle.agents.push(Agent { id, path, ..Agent::default() });
                }
                FileRole::Description(id) => {
                    let mut bytes = Vec::new();
                    opened.open(&path)?.take(MAX_DESCRIPTION).read_to_end(&mut bytes)?;
                    let folder = path.parent().map(Path::to_owned).unwrap_or_default();
                    if let Some(read) = bundles.description {
                        descriptions.insert((folder, id), read(&bytes));
                    }
                    bundle.side_files.push(path);
                }
                FileRole::Side => bundle.side_files.push(path),
            }
        }
        let mut search = Search { format, bundles, links: BTreeMap::new(), prompts: Vec::new() };
        search.read(opened, main, None)?;
        for (agent_idx, agent) in bundle.agents.iter_mut().enumerate() {
            agent.n_messages = search.read(opened, &agent.path, Some(agent_idx))?;
        }
        for agent in &mut bundle.agents {
            let folder = agent.path.parent().map(Path::to_owned).unwrap_or_default();
            let description = descriptions.remove(&(folder, agent.id.clone()));
            agent.description = description.unwrap_or_default();
            if let Some(tool_use) = agent.description.tool_use.clone() {
                let agent = Linked::Agent(agent.id.clone());
                let evidence = Evidence::Description;
                search.add(None, Link { evidence, agent, tool_use });
            }
        }
        search.resolve(&mut bundle);
        Ok(bundle)
    }
}

/// What the files of a session say of its sub-agents.
struct Search<'f> {
    format: &'f Format,
    bundles: Bundles,
    /// Links, the strongest evidence first, and the sub-agent in whose file each stands first.
    links: BTreeMap<Link, Option<usize>>,
    /// What each sub-agent was asked.
    prompts: Vec<Option<String>>,
}

impl Search<'_> {
    /// Reads a file, the main one or a sub-agent's, and returns the number of its messages.
    fn read(&mut self, opened: &dyn Files, path: &Path, of: Option<usize>) -> io::Result<u64> {
        let mut stream = Stream::new(opened.open(path)?);
        let mut scanner = Scanner::default();
        let mut asked = None;
        let mut n_messages = 0;
        while let Some(line) = stream.next()? {
            let Ok(value) = scanner.scan(&line) else { continue };
            let event = (self.format.read)(value);
            (self.bundles.links)(&event, &mut |link| self.add(of, link));
            n_messages += u64::from(event.message().is_some());
            if of.is_some() && n_messages == 1 && asked.is_none() {
                asked = prompt(&event);
            }
        }
        if of.is_some() {
            self.prompts.push(asked);
        }
        Ok(n_messages)
    }

    fn add(&mut self, of: Option<usize>, link: Link) {
        self.links.entry(link).or_insert(of);
    }

    /// Gives each sub-agent the tool use for which there is the strongest evidence.
    fn resolve(self, bundle: &mut Bundle) {
        let mut parents: Vec<Option<usize>> = vec![None; bundle.agents.len()];
        for (link, of) in &self.links {
            // A tool use starts one sub-agent, though two may have been asked the same.
            let most = if let Linked::Prompt(_) = link.agent { 1 } else { usize::MAX };
            let found: Vec<usize> = (0..bundle.agents.len())
                // What says that it was started stands outside of its own file.
                .filter(|agent_idx| *of != Some(*agent_idx))
                .filter(|agent_idx| self.is_named(bundle, *agent_idx, link))
                .take(most)
                .collect();
            for &agent_idx in &found {
                let agent = &mut bundle.agents[agent_idx];
                let tool_use = agent.tool_use.get_or_insert_with(|| link.tool_use.clone());
                if *tool_use == link.tool_use {
                    agent.evidence.push(link.evidence);
                    agent.evidence.dedup();
                    parents[agent_idx] = parents[agent_idx].or(*of);
                }
            }
            // Words may tell of anything; the client's own records of a sub-agent do not.
            if let (true, Linked::Agent(id)) = (found.is_empty(), &link.agent)
                && matches!(link.evidence, Evidence::Result | Evidence::Progress)
                && !bundle.missing.iter().any(|missing| missing.id == *id)
                && !bundle.agents.iter().any(|agent| agent.id == *id)
            {
                let Link { evidence, tool_use, .. } = link.clone();
                bundle.missing.push(Missing { id: id.clone(), tool_use, evidence });
            }
        }
        for (agent_idx, parent) in parents.into_iter().enumerate() {
            bundle.agents[agent_idx].parent = parent.map(|of| bundle.agents[of].id.clone());
        }
    }

    /// Returns whether a link names a sub-agent.
    fn is_named(&self, bundle: &Bundle, agent_idx: usize, link: &Link) -> bool {
        let agent = &bundle.agents[agent_idx];
        match &link.agent {
            Linked::Agent(id) => agent.id == *id,
            Linked::Folder(name) => {
                let folder = agent.path.parent().and_then(Path::file_name);
                folder.is_some_and(|folder| folder == name.as_str())
            }
            Linked::Prompt(prompt) => {
                let of_link = |agent: &Agent| agent.tool_use.as_ref() == Some(&link.tool_use);
                let is_free = match &agent.tool_use {
                    Some(_) => of_link(agent),
                    None => !bundle.agents.iter().any(of_link),
                };
                is_free && self.prompts.get(agent_idx).and_then(Option::as_ref) == Some(prompt)
            }
        }
    }
}

/// Returns what a sub-agent was asked, if its first message says so.
fn prompt(event: &Event<'_>) -> Option<String> {
    let message = event.message().filter(|message| message.role == Role::User)?;
    match message.content {
        Content::Text(text) => Some(text.decode().into_owned()),
        _ => message.blocks().find_map(|(block, _)| match block {
            Block::Text(text) => Some(text.decode().into_owned()),
            _ => None,
        }),
    }
}
