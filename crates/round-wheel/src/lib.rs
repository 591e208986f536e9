//! A timer facility on one timing wheel with rounds: Varghese and Lauck's scheme 6, exact to the
//! tick over all of `u64`.
//!
//! # The idea
//!
//! A clock with a single hand and M slots. A timer goes to the slot `deadline mod M`, and the hand
//! visits one slot per tick. If a timer is due after more than one turn of the hand, it stays in
//! its slot while the hand passes: it has *rounds* to go. So starting and stopping take constant
//! time for any delay, and each tick costs as much as one slot has timers.
//!
//! ```text
//!                        hand at 10, M = 8
//! slot     0    1    2    3    4    5    6    7
//!         [ ]  [ ]  [▲]  [ ]  [ ]  [x]  [ ]  [ ]
//!                                   13        due in 3 ticks
//!                                   21        the same slot, one round later
//! ```
//!
//! # Design
//!
//! * No count of rounds is stored or decremented. The deadline shows if a timer is due in this
//!   round. This takes less memory, and is exact when a call advances by many turns.
//! * A slot is an array of deadlines and indices, 16 bytes each, not a linked list of timers. So a
//!   visit reads memory in order and touches only the timers that fire. The array keeps the order
//!   of insertion.
//! * Each slot has a lower bound on its deadlines, each block of 64 slots a lower bound on those of
//!   its slots, and the wheel a tick before which nothing is due. A call before that tick costs one
//!   comparison. The hand does not read a slot whose timers all have rounds to go. A call that
//!   advances by many turns reads each block and the timers that are due: no call iterates over
//!   ticks or turns.
//! * Cancelling overwrites the timer in its slot with a hole and touches no neighbour. Holes are
//!   dropped when they outnumber the timers of the slot, and when the slot has no timers left.
//!
//! # Cost
//!
//! n is the number of live timers, M the number of slots, k the number of timers in a slot, d the
//! number of timers that fire:
//!
//! | method | amortised | worst |
//! |---|---|---|
//! | [`insert`](Timer::insert) | O(1) | O(k) when the array of the slot grows |
//! | [`cancel`](Timer::cancel) | O(1) | O(k) when holes are dropped |
//! | [`reschedule`](Timer::reschedule) | O(1) | O(k), in both cases |
//! | [`advance`], nothing due | O(1) | O(M / 64 + n) if the earliest timer was removed |
//! | [`advance`], for each timer that fires | O(1 + n / M), plus O(M / 64) if few are due | O(M + n) |
//! | [`advance`] by more than M ticks | O(M / 64 + d (1 + n / M) + d log d) | O(M + n log n) |
//! | [`next_wakeup`](Timer::next_wakeup) | O(1) | O(n + M) if the earliest timer was removed |
//! | [`deadline`](Timer::deadline) | O(1) | O(1) |
//!
//! [`advance`]: Timer::advance
//!
//! A slot is read when one of its timers fires. So a timer with a delay of T ticks is read in vain
//! at most T / M times.
//!
//! Memory: each timer takes 16 bytes plus the value, 16 bytes in its slot (up to twice that after
//! the array has doubled), and at most as much again for holes. Each free place takes 8 bytes, each
//! slot 40, each block 16. A timer that is due takes 16 bytes in a queue until it has fired.
//!
//! # Source and deviations
//!
//! G. Varghese and T. Lauck, *Hashed and hierarchical timing wheels*, SOSP 1987, scheme 6: unsorted
//! lists, n / M entries visited per tick on average. Netty's `HashedWheelTimer` is this scheme with
//! 512 slots. The paper's counts of rounds, its linked lists, and its visits to slots in which
//! nothing is due are left out, as described above.
//!
//! # When to use another structure
//!
//! This wheel is fastest if most delays are below M ticks, or if nearly all timers are cancelled
//! before they fire. If n is far above M, use `wheelhouse-hierarchical-wheel`: it moves each timer
//! a few times instead of reading it in every round.
//!
//! # Example
//!
//! ```
//! use wheelhouse_round_wheel::{RoundWheel, Timer};
//!
//! // One tick is 100 ms, as in Netty; requests time out after 5 s, but almost none does.
//! let mut timeouts = RoundWheel::builder().slots(512).build()?;
//! let first = timeouts.insert(50, "request 1");
//! let second = timeouts.insert(50, "request 2");
//! assert_eq!(timeouts.cancel(first), Some("request 1")); // answered in time
//!
//! let mut failed = Vec::new();
//! while let Some(tick) = timeouts.next_wakeup() {
//!     timeouts.advance(tick, |expired| failed.push((expired.deadline, expired.value)));
//! }
//! assert_eq!(failed, [(50, "request 2")]);
//! assert_eq!(timeouts.cancel(second), None); // too late: the handle is stale
//! # Ok::<(), wheelhouse_round_wheel::WheelError>(())
//! ```
#![no_std]

extern crate alloc;

mod builder;
mod definition;
mod due;
mod slots;
mod wheel;

pub use builder::Builder;
pub use definition::Definition;
pub use wheel::RoundWheel;
pub use wheelhouse_core::{
    CapacityError, Expired, SlotCountError, Tick, Timer, TimerId, WheelError,
};

/// Compiles the README's code as a doc test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
