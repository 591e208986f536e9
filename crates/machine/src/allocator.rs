//! Counts the bytes that the program has allocated. This is the only module with `unsafe`.
//!
//! The allocator of the whole program counts, so its cost is part of every time that is measured
//! here. With a single counter, two threads that allocate would wait for each other's additions,
//! and a service that many threads use would look slower than it is: `results/counting` shows by
//! how much. So each thread adds to a separate counter, as long as there are no more threads than
//! counters. Everything else is passed to the system's allocator, including `realloc`: without
//! that, each growth of an array would copy it.
#![expect(unsafe_code, reason = "an allocator cannot be written without")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;
use std::num::NonZero;
use std::sync::RwLock;
use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread;

/// The bytes that the program has allocated and not freed. Exact while no other thread allocates.
pub fn allocated() -> usize {
    let sum: isize = COUNTERS.iter().map(|counter| counter.0.load(Ordering::Relaxed)).sum();
    sum.max(0).cast_unsigned()
}

/// Makes the system's allocator clean up freed memory. glibc's allocator keeps small freed blocks
/// aside, and merges all of them at once, under a lock, at the next request for a large block.
/// After millions of blocks that takes a quarter of a second, which would count for whatever runs
/// next. If this is called between two measurements, it counts for neither.
pub fn merge_freed_memory() {
    // One thread more than glibc has arenas for this number of processors. All of them live at the
    // same time, so each has another arena. A thread that cannot be started leaves only its arena
    // uncleaned.
    let threads = 8 * thread::available_parallelism().map_or(1, NonZero::get) + 1;
    let (lock, (sender, receiver)) = (RwLock::new(()), mpsc::channel());
    let request = |sender: Sender<()>| {
        let large: Vec<u8> = Vec::with_capacity(100_000);
        drop(sender);
        drop(lock.read());
        drop(black_box(large));
    };
    thread::scope(|scope| {
        let guard = lock.write();
        for _ in 0..threads {
            let sender = sender.clone();
            let _ = thread::Builder::new().spawn_scoped(scope, move || request(sender));
        }
        drop(sender);
        // Returns when all threads have dropped their senders, after their large request.
        let _ = receiver.recv();
        drop(guard);
    });
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

// SAFETY: every call is passed to the system's allocator with the caller's arguments, and its
// answer is returned unchanged. Counting neither allocates nor panics: the index is below the
// length of the array, and the additions wrap.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller guarantees what `System` requires of `layout`.
        let block = unsafe { System.alloc(layout) };
        if !block.is_null() {
            count(layout.size().cast_signed());
        }
        block
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller guarantees what `System` requires of `layout`.
        let block = unsafe { System.alloc_zeroed(layout) };
        if !block.is_null() {
            count(layout.size().cast_signed());
        }
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller guarantees that `block` came from one of these methods, and so from
        // `System`, with this layout.
        unsafe { System.dealloc(block, layout) };
        count(-layout.size().cast_signed());
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as for `dealloc`. The caller also guarantees that `size` is valid.
        let moved = unsafe { System.realloc(block, layout, size) };
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
        super::merge_freed_memory();
        assert!(is_about(growth(before), 0), "it leaves nothing allocated");
    }
}
