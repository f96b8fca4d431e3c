//! Temporary names, which show the process that made them, so that files of dead runs can be
//! removed.
//!
//! In: `a.jsonl`. Out: `.a.jsonl.tmp-PID-BOOT-RANDOM`.

use std::{
    collections::{BTreeSet, hash_map::RandomState},
    ffi::{OsStr, OsString},
    fs,
    hash::BuildHasher,
    io,
    path::Path,
    process,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::{Duration, SystemTime},
};

use crate::{
    folder::{Entry, Folder, Identity},
    interruption::Remembered,
    system::{FileKind, is_alive, uptime},
};

/// Limit on the bytes of a file name, on the file systems that we know.
const MAX_NAME: usize = 255;

/// Older temporary files belong to no running process, whatever their names say.
const MAX_AGE: Duration = Duration::from_secs(24 * 60 * 60);

/// The temporary name of a file, which is removed on drop.
#[derive(Debug)]
pub struct Temporary {
    folder: Arc<Folder>,
    name: OsString,
    remembered: Option<Remembered>,
}

impl Temporary {
    /// Creates a file for `name`, under the name `.NAME.tmp-PID-BOOT-RANDOM`.
    ///
    /// # Errors
    ///
    /// Returns an error if the system does.
    pub fn create(folder: Arc<Folder>, name: &OsStr, mode: u32) -> io::Result<(fs::File, Self)> {
        Self::new(folder.clone(), name, |temporary| folder.make(temporary, mode))
    }

    /// Gives a file a temporary second name.
    ///
    /// # Errors
    ///
    /// Returns `NotFound` if there is no such file, or an error of the system.
    pub fn second(folder: Arc<Folder>, name: &OsStr) -> io::Result<Self> {
        let ((), second) =
            Self::new(folder.clone(), name, |temporary| folder.link(name, temporary))?;
        Ok(second)
    }

    fn new<T>(
        folder: Arc<Folder>,
        name: &OsStr,
        make: impl Fn(&OsStr) -> io::Result<T>,
    ) -> io::Result<(T, Self)> {
        loop {
            let temporary = temporary_name(name, random());
            // Registered before it is created: otherwise an interruption in between would leave the
            // file.
            let remembered = Some(Remembered::new(folder.clone(), temporary.clone()));
            match make(&temporary) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => return Ok((made?, Self { folder, name: temporary, remembered })),
            }
        }
    }

    /// Returns the name.
    pub fn name(&self) -> &OsStr {
        &self.name
    }

    /// Keeps the file on drop, because it has its own name now.
    pub fn keep(mut self) {
        self.remembered = None;
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if self.remembered.is_some() {
            // A file that cannot be removed now is removed by a later run.
            _ = self.folder.remove(&self.name);
        }
    }
}

/// Removes temporary files of dead runs in a folder and below it. The caller must hold the run
/// lock.
pub fn remove_stale(root: &Arc<Folder>) {
    remove(root, is_stale);
}

/// Removes temporary files in a folder and below it whose process is known to be dead. Needs no
/// lock: files that may be of other machines stay.
pub fn remove_dead(root: &Arc<Folder>) {
    remove(root, is_left_by_the_dead);
}

/// Removes temporary files in a folder, and not below it, whose process is known to be dead. Does
/// so only the first time that this process writes to the folder.
///
/// Files of a killed run are left only in folders to which the same command writes again.
pub fn sweep_once(folder: &Folder) {
    if !is_first_time(folder) {
        return;
    }
    for Entry { name, kind } in folder.entries().unwrap_or_default() {
        if kind == FileKind::File && is_left_by_the_dead(folder, &name) {
            _ = folder.remove(&name);
        }
    }
}

/// Returns whether this is the first call for a folder.
fn is_first_time(folder: &Folder) -> bool {
    static SWEPT: Mutex<BTreeSet<Identity>> = Mutex::new(BTreeSet::new());
    let identity = folder.identity();
    identity.is_ok_and(|it| SWEPT.lock().unwrap_or_else(PoisonError::into_inner).insert(it))
}

