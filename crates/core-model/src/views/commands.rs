//! Finds the command of a call that runs a shell.
//!
//! In: a call of `shell` with the input `{"command":["bash","-lc","ls"]}`. Out: `bash -lc ls`.

use jsonl::Scanner;

use crate::ToolUse;

/// The names of tools that run a command in a shell.
const SHELLS: [&str; 6] = ["Bash", "bash", "shell", "shell_command", "exec_command", "local_shell"];

/// Returns the command that a call runs in a shell, the words of an array joined by blanks; `None`
/// for other calls.
pub fn shell_command(tool: &ToolUse<'_>, scanner: &mut Scanner) -> Option<String> {
    if !SHELLS.iter().any(|name| tool.name.is(name)) {
        return None;
    }
    let json = tool.input.json();
    let input = scanner.scan_raw(json.raw()).ok()?;
    let command = ["command", "cmd"].iter().find_map(|name| input.get(name))?;
    if let Some(text) = command.text() {
        return Some(text.decode().into_owned());
    }
    let words: Vec<_> =
        command.items().filter_map(|word| Some(word.text()?.decode().into_owned())).collect();
    (!words.is_empty()).then(|| words.join(" "))
}
