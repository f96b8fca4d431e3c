//! Settings of glibc's allocator that keep the program's peak memory within its law. The only module of
//! this crate with unsafe code.
//!
//! glibc gives an allocation its own pages if it is larger than a threshold, and returns these pages to
//! the system as soon as the allocation is freed. Each such `free` raises the threshold to the size of
//! the freed allocation, up to 32 MiB. Later buffers of that size come from the heap of their thread,
//! and stay there after they are freed:
//!
//! ```text
//! threshold   128 KiB            a line of 12 MiB is read: own pages
//! free        12 MiB, returned   the threshold is 12 MiB from now on
//! next line   12 MiB             from the thread's heap
//! free        12 MiB             stays in that heap, and other threads cannot use it
//! ```
//!
//! So the peak depended on which thread ran first: converting one line of 12 MiB took 41 MiB in one run
//! and 65 in the next. With a fixed threshold, the peaks of six runs of a command differ by 1 MiB, and
//! the highest of 16 commands on such lines is 45 (`TEST memory`).

/// Allocations from this size on get their own pages, and a heap keeps at most this many free bytes at
/// its end. Larger than each buffer that is allocated once per file or window.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE: libc::c_int = 1024 * 1024;

/// Makes glibc return the memory of large allocations as soon as they are freed. Does nothing on other
/// systems. Called before the first thread starts.
#[cfg_attr(
    all(target_os = "linux", target_env = "gnu"),
    expect(unsafe_code, reason = "no safe crate sets these two options")
)]
pub(crate) fn return_large_buffers() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: `mallopt` has no preconditions on its arguments: it returns 0 for an option or a value
    // that it does not know, and then changes nothing. It is not thread-safe in old versions of glibc;
    // `main` calls it before any thread exists. Both options only decide where later allocations are
    // placed and when free memory is returned.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE);
        libc::mallopt(libc::M_TRIM_THRESHOLD, LARGE);
    }
}
