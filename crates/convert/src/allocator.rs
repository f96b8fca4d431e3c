//! The program's allocator: mimalloc for small allocations, the system's for large ones, with settings that keep
//! the peak memory within its law. One of the two modules of this crate with unsafe code.
//!
//! A file of 5 KB takes two hundred allocations, which were a fifth of its time with glibc (docs/SPEED.md).
//! A large allocation stays with the system: glibc grows it without a copy, and returns it when it is freed.
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

#[cfg(all(unix, feature = "mimalloc"))]
pub(crate) use by_size::BySize;

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

#[cfg(all(unix, feature = "mimalloc"))]
#[expect(unsafe_code, reason = "an allocator is unsafe")]
mod by_size {
    use std::alloc::{GlobalAlloc, Layout, System};

    use mimalloc::MiMalloc;

    /// Allocations from this size on are the system's. A buffer that grows through larger sizes of mimalloc touches
    /// fresh pages for each.
    const LARGE: usize = 8 * 1024;

    /// Small allocations of mimalloc, and large ones of the system.
    pub(crate) struct BySize;

    fn is_small(layout: Layout) -> bool {
        layout.size() < LARGE
    }

    // SAFETY: the size of a layout decides which of the two allocators has the memory. Callers pass the layout of
    // an allocation when they free or resize it, so the same allocator gets it back.
    unsafe impl GlobalAlloc for BySize {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            // SAFETY: the caller's promises are the callee's.
            unsafe { if is_small(layout) { MiMalloc.alloc(layout) } else { System.alloc(layout) } }
        }

        unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
            // SAFETY: the caller's promises are the callee's.
            unsafe {
                if is_small(layout) {
                    MiMalloc.alloc_zeroed(layout)
                } else {
                    System.alloc_zeroed(layout)
                }
            }
        }

        // Inlined at each of 14,000 drops, it takes half a megabyte.
        #[inline(never)]
        unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
            // SAFETY: `memory` is of the allocator that its layout chose.
            unsafe {
                if is_small(layout) {
                    MiMalloc.dealloc(memory, layout);
                } else {
                    System.dealloc(memory, layout);
                }
            }
        }

        unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
            // SAFETY: the caller promises that the alignment is one, and that `size`, rounded up to it, is no
            // overflow.
            let wanted = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
            // SAFETY: `memory` is of the allocator that its layout chose. A new allocation is distinct from it,
            // and both have at least the bytes that are copied.
            unsafe {
                match (is_small(layout), is_small(wanted)) {
                    (true, true) => MiMalloc.realloc(memory, layout, size),
                    (false, false) => System.realloc(memory, layout, size),
                    _ => {
                        let moved = self.alloc(wanted);
                        if !moved.is_null() {
                            moved.copy_from_nonoverlapping(memory, layout.size().min(size));
                            self.dealloc(memory, layout);
                        }
                        moved
                    }
                }
            }
        }
    }
}
