//! What the program has allocated: the one module with `unsafe`.
//!
//! The allocator of the whole program counts, so what it costs is part of every time that is
//! measured here. With one counter, two threads that allocate would wait for each other's addition,
//! and a service that many use at once would be measured as one that few do: `results/counting`
//! shows by how much. So each thread adds to a counter that it has to itself, as long as there are
//! no more threads than counters. Everything else is the system's, `realloc` too: without that the
//! growth of each array would be a copy.
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

/// Has the system's allocator clear up what was freed. glibc's keeps small pieces aside, and joins
/// them all at once, under a lock, when somebody asks for a large one: after millions of pieces
/// that takes a quarter of a second, of whoever comes next. Called between two measurements, it is
/// of neither.
pub fn clear_up() {
    // One more than glibc has arenas for so few processors. They live at the same time, so that
    // each has another; of a thread that cannot be started, nothing is lost but that.
    let threads = 8 * thread::available_parallelism().map_or(1, NonZero::get) + 1;
    let (gate, (told, hear)) = (RwLock::new(()), mpsc::channel());
    let ask = |told: Sender<()>| {
        let large: Vec<u8> = Vec::with_capacity(100_000);
        drop(told);
        drop(gate.read());
        drop(black_box(large));
    };
    thread::scope(|scope| {
        let shut = gate.write();
        for _ in 0..threads {
            let told = told.clone();
            let _ = thread::Builder::new().spawn_scoped(scope, move || ask(told));
        }
        drop(told);
        // Until all of them have dropped theirs.
        let _ = hear.recv();
        drop(shut);
    });
}

/// On two cache lines of its own: a processor may fetch them in pairs. What one thread frees for
/// another is taken from its own counter, which may fall below zero.
#[repr(align(128))]
struct Counter(AtomicIsize);

/// Threads beyond these share them.
const MANY: usize = 64;

static COUNTERS: [Counter; MANY] = [const { Counter(AtomicIsize::new(0)) }; MANY];
static THREADS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    // Needs neither an allocation nor a destructor, which an allocator could not wait for.
    static MINE: Cell<Option<&'static Counter>> = const { Cell::new(None) };
}

fn count(bytes: isize) {
    let mine = MINE.with(|mine| match mine.get() {
        Some(counter) => counter,
        None => {
            let counter = &COUNTERS[THREADS.fetch_add(1, Ordering::Relaxed) % MANY];
            mine.set(Some(counter));
            counter
        }
    });
    mine.0.fetch_add(bytes, Ordering::Relaxed);
}

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: every call is passed on to the system's allocator with the caller's own arguments, and
// its answer is given back as it is. Counting neither allocates nor panics: an index below the
// length of the array, additions that wrap.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: what the caller has promised of `layout`.
        let block = unsafe { System.alloc(layout) };
        if !block.is_null() {
            count(layout.size().cast_signed());
        }
        block
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: what the caller has promised of `layout`.
        let block = unsafe { System.alloc_zeroed(layout) };
        if !block.is_null() {
            count(layout.size().cast_signed());
        }
        block
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: `block` came from `System` through one of these, with this layout, as the caller
        // has promised.
        unsafe { System.dealloc(block, layout) };
        count(-layout.size().cast_signed());
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as for `dealloc`; and the caller has promised that `size` is one.
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

    /// One test, and the harness's other threads wait: each of these steps is exact.
    #[test]
    fn what_is_held_is_counted_whoever_frees_it() {
        const BYTES: usize = 1 << 24;
        let held = |before: usize| allocated().cast_signed() - before.cast_signed();
        // What others do meanwhile, who print.
        let is_about = |bytes: isize, many: usize| (bytes - many.cast_signed()).abs() < 1 << 20;
        let before = allocated();
        let mut block: Vec<u8> = Vec::with_capacity(BYTES);
        assert!(is_about(held(before), BYTES));
        block.resize(BYTES, 7);
        block.reserve_exact(BYTES);
        assert!(is_about(held(before), 2 * BYTES), "grown");
        block.shrink_to(BYTES);
        assert!(is_about(held(before), BYTES), "shrunk");
        assert!(block.iter().all(|byte| *byte == 7));
        thread::spawn(|| drop(block)).join().unwrap();
        assert!(is_about(held(before), 0), "freed by another thread");
        let zeroed = thread::spawn(|| vec![0_u64; BYTES / 8]).join().unwrap();
        assert!(is_about(held(before), BYTES) && zeroed.iter().all(|word| *word == 0));
        // More threads than counters.
        let blocks: Vec<Vec<u8>> = (0..100)
            .map(|_| thread::spawn(|| Vec::with_capacity(BYTES)))
            .map(|thread| thread.join().unwrap())
            .collect();
        assert!(is_about(held(before), 101 * BYTES));
        drop((blocks, zeroed));
        assert!(is_about(held(before), 0));
        super::clear_up();
        assert!(is_about(held(before), 0), "it leaves nothing");
    }
}
