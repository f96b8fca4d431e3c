//! Finds whether standard output was closed when the program started, as by `convert a.jsonl --to clido >&-`.
//!
//! Before `main`, the standard library opens `/dev/null` if standard output is closed, and from then on
//! nothing tells it from one that the user sent there. The C library calls the functions of `.init_array` before that.
//! On other systems than Linux with glibc, such output is lost without an error.

use std::sync::atomic::{AtomicBool, Ordering};

static IS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Returns whether standard output was closed when the program started.
pub(crate) fn is_stdout_closed() -> bool {
    IS_CLOSED.load(Ordering::Relaxed)
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "no safe code runs before the standard library opens the file")]
mod before_main {
    use std::sync::atomic::Ordering;

    use super::IS_CLOSED;

    extern "C" fn look() {
        // SAFETY: `fcntl` with `F_GETFD` takes no pointer and changes nothing; it returns -1 for a closed descriptor.
        let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
        IS_CLOSED.store(flags == -1, Ordering::Relaxed);
    }

    // SAFETY: the section holds pointers to functions of the C ABI, which the C library calls once each, before any
    // thread exists. `look` uses only an atomic that needs no initialization, and cannot panic.
    #[used]
    #[unsafe(link_section = ".init_array")]
    static LOOK: extern "C" fn() = look;
}
