//! The `convert` program.

mod allocator;

use std::process::ExitCode;

fn main() -> ExitCode {
    allocator::return_large_buffers();
    convert::run(std::env::args_os())
}