/// Returns whether a file of a folder is a temporary file whose process is known to be dead.
pub fn is_left_by_the_dead(folder: &Folder, name: &OsStr) -> bool {
    let Some(owner) = name.to_str().and_then(owner_of) else { return false };
    let modified = || folder.read(name).ok()?.metadata().ok()?.modified().ok();
    is_dead(owner) || is_old(folder, name) || is_of_earlier_start(folder, owner.1, modified)
}

/// Returns whether a temporary file was last changed before this machine started, on a disk of this machine. Its process
/// ended at the latest when the machine stopped.
fn is_of_earlier_start(
    folder: &Folder,
    boot: &str,
    modified: impl Fn() -> Option<SystemTime>,
) -> bool {
    boot != boot_id()
        && modified().zip(start()).is_some_and(|(modified, start)| modified < start)
        && folder.is_local()
}

/// Returns the time at which this machine started, as far as it is known.
#[expect(clippy::disallowed_methods, reason = "no output depends on it")]
fn start() -> Option<SystemTime> {
    static START: OnceLock<Option<SystemTime>> = OnceLock::new();
    *START.get_or_init(|| SystemTime::now().checked_sub(uptime()?))
}

/// Returns whether a process of this machine, since its last start, has ended.
fn is_dead((pid, boot): (u32, &str)) -> bool {
    boot == boot_id() && !is_alive(pid)
}

/// Returns whether a temporary file belongs to a dead process. `modified` is the time of its last change.
pub(crate) fn is_of_the_dead(folder: &Folder, name: &OsStr, modified: Option<SystemTime>) -> bool {
    let owner = name.to_str().and_then(owner_of);
    owner.is_some_and(|owner| is_dead(owner) || is_of_earlier_start(folder, owner.1, || modified))
}

/// Removes the files in a folder and below it for which `is_left` returns true.
fn remove(root: &Arc<Folder>, is_left: impl Fn(&Folder, &OsStr) -> bool) {
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        is_first_time(&folder);
        for Entry { name, kind } in folder.entries().unwrap_or_default() {
            match kind {
                FileKind::Folder => folders.extend(folder.enter(&name).map(Arc::new)),
                FileKind::File if is_left(&folder, &name) => _ = folder.remove(&name),
                _ => {}
            }
        }
    }
}

/// Returns whether a name is one of our temporary names.
pub fn is_temporary(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| owner_of(name).is_some())
}

/// Returns whether a name belongs to a temporary file that no process of this machine is writing.
pub fn is_stale(folder: &Folder, name: &OsStr) -> bool {
    let Some((pid, boot)) = name.to_str().and_then(owner_of) else { return false };
    boot != boot_id() || !is_alive(pid) || is_old(folder, name)
}

fn is_old(folder: &Folder, name: &OsStr) -> bool {
    let age = || folder.read(name).ok()?.metadata().ok()?.modified().ok()?.elapsed().ok();
    age().is_some_and(|age| age > MAX_AGE)
}

/// Returns a new temporary name for `name`.
pub(crate) fn new_name(name: &OsStr) -> OsString {
    temporary_name(name, random())
}

fn temporary_name(name: &OsStr, random: u32) -> OsString {
    let end = format!(".tmp-{}-{}-{random:08x}", own_id(), boot_id());
    let mut start = name.to_string_lossy().into_owned();
    let mut longest = MAX_NAME - end.len() - 1;
    while !start.is_char_boundary(longest.min(start.len())) {
        longest -= 1;
    }
    start.truncate(longest);
    format!(".{start}{end}").into()
}

