//! A timer facility on a skip list: ordered by deadline, cancelled in O(1) through the handle, exact to the tick over all of
//! `u64`.
//!
//! # The idea
//!
//! All timers stand in one list, in order. A quarter of them, chosen at random, also stand in a second list above it, a quarter of
//! those in a third, and so on. A search starts in the topmost list, goes along it while it can, and steps down where it would go
//! too far: each list saves it most of the steps in the one below.
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
//! * The lists are linked both ways. Pugh's search for a node to be removed is not needed: the handle leads to the timer, its links
//!   to its neighbours on each level, of which there are 1.33 on average. Cancelling is O(1) at any size.
//! * A link carries the deadline it leads to, so that a step that would go too far is not taken. At a million timers each such
//!   step is a cache miss, and there is one on every level.
//! * Nodes are 24 bytes in two arrays, linked by `u32`: those of level 0 at the place of their timer, all others in a pool. The
//!   timers themselves are not touched by a search.
//! * A new timer goes behind all of its deadline, so the order of insertion is the order of the list and needs no counter.
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
//! The heights come from a generator that is seeded, not from the deadlines, so no order of insertion is bad. Who knows the seed
//! can choose which timers to cancel so that the list degrades; choose your own where that matters
//! ([`Builder::seed`]). Memory: 44 bytes and the value for each timer, and 8 for the upper levels on average, at the peak.
//!
//! # Source and deviations
//!
//! W. Pugh, *Skip lists: a probabilistic alternative to balanced trees*, CACM 33(6), 1990, with his p = 1/4 and, for up to 4^16
//! timers, 16 levels. The links back, the deadlines in the links and the separate nodes for each level are not in the paper. DPDK's
//! `rte_timer` is a skip list.
//!
//! # When to pick another
//!
//! Inserting at a random place costs a search of a dozen cache misses: a wheel is many times faster
//! (`wheelhouse-hierarchical-wheel`), a heap about as fast and smaller. The list is good where timers come nearly in
//! order, and where firing and cancelling must never stall.
//!
//! # A program
//!
//! ```
//! use wheelhouse_skip_list::{SkipList, Timer};
//!
//! // One tick is a millisecond; each packet is sent again after 200 ms unless it is acknowledged.
//! let mut unacknowledged = SkipList::new();
//! let packets: Vec<_> = (0..3).map(|n| unacknowledged.insert(200 + n, format!("packet {n}"))).collect();
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
mod levels;
mod list;

pub use builder::Builder;
pub use definition::Definition;
pub use list::SkipList;
pub use wheelhouse_core::{Expired, Tick, Timer, TimerId};

/// Compiles the program of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
