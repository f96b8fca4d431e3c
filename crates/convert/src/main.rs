//! The `convert` program.

mod allocator;

use std::process::ExitCode;

#[cfg(all(unix, feature = "mimalloc"))]
#[global_allocator]
static ALLOCATOR: allocator::BySize = allocator::BySize;

fn main() -> ExitCode {
    allocator::return_large_buffers();
    convert::run(std::env::args_os())
}