/// Returns the process id and the boot in a temporary name.
fn owner_of(name: &str) -> Option<(u32, &str)> {
    let (_, end) = name.strip_prefix('.')?.rsplit_once(".tmp-")?;
    let mut parts = end.split('-');
    let (pid, boot, random) = (parts.next()?, parts.next()?, parts.next()?);
    let is_ours = [boot, random]
        .iter()
        .all(|part| part.len() == 8 && part.bytes().all(|byte| byte.is_ascii_hexdigit()));
    (is_ours && parts.next().is_none()).then_some((pid.parse().ok()?, boot))
}

/// Returns the id of this process.
fn own_id() -> u32 {
    static ID: OnceLock<u32> = OnceLock::new();
    *ID.get_or_init(process::id)
}

/// Returns eight digits that differ between starts of this machine.
fn boot_id() -> &'static str {
    static ID: OnceLock<String> = OnceLock::new();
    ID.get_or_init(|| {
        let id = fs::read_to_string(Path::new("/proc/sys/kernel/random/boot_id"));
        let id: String = id.unwrap_or_default().chars().filter(|it| *it != '-').take(8).collect();
        if id.len() == 8 { id } else { "0".repeat(8) }
    })
}

fn random() -> u32 {
    // Each `RandomState` has new keys, so the name cannot be predicted.
    RandomState::new().hash_one(own_id()) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_temporary_name_tells_whose_it_is() {
        let name = temporary_name("a.jsonl".as_ref(), 7);
        let name = name.to_str().expect("text");
        assert_eq!(owner_of(name), Some((process::id(), boot_id())));
        for other in ["a.jsonl", ".tmp-1", ".a.tmp-1-2-3", ".a.tmp-x-01234567-01234567", ""] {
            assert_eq!(owner_of(other), None, "{other}");
        }
        let long = temporary_name("é".repeat(127).as_ref(), 7);
        assert!(long.len() <= MAX_NAME && long.len() > MAX_NAME - 2, "{}", long.len());
    }

    #[test]
    fn what_a_run_left_before_this_machine_started_is_removed_from_its_own_disk() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = Folder::open(folder.path()).expect("a folder");
        let other_boot = if boot_id() == "00000000" { "11111111" } else { "00000000" };
        let path = folder.path().join(format!(".a.tmp-{}-{other_boot}-01234567", process::id()));
        let file = fs::File::create(&path).expect("created");
        remove_dead(&root);
        assert!(path.exists(), "it may be of another machine");
        let Some(start) = start() else { return };
        let before = start - Duration::from_secs(1);
        file.set_modified(before).expect("set");
        remove_dead(&root);
        assert_eq!(path.exists(), !root.is_local());
        let name = path.file_name().expect("a name");
        assert_eq!(is_of_the_dead(&root, name, Some(before)), root.is_local());
        let after = start + Duration::from_secs(1);
        assert!(!is_of_the_dead(&root, name, Some(after)));
    }

    #[test]
    fn what_a_dead_run_left_is_removed_and_nothing_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let (below, boot) = (folder.path().join("below"), boot_id());
        fs::create_dir(&below).expect("made");
        let other_boot = if boot == "00000000" { "11111111" } else { "00000000" };
        let (dead, ours) = (i32::MAX, process::id());
        // Without a lock, files of other machines stay.
        for (name, stays_under_lock, stays) in [
            (format!(".a.tmp-{dead}-{boot}-01234567"), false, false),
            (format!(".a.tmp-{ours}-{other_boot}-01234567"), false, true),
            (format!(".a.tmp-{ours}-{boot}-01234567"), true, true),
            (format!("a.tmp-{dead}-{boot}-01234567"), true, true),
            (".a.tmp-1".to_owned(), true, true),
        ] {
            for path in [folder.path().join(&name), below.join(&name)] {
                let root = Folder::open(folder.path()).expect("a folder");
                for (remove, stays) in
                    [(remove_dead as fn(&_), stays), (remove_stale, stays_under_lock)]
                {
                    fs::write(&path, "").expect("written");
                    remove(&root);
                    assert_eq!(path.exists(), stays, "{name}");
                }
            }
        }
    }
}
