//! A timer facility on an indexed d-ary heap: cancel and reschedule in place, exact to the tick
//! over all of `u64`.
//!
//! # The idea
//!
//! A heap is a tree laid out in an array, level by level, in which no timer is due before its
//! parent. So the earliest is at the root, and taking it or adding one moves timers along a single
//! path from the root to a leaf.
//!
//! ```text
//!                 [0: 3]
//!               /        \
//!          [1: 8]        [2: 5]          array:  3 8 5 9 8 7
//!          /    \        /               places: 0 1 2 3 4 5
//!      [3: 9] [4: 8] [5: 7]              children of i: 2 i + 1, 2 i + 2
//! ```
//!
//! With `ARITY` children for each node instead of two the tree is flatter: fewer moves on the way
//! up, more comparisons on the way down, and, since siblings lie side by side, fewer cache misses.
//! Two is the textbook's number and the default here; Go's runtime uses four.
//!
//! # What is special
//!
//! * It is *indexed*: each timer knows its place in the array. Most heaps of timers cannot remove
//!   one that is not the earliest; they mark it and let it rise to the root in its own time, and
//!   with timeouts that hardly ever fire, the heap fills with the dead. Here a cancelled timer is
//!   gone at once, and a rescheduled one moves from where it is.
//! * The array holds deadlines, not pointers: comparing does not touch the timers. The places are
//!   an array of their own, four bytes a timer, for the same reason.
//! * Ties are broken by the order of insertion, a 64-bit count. A plain heap would fire timers of
//!   one deadline in any order.
//! * After the root is taken, the hole sinks to the bottom before the last timer is put into it and
//!   rises: the last timer nearly always belongs near the bottom, and this saves a comparison on
//!   each level.
//! * The earliest child is chosen without a branch: the processor cannot guess which it is, and a
//!   wrong guess costs more than the comparisons. In a heap of more than 2^18 nodes it is left to
//!   guess after all: right or wrong, a guess fetches the next level before the choice is made.
//! * A jump of the clock that fires more than a quarter of all timers does not take them off the
//!   root one by one. It sets them aside, sorts them, and makes a heap of the rest: it reads memory
//!   in order, and is several times faster at a million timers. A sample of 64 nodes tells when,
//!   after a thirty-second of the timers has fired in the usual way.
//!
//! # The same, lazily
//!
//! [`LazyHeap`] is what most programs make of a heap that cannot remove from its middle: what is
//! cancelled stays until it comes up, or until the dead outnumber the living and all are dropped in
//! one pass. What is moved to a later deadline stays too, and sinks when it comes up. To cancel,
//! and to put a timeout off, is one access to the timer. In return a call takes O(n) now and then,
//! memory is for twice the timers, and [`next_wakeup`](Timer::next_wakeup) may be early: where the
//! earliest timer was cancelled or moved, up to two calls fire nothing. Beside others of its kind:
//! `cargo bench --bench peers` in the repository.
//!
//! # Cost
//!
//! | method | average | worst |
//! |---|---|---|
//! | [`insert`](Timer::insert) | O(1) | O(log n), O(n) when an array grows |
//! | [`cancel`](Timer::cancel) | O(1) | O(log n) |
//! | [`reschedule`](Timer::reschedule) | O(1) | O(log n) |
//! | [`advance`](Timer::advance), [`pop_expired`](Timer::pop_expired), each | O(log n) | O(log n) |
//! | [`advance`](Timer::advance), nothing due | O(1) | O(1) |
//! | [`next_wakeup`](Timer::next_wakeup), [`deadline`](Timer::deadline) | O(1) | O(1) |
//!
//! A [`LazyHeap`] cancels in O(1) amortised and O(n) at worst, moves in O(1) to a later deadline
//! and in O(1) on average and O(n) at worst to an earlier, fires in O(log n) amortised.
//!
//! The averages hold where delays have nothing to do with the place in the heap; timers inserted in
//! descending order of their deadlines rise all the way each time. Counted with two children and
//! uniform delays at n = 2^20: 2.3 comparisons to insert (1.0 behind all others), 3.0 to cancel,
//! 3.6 to reschedule, 19.7 to take the first, which is lg n - 0.3; and about as many moves.
//!
//! Memory: 28 bytes for each timer beside the arena's 8 (16 for a free place) and the value, at the
//! peak. Nothing is left behind. A jump takes no more: what is set aside stays in the array.
//!
//! # Source and deviations
//!
//! J. W. J. Williams, *Algorithm 232: Heapsort*, CACM 7(6), 1964; R. W. Floyd, *Algorithm 245:
//! Treesort 3*, CACM 7(12), 1964, for making a heap in linear time; D. B. Johnson, *Priority queues
//! with update and finding minimum spanning trees*, 1975, for more than two children; I. Wegener,
//! *Bottom-up-heapsort*, 1993, for sinking to the bottom first. The places, the order of insertion
//! and the sorted jump are not theirs. `java.util.Timer`, libevent and Go's runtime keep their
//! timers in heaps.
//!
//! # When to pick another
//!
//! Firing costs log n comparisons and, beyond the caches, misses. From some ten thousand timers on
//! a wheel is faster (`wheelhouse-hierarchical-wheel`). The heap's strength is its worst case: no
//! operation ever does more than log n work, apart from growing.
//!
//! # A program
//!
//! ```
//! use wheelhouse_binary_heap::{BinaryHeap, Timer};
//!
//! // One tick is a second; jobs run at their time.
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
//! assert_eq!(jobs.cancel(mail), None); // too late, and harmless
//! ```
#![no_std]

extern crate alloc;

mod array;
mod builder;
mod definition;
mod heap;
mod lazy;
mod node;
mod sift;

pub use builder::{BuildError, Builder, LazyBuilder};
pub use definition::{Definition, LazyDefinition};
pub use heap::BinaryHeap;
pub use lazy::LazyHeap;
pub use wheelhouse_core::{Expired, Tick, Timer, TimerId};

/// Compiles the program of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
