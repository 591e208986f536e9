//! The memory under the counting allocator: the system's allocator, or a mapping for each large
//! block.
//!
//! glibc takes a large block from freed memory if enough of it is in one piece, whatever its
//! thresholds say. After a structure that frees a million small blocks, the arrays of the next
//! structure would be warm. A mapping is always cold.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr;
use std::sync::atomic::{AtomicU8, Ordering};

/// The size from which blocks are mapped. glibc's default is the same.
const LARGE: usize = 128 << 10;

/// The bytes before a mapped block, which nothing uses. glibc has its header there. Without them,
/// large arrays would begin at multiples of 2 MiB. They would compete for the same lines of the
/// cache, and grow faster than with glibc, since the kernel moves whole tables of pages.
const HEADER: usize = 16;

const UNDECIDED: u8 = 0;
const NEVER: u8 = 1;
const ALWAYS: u8 = 2;

/// Says if large blocks are mapped. [`map_large`] or the first large block decides this, and it
/// never changes again. So the layout of a block always tells where its memory came from.
static DECISION: AtomicU8 = AtomicU8::new(UNDECIDED);

/// Decides that large blocks are mapped. Returns `false` if it is too late.
pub(super) fn map_large() -> bool {
    matches!(decide(ALWAYS), Ok(_) | Err(ALWAYS))
}

fn decide(decision: u8) -> Result<u8, u8> {
    DECISION.compare_exchange(UNDECIDED, decision, Ordering::Relaxed, Ordering::Relaxed)
}

fn is_mapped(layout: Layout) -> bool {
    layout.size() >= LARGE && layout.align() <= HEADER && decide(NEVER) == Err(ALWAYS)
}

pub(super) struct Blocks;

// SAFETY: a block is mapped exactly if `is_mapped` is true for its layout, and that never changes.
// So each block is freed as it was allocated. A mapping has at least the size of the block and its
// header, and begins at a page. Nothing panics.
unsafe impl GlobalAlloc for Blocks {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match is_mapped(layout) {
            true => mapping::map(layout.size()),
            // SAFETY: the caller guarantees what `System` requires of `layout`; so in all methods.
            false => unsafe { System.alloc(layout) },
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        match is_mapped(layout) {
            true => mapping::map(layout.size()), // zeroed by the system
            // SAFETY: as for `alloc`.
            false => unsafe { System.alloc_zeroed(layout) },
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        match is_mapped(layout) {
            // SAFETY: the block is a mapping of this size, which the caller does not use any more.
            true => unsafe { mapping::unmap(block, layout.size()) },
            // SAFETY: the block came from `System` with this layout.
            false => unsafe { System.dealloc(block, layout) },
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller guarantees that `size` is valid for this alignment.
        let new = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        match (is_mapped(layout), is_mapped(new)) {
            // SAFETY: the block is a mapping of this size.
            (true, true) => unsafe { mapping::remap(block, layout.size(), size) },
            // SAFETY: the block came from `System` with this layout.
            (false, false) => unsafe { System.realloc(block, layout, size) },
            // SAFETY: `new` is not empty. Both blocks have the bytes that are copied, and do not
            // overlap. The old one is freed once, with its layout.
            (true, false) | (false, true) => unsafe {
                let moved = self.alloc(new);
                if !moved.is_null() {
                    ptr::copy_nonoverlapping(block, moved, layout.size().min(size));
                    self.dealloc(block, layout);
                }
                moved
            },
        }
    }
}

mod mapping {
    use super::HEADER;
    use std::ptr;

    /// A new mapping of zeroed memory, or null.
    pub(super) fn map(size: usize) -> *mut u8 {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let length = length(size);
        // SAFETY: the system chooses an address that nothing uses.
        block_of(unsafe { libc::mmap(ptr::null_mut(), length, access, kind, -1, 0) })
    }

    /// Grows or shrinks a mapping, and may move it. Null if that failed: then it is unchanged.
    ///
    /// # Safety
    ///
    /// `block` is in a mapping, and has `size` bytes.
    pub(super) unsafe fn remap(block: *mut u8, size: usize, new: usize) -> *mut u8 {
        let (size, new) = (length(size), length(new));
        // SAFETY: the caller guarantees that the mapping exists. It begins with the header.
        block_of(unsafe { libc::mremap(block.sub(HEADER).cast(), size, new, libc::MREMAP_MAYMOVE) })
    }

    /// # Safety
    ///
    /// `block` is in a mapping, and has `size` bytes that nothing uses any more.
    pub(super) unsafe fn unmap(block: *mut u8, size: usize) {
        // If this fails, the memory stays mapped: an allocator cannot report it.
        // SAFETY: the caller guarantees that the mapping exists and is not used.
        unsafe { libc::munmap(block.sub(HEADER).cast(), length(size)) };
    }

    /// The length of a mapping. The system rounds it up to its pages, which are not smaller. A
    /// layout has at most `isize::MAX` bytes, so this cannot overflow.
    fn length(size: usize) -> usize {
        (size + HEADER).next_multiple_of(4096)
    }

    /// The block in a new mapping; null if there is none.
    fn block_of(mapping: *mut libc::c_void) -> *mut u8 {
        match mapping == libc::MAP_FAILED {
            true => ptr::null_mut(),
            // SAFETY: a mapping is longer than its header.
            false => unsafe { mapping.cast::<u8>().add(HEADER) },
        }
    }
}
