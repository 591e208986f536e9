//! A timer facility on a skip list: ordered by deadline, cancelled in O(1) through the handle,
//! exact to the tick over all of `u64`.
//!
//! # The idea
//!
//! All timers stand in one list, in order. A quarter of them, chosen at random, also stand in a
//! second list above it, a quarter of those in a third, and so on. A search starts in the topmost
//! list, goes along it while it can, and steps down where it would go too far: each list saves it
//! most of the steps in the one below.
//!
//! ```text
//! level 2   ●───────────────────────▶ 40
//! level 1   ●───────▶ 12 ───────────▶ 40 ───────▶ 71
//! level 0   ●──▶ 7 ──▶ 12 ──▶ 19 ──▶ 40 ──▶ 55 ──▶ 71
//!
//! to insert 50: along level 2 to 40, down, down, behind 40
//! ```
//!
//! # What is special
//!
//! * The lists are linked both ways. Pugh's search for a node to be removed is not needed: the
//!   handle leads to the timer, its links to its neighbours on each level, of which there are 1.33
//!   on average. Cancelling is O(1) at any size.
//! * A search waits for memory: where the next node is, only the node before it tells, and at a
//!   million timers each is a cache miss. Three things make it visit fewer. A link carries the
//!   deadline it leads to, so that a step that would go too far is not taken. Each node is linked
//!   to the next *and the one behind that*, so that a stride passes two. And the nodes of one timer
//!   above level 0, its *tower*, lie side by side, so that a step down is mostly no miss. Of the 4
//!   visits a level that Pugh counts, 1.7 are left, for one write more when a timer is linked or
//!   unlinked.
//!
//!   ```text
//!     node, 32 bytes, two a cache line:
//!     | deadlines of the next two | where they are | where the one before is | tower or timer |
//!                8 + 8                  4 + 4                   4                    4
//!   ```
//! * Nodes are in two arrays, linked by `u32`: those of level 0 at the place of their timer, all
//!   others in a pool. The timers themselves are not touched by a search.
//! * A new timer goes behind all of its deadline, so the order of insertion is the order of the
//!   list and needs no counter.
//! * A timer due after all others, as with timeouts of one length, is appended without a search.
//!
//! # Cost
//!
//! | method | expected | worst |
//! |---|---|---|
//! | [`insert`](Timer::insert) | O(log n), O(1) behind the last | O(n), with vanishing probability; O(n) when an array grows |
//! | [`cancel`](Timer::cancel) | O(1) | O(log n), at most 16 levels |
//! | [`reschedule`](Timer::reschedule) | O(log n), O(1) behind the last | as `insert` |
//! | [`advance`](Timer::advance), per timer fired | O(1) | O(log n), at most 16 levels |
//! | [`advance`](Timer::advance), nothing due | O(1) | O(1) |
//! | [`next_wakeup`](Timer::next_wakeup), [`deadline`](Timer::deadline) | O(1) | O(1) |
//!
//! Counted with uniform delays at n = 2^20: 31 comparisons to insert and one to fire.
//!
//! The heights come from a generator that is seeded, not from the deadlines, so no order of
//! insertion is bad. Who knows the seed can choose which timers to cancel so that the list
//! degrades; choose your own where that matters ([`Builder::seed`]).
//!
//! Memory: 32 bytes for each timer and 11 for towers, on average, beside the arena's 8 (16 for a
//! free place) and the value, at the peak. The room of a tower is used again by one of the same
//! height, so that of each height there is what was in use at its peak.
//!
//! # Source and deviations
//!
//! W. Pugh, *Skip lists: a probabilistic alternative to balanced trees*, CACM 33(6), 1990, with his
//! p = 1/4 and, for up to 4^16 timers, 16 levels. The links back and two ahead, the deadlines in
//! the links and the towers apart from the timers are not in the paper. DPDK's `rte_timer` is a
//! skip list.
//!
//! # When to pick another
//!
//! Inserting at a random place among a million timers is a search of half a dozen cache misses, one
//! after the other: a wheel (`wheelhouse-hierarchical-wheel`) or a heap (`wheelhouse-binary-heap`)
//! inserts many times faster. The list is good where timers come nearly in order, and where firing
//! and cancelling must never stall.
//!
//! # A program
//!
//! ```
//! use wheelhouse_skip_list::{SkipList, Timer};
//!
//! // One tick is a millisecond; each packet is sent again after 200 ms unless it is acknowledged.
//! let mut unacknowledged = SkipList::new();
//! let packets: Vec<_> =
//!     (0..3).map(|n| unacknowledged.insert(200 + n, format!("packet {n}"))).collect();
//! unacknowledged.cancel(packets[1]);
//!
//! let mut sent_again = Vec::new();
//! while let Some(expired) = unacknowledged.pop_expired(205) {
//!     sent_again.push(expired.value);
//! }
//! assert_eq!(sent_again, ["packet 0", "packet 2"]);
//! assert_eq!(unacknowledged.cancel(packets[0]), None); // too late, and harmless
//! ```
#![no_std]

extern crate alloc;

mod builder;
mod definition;
mod heights;
mod level;
mod levels;
mod list;
mod towers;

pub use builder::{BuildError, Builder};
pub use definition::Definition;
pub use list::SkipList;
pub use wheelhouse_core::{Expired, Tick, Timer, TimerId};

/// Compiles the program of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
