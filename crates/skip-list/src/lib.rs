//! A timer facility on a skip list: timers are ordered by deadline and cancelled in O(1) by handle,
//! exact to the tick over all of `u64`.
//!
//! # The idea
//!
//! All timers are in one sorted list. A quarter of them, chosen at random, are also in a second
//! list above it, a quarter of those in a third, and so on. A search starts in the top list,
//! follows it as far as it can, and steps down where the next node would be too far. Each list
//! saves most of the steps in the list below.
//!
//! ```text
//! level 2   ●───────────────────────▶ 40
//! level 1   ●───────▶ 12 ───────────▶ 40 ───────▶ 71
//! level 0   ●──▶ 7 ──▶ 12 ──▶ 19 ──▶ 40 ──▶ 55 ──▶ 71
//!
//! to insert 50: along level 2 to 40, down, down, insert behind 40
//! ```
//!
//! # Design
//!
//! * The lists are doubly linked, so removing a node needs no search, in contrast to Pugh's lists.
//!   The handle leads to the timer, and its links lead to its neighbours on each level. A timer is
//!   on 1.33 levels on average, so cancelling is O(1) at any size.
//! * A search waits for memory: the address of each node is stored in the node before it, and with
//!   a million timers each node is a cache miss. Three measures reduce the visits. A link contains
//!   the deadline of its target, so a node that is too far is not visited. Each node has links to
//!   the next *and the second next* node, so a step passes two. The nodes of a timer above level 0,
//!   its *tower*, are stored side by side, so a step down is rarely a miss. Pugh counts 4 visits
//!   per level; 1.7 are left. The price is one more write when a timer is linked or unlinked.
//!
//!   ```text
//!     node, 32 bytes, two a cache line:
//!     | deadlines of the next two | links to them  | link to the one before  | tower or timer |
//!                8 + 8                  4 + 4                   4                    4
//!   ```
//! * Nodes are in two arrays, linked by `u32`: the nodes of level 0 at the place of their timer,
//!   all others in a pool. A search does not touch the timers themselves.
//! * A new timer goes behind all timers with the same deadline, so the list has the order of
//!   insertion and needs no counter.
//! * A timer due after all others is appended without a search. This is so if all delays are equal.
//!
//! # Cost
//!
//! | method | expected | worst |
//! |---|---|---|
//! | [`insert`](Timer::insert) | O(log n), or O(1) behind the last | O(n), with vanishing probability; O(n) when an array grows |
//! | [`cancel`](Timer::cancel) | O(1) | O(log n), at most 16 levels |
//! | [`reschedule`](Timer::reschedule) | O(log n), or O(1) behind the last | O(n), with vanishing probability |
//! | [`advance`](Timer::advance), per timer that fires | O(1) | O(log n), at most 16 levels |
//! | [`advance`](Timer::advance), nothing due | O(1) | O(1) |
//! | [`next_wakeup`](Timer::next_wakeup), [`deadline`](Timer::deadline) | O(1) | O(1) |
//!
//! Measured with uniform delays at n = 2^20: 31 comparisons to insert and one to fire.
//!
//! The heights come from a seeded generator, not from the deadlines, so no order of insertion is
//! bad. A party that knows the seed can choose which timers to cancel so that the list degrades. If
//! that matters, set your own seed ([`Builder::seed`]).
//!
//! Memory: each timer of the peak takes 32 bytes, 11 bytes for towers on average, 8 bytes in the
//! arena (16 for a free place), and its value. A new tower reuses the memory of a former tower of
//! the same height, so the memory for each height is that of its peak.
//!
//! # Source and deviations
//!
//! W. Pugh, *Skip lists: a probabilistic alternative to balanced trees*, CACM 33(6), 1990, with his
//! p = 1/4 and, for up to 4^16 timers, 16 levels. The backward links, the links to the second next
//! node, the deadlines in the links and the separate towers are not in the paper. DPDK's
//! `rte_timer` is a skip list.
//!
//! # When to use another structure
//!
//! Inserting at a random place among a million timers costs half a dozen cache misses, one after
//! the other. A wheel (`wheelhouse-hierarchical-wheel`) or a heap (`wheelhouse-binary-heap`)
//! inserts many times faster. Use the list if timers are inserted nearly in order, and if firing
//! and cancelling must never stall.
//!
//! # Example
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
//! assert_eq!(unacknowledged.cancel(packets[0]), None); // too late: the handle is stale
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
pub use wheelhouse_core::{CapacityError, Expired, Tick, Timer, TimerId};

/// Compiles the README's code as a doc test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
