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
//! delay below 256 ticks not at all, or once if it ends in the next turn, below 65,536 at most twice, and so on.
//!
//! # What is special
//!
//! * **No tick stalls.** A slot that grows beyond 4,096 timers becomes a wheel of its own (`levels`): timers go straight
//!   to the level below, and when the hand gets there, that wheel takes its place among the levels without any timer being moved. So a
//!   tick moves a limited number of timers a level, where other wheels move all there are in the slot; and storage grows by pieces
//!   that are never moved.
//! * **A slot is no linked list** of timers but a queue of their indices in chunks of two cache lines (`queue`). Cascading and
//!   firing read memory in order, and the timers behind the indices are fetched side by side, not one after the other.
//! * **Cancelling overwrites the index** with a hole; no neighbour is touched. Slots are told of it some thirty timers at
//!   a time, when all it takes has arrived from memory; so are those of timers that move, where there are too many for the caches. Holes
//!   are skipped, and dropped slot by slot where they are four of five; a slot of many timers of one tick is tidied up a chunk at a time (`queue::merge`).
//! * **The next slot is remembered.** A tick with nothing due costs a comparison, and a jump over any distance visits
//!   only slots that hold live timers. A slot whose last live timer is cancelled is empty at once: no wake-up for nothing.
//! * **Order by (deadline, insertion) comes for free:** each slot is a queue, and a cascade empties it in order into slots that
//!   are empty. That makes the wheel an incremental, stable radix sort.
//!
//! # Cost
//!
//! m levels between the hand and a deadline (at most 8 with 256 slots); L = 4,096, sixteen times the slots of a level. Nothing depends on the
//! number of live timers, nor on how many of them are due at one tick:
//!
//! | method | amortised | worst |
//! |---|---|---|
//! | [`insert`](Timer::insert) | O(m), for the cascades to come | O(L m), when slots are split |
//! | [`cancel`](Timer::cancel) | O(m) | O(m + L): 32 timers are accounted for, one slot is tidied up or one ring joined |
//! | [`reschedule`](Timer::reschedule) | O(m) | O(L m), both |
//! | [`advance`](Timer::advance), per timer that fires | O(1), its cascades paid for by its insertion | O(L m) in one tick |
//! | [`advance`](Timer::advance), nothing due | O(1), likewise | O(L m) |
//! | [`next_wakeup`](Timer::next_wakeup), [`deadline`](Timer::deadline) | O(1) | O(1) |
//!
//! With s slots a level, an emptied slot is followed by a search for the next over at most s / 64 words: four by default.
//!
//! Memory, for each timer: 16 bytes and the value; its index, and at most nine holes, of 4 bytes each, mostly fewer than four; 8 for each place that is free. Each slot
//! in use takes a chunk of 136 bytes at least, and each level, and each slot that has become a wheel, 16 bytes a slot. At a million timers with delays up to
//! 2^20 ticks that is 20 bytes and the value. A timer that is inserted with a deadline already past goes to an ordered map instead:
//! O(log j) for j such timers.
//!
//! # Source and deviations
//!
//! G. Varghese and T. Lauck, *Hashed and hierarchical timing wheels*, SOSP 1987, scheme 7. The paper's wheels turn
//! independently and keep the remainder of the delay in the timer; here the digits of the absolute deadline are compared
//! with those of the hand, as tokio's driver and Linux before 4.8 do, so that nothing has to be kept. Chunked slots take the
//! place of the paper's doubly linked lists, holes that of its unlinking. Slots that split are an idea of burst tries (S. Heinz,
//! J. Zobel and H. Williams, 2002), turned to time.
//!
//! # When to pick another
//!
//! Against a textbook's wheel of linked lists (`cargo bench --bench peers` in the repository) it is ahead at a million timers, but for insertions into
//! fresh memory, and level in cancelling; at some ten thousand, all in the caches, linked lists do less work for each operation and are ahead: the runs are in
//! `results/`. Below a few thousand timers a heap is smaller, and faster where a jump fires all (`wheelhouse-binary-heap`).
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

mod arrears;
mod builder;
mod definition;
mod hierarchical_wheel;
mod hints;
mod levels;
mod nodes;
mod rings;
mod store;
mod wheel;

pub use builder::Builder;
pub use definition::Definition;
pub use hierarchical_wheel::HierarchicalWheel;
pub use wheelhouse_core::{Expired, SlotCountError, Tick, Timer, TimerId, WheelError};

/// Compiles the program of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
