//! Finds the files of a session and the links between them.

use std::{
    collections::BTreeMap,
    io::{self, Read},
    path::{Path, PathBuf},
    sync::Arc,
};

use jsonl::{Scanner, Stream};

use super::{
    Agent, Evidence, FileRole, Layout, LayoutFile, Link, Linked, SessionTree, search::Search,
};
use crate::{Disk, Event, Files, FolderEntry, Format, folder_entries};

/// Limit in bytes for reading a description.
const MAX_DESCRIPTION: u64 = 64 * 1024;

impl Layout {
    /// Returns the files that belong to a main file, in the order of their names: those in the
    /// folder of its name, and those beside it. Links are not followed.
    ///
    /// # Errors
    ///
    /// Returns an error if a folder cannot be read.
    pub fn files(&self, main: &Path) -> io::Result<Vec<LayoutFile>> {
        self.files_listed(main, &mut |folder| folder_entries(folder).map(Arc::new))
    }

    /// Returns the files that belong to a main file, as [`Layout::files`] does. `list` returns the
    /// entries of a folder; several layouts may share them.
    ///
    /// # Errors
    ///
    /// Returns an error if `list` fails, except for missing folders.
    pub fn files_listed(
        &self,
        main: &Path,
        list: &mut dyn FnMut(&Path) -> io::Result<Arc<Vec<FolderEntry>>>,
    ) -> io::Result<Vec<LayoutFile>> {
        let mut files = Vec::new();
        let beside = folder_of(main);
        let mut folders = vec![main.with_extension("")];
        self.add_files(beside, list(beside), main, &mut files, None)?;
        while let Some(folder) = folders.pop() {
            self.add_files(&folder, list(&folder), main, &mut files, Some(&mut folders))?;
        }
        files.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(files)
    }

    fn add_files(
        &self,
        folder: &Path,
        entries: io::Result<Arc<Vec<FolderEntry>>>,
        main: &Path,
        files: &mut Vec<LayoutFile>,
        mut folders: Option<&mut Vec<PathBuf>>,
    ) -> io::Result<()> {
        let entries = match entries {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            // A main file without an extension has the name that the folder would have.
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Ok(()),
            entries => entries?,
        };
        // Names are compared as bytes: a path is compared component by component.
        let own = if folders.is_none() { main.file_name() } else { None };
        for FolderEntry { name, is_folder, is_file } in entries.iter() {
            if !is_file && (!is_folder || folders.is_none()) || own == Some(&**name) {
                continue;
            }
            // If the main file's path has no folder, the other paths have none either.
            let path = match main.parent() {
                Some(parent) if parent.as_os_str().is_empty() && folder == Path::new(".") => {
                    PathBuf::from(name)
                }
                _ => folder.join(name),
            };
            if let (true, Some(folders)) = (*is_folder, &mut folders) {
                folders.push(path);
            } else if *is_file
                && let Some(owner) = (self.owner)(&path, &Disk)
                && owner.main == main
            {
                files.push(LayoutFile { path, role: owner.role });
            }
        }
        Ok(())
    }
}

/// Returns the folder of a main file: `.` for a path of one name.
pub fn folder_of(main: &Path) -> &Path {
    main.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

impl SessionTree {
    /// Finds the files of a session and the links between them.
    ///
    /// # Errors
    ///
    /// Returns an error if a folder or a file cannot be read.
    pub fn open(format: &Format, main: &Path) -> io::Result<Self> {
        let files = match &format.layout {
            Some(layout) => layout.files(main)?,
            None => Vec::new(),
        };
        Self::of_files(format, main, files, &Disk)
    }

    /// Reads the files of a session through `opened`, and finds the links between them.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be read.
    pub fn of_files(
        format: &Format,
        main: &Path,
        files: Vec<LayoutFile>,
        opened: &dyn Files,
    ) -> io::Result<Self> {
        let mut tree = SessionTree { main: main.to_owned(), ..SessionTree::default() };
        let Some(layout) = format.layout else { return Ok(tree) };
        let mut descriptions = BTreeMap::new();
        let is_agent = |file: &&LayoutFile| matches!(file.role, FileRole::Agent(_));
        let n_agents = files.iter().filter(is_agent).count();
        tree.agents.reserve_exact(n_agents);
        tree.side_files.reserve_exact(files.len() - n_agents);
        for LayoutFile { path, role } in files {
            match role {
                FileRole::Agent(id) => {
                    tree.agents.push(Agent { id, path, ..Agent::default() });
                }
                FileRole::Description(id) => {
                    let mut bytes = Vec::new();
                    opened.open(&path)?.take(MAX_DESCRIPTION).read_to_end(&mut bytes)?;
                    let folder = path.parent().map(Path::to_owned).unwrap_or_default();
                    if let Some(read) = layout.description {
                        descriptions.insert((folder, id), read(&bytes));
                    }
                    tree.side_files.push(path);
                }
                FileRole::Side => tree.side_files.push(path),
            }
        }
        let mut search = Search::new(layout);
        read(format, opened.open(main)?, &mut |event| search.observe(None, event))?;
        for (agent_idx, agent) in tree.agents.iter_mut().enumerate() {
            read(format, opened.open(&agent.path)?, &mut |event| {
                agent.n_messages += u64::from(event.message().is_some());
                search.observe(Some(agent_idx), event);
            })?;
        }
        for agent in &mut tree.agents {
            let folder = agent.path.parent().map(Path::to_owned).unwrap_or_default();
            let description = descriptions.remove(&(folder, agent.id.clone()));
            if let Some(tool_use) = description.as_ref().and_then(|it| it.tool_use.clone()) {
                let agent = Linked::Agent(agent.id.clone());
                let evidence = Evidence::Description;
                search.add(None, Link { evidence, agent, tool_use });
            }
            agent.description = description.map(Box::new);
        }
        search.resolve(&mut tree);
        Ok(tree)
    }
}

/// Calls `each` with the event of each JSON line of a file.
fn read(
    format: &Format,
    file: Box<dyn Read + Send>,
    each: &mut dyn FnMut(&Event<'_>),
) -> io::Result<()> {
    let mut stream = Stream::new(file);
    let mut scanner = Scanner::default();
    while let Some(line) = stream.next()? {
        if let Ok(value) = scanner.scan(&line) {
            format.for_each_event(value, |event| {
                each(event);
                true
            });
        }
    }
    Ok(())
}
