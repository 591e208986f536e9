//! A timer facility on an indexed d-ary heap: cancel and reschedule in place, exact to the tick
//! over all of `u64`.
//!
//! # The idea
//!
//! A heap is a tree stored in an array, level by level, in which no timer is due before its parent.
//! So the earliest timer is at the root, and removing it or adding a timer moves timers along a
//! single path between the root and a leaf.
//!
//! ```text
//!                 [0: 3]
//!               /        \
//!          [1: 8]        [2: 5]          array:  3 8 5 9 8 7
//!          /    \        /               places: 0 1 2 3 4 5
//!      [3: 9] [4: 8] [5: 7]              children of i: 2 i + 1, 2 i + 2
//! ```
//!
//! With more than two children per node (`ARITY`) the tree is flatter: fewer moves on the way up,
//! more comparisons on the way down, and fewer cache misses, because siblings are stored side by
//! side. The default is two, as in textbooks. Go's runtime uses four.
//!
//! # Design
//!
//! * The heap is *indexed*: the position of each timer in the array is stored. Most heaps of timers
//!   can only remove the earliest timer. They mark a cancelled timer and drop it when it reaches
//!   the root, so if timeouts hardly ever fire, the heap fills with dead nodes. Here a cancelled
//!   timer is removed at once, and a rescheduled timer moves from its position.
//! * The array contains deadlines, not pointers, so comparing does not touch the timers. The
//!   positions are in a separate array, four bytes per timer, for the same reason.
//! * Timers with the same deadline are ordered by insertion, with a 64-bit counter. A plain heap
//!   would fire them in any order.
//! * After the root is removed, the hole sinks to the bottom. Then the last timer is put there and
//!   rises. The last timer nearly always belongs near the bottom, so this saves a comparison on
//!   each level.
//! * The earliest child is chosen without a branch, because the processor cannot predict it, and a
//!   misprediction costs more than the comparisons. In a heap with more than 2^18 nodes it is
//!   chosen with branches: a prediction, right or wrong, fetches the next level before the choice
//!   is made.
//! * A call that fires more than a quarter of all timers does not remove them from the root one by
//!   one. It separates them, sorts them, and builds a heap of the rest. This reads memory in order,
//!   and is several times faster with a million timers. After a thirty-second of the timers has
//!   fired in the usual way, a sample of 64 nodes decides whether to sort.
//!
//! # The lazy heap
//!
//! [`LazyHeap`] works like most heaps that cannot remove from their middle. The node of a cancelled
//! timer stays until it reaches the root, or until dead nodes outnumber the timers and are dropped
//! in one pass. The node of a timer that is moved to a later deadline stays too, and sinks when it
//! reaches the root. So cancelling or postponing a timer is one access to the timer. In return, a
//! call takes O(n) now and then, the heap may have twice as many nodes as timers, and
//! [`next_wakeup`](Timer::next_wakeup) may be early: if the earliest timer was cancelled or moved,
//! up to two calls fire nothing. `cargo bench --bench peers` in the repository compares it with
//! similar heaps.
//!
//! # Cost
//!
//! | method | average | worst |
//! |---|---|---|
//! | [`insert`](Timer::insert) | O(1) | O(log n), O(n) when an array grows |
//! | [`cancel`](Timer::cancel) | O(1) | O(log n) |
//! | [`reschedule`](Timer::reschedule) | O(1) | O(log n) |
//! | [`advance`](Timer::advance), [`pop_expired`](Timer::pop_expired), per timer | O(log n) | O(log n) |
//! | [`advance`](Timer::advance), nothing due | O(1) | O(1) |
//! | [`next_wakeup`](Timer::next_wakeup), [`deadline`](Timer::deadline) | O(1) | O(1) |
//!
//! A [`LazyHeap`] cancels in O(1) amortised, O(n) at worst. It moves a timer to a later deadline in
//! O(1), and to an earlier one in O(1) on average, O(n) at worst. It fires in O(log n) amortised.
//!
//! The averages hold if deadlines do not depend on the position in the heap. Timers inserted in
//! descending order of their deadlines rise to the root each time. Measured with two children and
//! uniform delays at n = 2^20: 2.3 comparisons to insert (1.0 if due after all others), 3.0 to
//! cancel, 3.6 to reschedule, 19.7 to remove the first, which is lg n - 0.3, and about as many
//! moves.
//!
//! Memory: each timer of the peak takes 28 bytes, 8 bytes in the arena (16 for a free place), and
//! its value. Cancelled timers leave nothing behind. Sorting takes no additional memory, because
//! the timers stay in the array.
//!
//! # Source and deviations
//!
//! J. W. J. Williams, *Algorithm 232: Heapsort*, CACM 7(6), 1964; R. W. Floyd, *Algorithm 245:
//! Treesort 3*, CACM 7(12), 1964, for building a heap in linear time; D. B. Johnson, *Priority
//! queues with update and finding minimum spanning trees*, 1975, for more than two children; I.
//! Wegener, *Bottom-up-heapsort*, 1993, for sinking to the bottom first. The stored positions, the
//! order of insertion and the sorting are not from these papers. `java.util.Timer`, libevent and
//! Go's runtime store their timers in heaps.
//!
//! # When to use another structure
//!
//! Firing costs log n comparisons, and cache misses if the heap does not fit the caches. From some
//! ten thousand timers on, a wheel is faster (`wheelhouse-hierarchical-wheel`). The heap's strength
//! is its worst case: no operation ever does more than O(log n) work, except when an array grows.
//!
//! # Example
//!
//! ```
//! use wheelhouse_binary_heap::{BinaryHeap, Timer};
//!
//! // One tick is a second; jobs run at a given time.
//! let mut jobs = BinaryHeap::new();
//! jobs.insert(3_600, "report");
//! let mail = jobs.insert(60, "mail");
//! jobs.reschedule(mail, 7_200); // later
//!
//! let mut ran = Vec::new();
//! while let Some(tick) = jobs.next_wakeup() {
//!     jobs.advance(tick, |expired| ran.push((expired.deadline, expired.value)));
//! }
//! assert_eq!(ran, [(3_600, "report"), (7_200, "mail")]);
//! assert_eq!(jobs.cancel(mail), None); // too late: the handle is stale
//! ```
#![no_std]

extern crate alloc;

mod array;
mod builder;
mod bulk;
mod definition;
mod heap;
mod lazy;
mod node;
mod sift;

pub use builder::{Builder, LazyBuilder};
pub use definition::{Definition, LazyDefinition};
pub use heap::BinaryHeap;
pub use lazy::LazyHeap;
pub use wheelhouse_core::{CapacityError, Expired, Tick, Timer, TimerId};

/// Compiles the README's code as a doc test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
