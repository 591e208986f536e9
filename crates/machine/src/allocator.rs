//! Counts the bytes that the program has allocated, and makes memory cold. This is the only module
//! with `unsafe`.
//!
//! The allocator of the whole program counts, so its cost is part of every time that is measured
//! here. With a single counter, two threads that allocate would wait for each other's additions,
//! and a service that many threads use would look slower than it is: `results/counting` shows by
//! how much. So each thread adds to a separate counter, as long as there are no more threads than
//! counters.
#![expect(unsafe_code, reason = "an allocator cannot be written without")]

// Other systems have no `mremap`, without which each growth of an array would copy it.
#[cfg(target_os = "linux")]
mod blocks;

#[cfg(target_os = "linux")]
use blocks::{Blocks, map_large};
#[cfg(not(target_os = "linux"))]
use std::alloc::System as Blocks;
use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering};
use wheelhouse_present::console::say;

/// The bytes that the program has allocated and not freed. Exact while no other thread allocates.
pub fn allocated() -> usize {
    let sum: isize = COUNTERS.iter().map(|counter| counter.0.load(Ordering::Relaxed)).sum();
    sum.max(0).cast_unsigned()
}

/// Makes large blocks cold: from now on, each block of 128 KiB or more gets a new mapping, unless
/// it is aligned to more than 16 bytes. Other freed memory is kept until [`return_freed_memory`].
/// Otherwise the system's allocator may return it while a structure is measured, and fetch it
/// again.
///
/// Call it first in `main`. After the first large block, or on a system other than Linux, it maps
/// nothing and prints a warning.
pub fn map_large_blocks() {
    if !map_large() {
        say("warning: the column 'insert cold' may measure memory that was used before");
    }
    #[cfg(all(target_os = "linux", target_env = "gnu", not(miri)))]
    // SAFETY: any value is allowed. With this one, freed memory is never returned by itself.
    unsafe {
        libc::mallopt(libc::M_TRIM_THRESHOLD, -1);
    }
}

/// Makes the system's allocator return freed memory, so it is cold when it is used again. glibc's
/// allocator also merges small freed blocks, which it otherwise does under a lock at the next
/// request for a large one. After millions of blocks that takes a quarter of a second. If this is
/// called between two measurements, it counts for neither. Does nothing if the system does not use
/// glibc.
pub fn return_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu", not(miri)))]
    // SAFETY: it may be called by any thread at any time, and changes only memory that is free.
    unsafe {
        libc::malloc_trim(0);
    }
}

#[cfg(not(target_os = "linux"))]
fn map_large() -> bool {
    false
}

/// A counter on two cache lines, since a processor may fetch lines in pairs. Memory that a thread
/// frees for another is subtracted from its own counter, which may fall below zero.
#[repr(align(128))]
struct Counter(AtomicIsize);

/// The number of counters. If there are more threads, they share them.
const COUNTER_COUNT: usize = 64;

static COUNTERS: [Counter; COUNTER_COUNT] = [const { Counter(AtomicIsize::new(0)) }; COUNTER_COUNT];
static NEXT_COUNTER: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    // Needs neither an allocation nor a destructor: an allocator cannot use these.
    static THREAD_COUNTER: Cell<Option<&'static Counter>> = const { Cell::new(None) };
}

fn count(bytes: isize) {
    let own = THREAD_COUNTER.with(|own| match own.get() {
        Some(counter) => counter,
        None => {
            let counter = &COUNTERS[NEXT_COUNTER.fetch_add(1, Ordering::Relaxed) % COUNTER_COUNT];
            own.set(Some(counter));
            counter
        }
    });
    own.0.fetch_add(bytes, Ordering::Relaxed);
}

struct CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

// SAFETY: every call is passed to `Blocks` with the caller's arguments, and its answer is returned
// unchanged. Counting neither allocates nor panics: the index is below the length of the array, and
// the additions wrap.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller guarantees what `Blocks` requires of `layout`.
        let block = unsafe { Blocks.alloc(layout) };
        if !block.is_null() {
            count(layout.size().cast_signed());
        }
        block
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller guarantees what `Blocks` requires of `layout`.
        let block = unsafe { Blocks.alloc_zeroed(layout) };
        if !block.is_null() {
            count(layout.size().cast_signed());
        }
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller guarantees that `block` came from one of these methods, and so from
        // `Blocks`, with this layout.
        unsafe { Blocks.dealloc(block, layout) };
        count(-layout.size().cast_signed());
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as for `dealloc`. The caller also guarantees that `size` is valid.
        let moved = unsafe { Blocks.realloc(block, layout, size) };
        if !moved.is_null() {
            count(size.cast_signed() - layout.size().cast_signed());
        }
        moved
    }
}

#[cfg(test)]
mod tests {
    use super::allocated;
    use std::thread;

    /// All steps are in one test, and the other threads of the test harness wait meanwhile.
    #[test]
    fn allocated_bytes_are_exact_whichever_thread_frees_them() {
        // Smaller under Miri, which interprets each write.
        const BYTES: usize = if cfg!(miri) { 1 << 18 } else { 1 << 24 };
        let growth = |before: usize| allocated().cast_signed() - before.cast_signed();
        // The tolerance is for other threads, which may print.
        let is_about = |bytes: isize, expected: usize| {
            (bytes - expected.cast_signed()).unsigned_abs() < BYTES / 16
        };
        let before = allocated();
        let mut block: Vec<u8> = Vec::with_capacity(BYTES);
        assert!(is_about(growth(before), BYTES));
        block.resize(BYTES, 7);
        block.reserve_exact(BYTES);
        assert!(is_about(growth(before), 2 * BYTES), "grown");
        block.shrink_to(BYTES);
        assert!(is_about(growth(before), BYTES), "shrunk");
        assert!(block.iter().all(|byte| *byte == 7));
        thread::spawn(|| drop(block)).join().unwrap();
        assert!(is_about(growth(before), 0), "freed by another thread");
        let zeroed = thread::spawn(|| vec![0_u64; BYTES / 8]).join().unwrap();
        assert!(is_about(growth(before), BYTES) && zeroed.iter().all(|word| *word == 0));
        // More threads than counters.
        let block = |_| thread::spawn(|| Vec::with_capacity(BYTES)).join().unwrap();
        let blocks: Vec<Vec<u8>> = (0..100).map(block).collect();
        assert!(is_about(growth(before), 101 * BYTES));
        drop((blocks, zeroed));
        assert!(is_about(growth(before), 0));
        super::return_freed_memory();
        assert!(is_about(growth(before), 0), "it leaves nothing allocated");
    }
}
