//! Measures a process: its peak memory, or its instructions.

use std::{
    ffi::OsString,
    fs, io,
    process::{Command, Stdio},
    thread::sleep,
    time::Duration,
};

/// Runs a command and returns its peak memory in bytes.
pub(super) fn peak(command: &mut Command) -> io::Result<u64> {
    let mut process = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let mut peak = 0;
    loop {
        peak = peak.max(peak_of(process.id()).unwrap_or(0));
        if process.try_wait()?.is_some() {
            return Ok(peak);
        }
        sleep(Duration::from_millis(1));
    }
}

/// Returns the peak memory of a running process so far, in bytes; `None` if it has ended.
fn peak_of(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kib * 1024)
}

/// Runs a command and returns the number of its instructions, without the instructions that start the
/// program. Returns `None` if valgrind is not installed.
pub(super) fn instructions(command: &Command) -> io::Result<Option<u64>> {
    let arguments: Vec<OsString> = command.get_args().map(OsString::from).collect();
    let all = count(command, &arguments)?;
    let start = count(command, &["--version".into()])?;
    Ok(all.zip(start).map(|(all, start)| all.saturating_sub(start)))
}

fn count(command: &Command, arguments: &[OsString]) -> io::Result<Option<u64>> {
    let mut run = Command::new("valgrind");
    run.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(command.get_program());
    let output = match run.args(arguments).stdout(Stdio::null()).output() {
        Ok(output) => output,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let said = String::from_utf8_lossy(&output.stderr);
    let collected = said.lines().find_map(|line| line.split_once("Collected :"));
    Ok(collected.and_then(|(_, number)| number.trim().parse().ok()))
}
