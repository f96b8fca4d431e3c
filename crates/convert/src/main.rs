//! The `convert` program.

mod allocator;

use std::process::ExitCode;

#[cfg(all(unix, feature = "mimalloc"))]
#[global_allocator]
static ALLOCATOR: allocator::BySize = allocator::BySize;

fn main() -> ExitCode {
    allocator::return_large_buffers();
    ExitCode::from(convert::status_of(std::env::args_os()))
}
