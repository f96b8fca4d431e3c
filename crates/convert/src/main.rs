//! The `convert` program.

mod allocator;
mod closed;

use std::process::ExitCode;

#[cfg(all(unix, feature = "mimalloc"))]
#[global_allocator]
static ALLOCATOR: allocator::BySize = allocator::BySize;

fn main() -> ExitCode {
    allocator::return_large_buffers();
    if closed::is_stdout_closed() {
        convert::refuse_stdout();
    }
    ExitCode::from(convert::status_of(std::env::args_os()))
}
