//! A timer facility on hierarchical timing wheels: Varghese and Lauck's scheme 7, exact to the tick over all of `u64`.
//!
//! # The idea
//!
//! Think of a clock with hands for seconds, minutes and hours. A timer that is due this minute goes to its second; one due
//! this hour goes to its minute, and when the minute hand gets there, it *cascades*: it moves to its second. Each level
//! here is such a wheel of 256 slots (or as many as you choose), and eight levels cover every tick a `u64` can name.
//!
//! ```text
//!                 256 slots of one tick each            256 slots of 256 ticks each
//! level 0   [ ][ ][x][ ][x][ ]...[ ]       level 1   [ ][ ][x]...[ ]       ...   level 7
//!               ▲ hand                                   ▲
//! ```
//!
//! The level of a timer is that of the highest digit in which its deadline differs from the hand (`geometry`). So every
//! slot holds timers of one turn only, level 0 is exact to the tick, and a timer cascades at most seven times in its life: with a
//! delay below 256 ticks at most once, below 65,536 at most twice, and so on.
//!
//! # What is special
//!
//! * A slot is no linked list of timers but a queue of 16-byte references in contiguous chunks (`chunks`). Cascading and
//!   firing read memory in order. The timer itself is touched when it is inserted, when it is cancelled, and when it fires.
//! * Cancelling does not unlink. It makes the reference stale, which costs no second cache miss; stale references are
//!   dropped when they are met, and all at once when they outnumber the live timers. A slot whose last live timer is
//!   cancelled is emptied at once, so the wheel never wakes up for nothing but stale references.
//! * The next slot to visit is remembered. A tick with nothing due costs a comparison, and a jump over any distance visits
//!   only slots that hold live timers.
//! * Order by (deadline, insertion) comes for free: each slot is a queue, and a cascade empties it in order into slots that
//!   are empty. That makes the wheel an incremental, stable radix sort.
//!
//! # Cost
//!
//! n live timers, m levels between the hand and a deadline (at most 8 with 256 slots):
//!
//! | method | amortised | worst |
//! |---|---|---|
//! | [`insert`](Timer::insert) | O(m), for the cascades to come | O(n), when the storage of timers grows |
//! | [`cancel`](Timer::cancel) | O(1) | O(n), when stale references are cleared away |
//! | [`reschedule`](Timer::reschedule) | O(1) | O(n), likewise |
//! | [`advance`](Timer::advance), per timer that fires | O(1), its cascades paid for by its insertion | O(n) in one tick, when a slot of a higher level cascades |
//! | [`advance`](Timer::advance), nothing due | O(1), likewise | O(n), likewise |
//! | [`next_wakeup`](Timer::next_wakeup), [`deadline`](Timer::deadline) | O(1) | O(1) |
//!
//! With s slots a level, an emptied slot is followed by a search for the next over at most s / 64 words: four by default.
//!
//! Memory: 20 bytes and the value for each timer (up to twice that where an array has just doubled), 16 for each reference, of
//! which at most `2 n + 256` exist; and 20 bytes a slot, with a chunk of 488 bytes for each slot in use. A timer that is inserted with a deadline already past goes to a
//! queue instead: O(1) if such timers come in order of their deadlines, O(log k) for k that do not.
//!
//! # Source and deviations
//!
//! G. Varghese and T. Lauck, *Hashed and hierarchical timing wheels*, SOSP 1987, scheme 7. The paper's wheels turn
//! independently and keep the remainder of the delay in the timer; here the digits of the absolute deadline are compared
//! with those of the hand, as tokio's driver and Linux before 4.8 do, so that nothing has to be kept. Chunked slots take the
//! place of the paper's doubly linked lists, lazy references that of its unlinking.
//!
//! # When to pick another
//!
//! Below a few thousand timers a heap is as fast and smaller (`wheelhouse-binary-heap`). Against a textbook's wheel of linked lists
//! (`benches/examples/textbook` in the repository) at a million timers, this one fires 1.3 to 1.5 times as fast, holds 1.9 times as fast, and
//! its longest tick is a sixth; but cancelling takes 1.9 times as long, rescheduling 1.7 times, and at some ten thousand timers, all in the
//! caches, linked lists are ahead in everything. The run is in `results/`. Where no single call may take
//! milliseconds, mind the worst case of a cascade above: a heap has none.
//!
//! # A program
//!
//! ```
//! use wheelhouse_hierarchical_wheel::{HierarchicalWheel, Timer};
//!
//! // One tick is a millisecond; connections time out after 30 seconds.
//! let mut timeouts = HierarchicalWheel::new();
//! let idle = timeouts.insert(30_000, "connection 1");
//! let busy = timeouts.insert(30_000, "connection 2");
//!
//! assert!(timeouts.reschedule(busy, 45_000)); // a request came in
//! assert_eq!(timeouts.next_wakeup(), Some(29_952)); // both move to exact slots then
//!
//! let mut closed = Vec::new();
//! timeouts.advance(30_000, |expired| closed.push(expired.value));
//! assert_eq!(closed, ["connection 1"]);
//! assert_eq!(timeouts.cancel(idle), None); // too late, and harmless
//! assert_eq!(timeouts.cancel(busy), Some("connection 2"));
//! ```
#![no_std]

extern crate alloc;

mod builder;
mod definition;
mod geometry;
mod levels;
mod queue;
mod ring;
mod wheel;

pub use builder::Builder;
pub use definition::Definition;
pub use wheel::HierarchicalWheel;
pub use wheelhouse_core::{Expired, SlotCountError, Tick, Timer, TimerId};

/// Compiles the program of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
