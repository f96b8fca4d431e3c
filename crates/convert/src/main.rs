//! The `convert` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    convert::run(std::env::args_os())
}
