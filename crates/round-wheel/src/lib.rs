//! A timer facility on one timing wheel with rounds: Varghese and Lauck's scheme 6, exact to the
//! tick over all of `u64`.
//!
//! # The idea
//!
//! A clock with a single hand and M slots. A timer goes to the slot `deadline mod M`, and the hand
//! visits one slot each tick. A timer due beyond one turn of the hand waits in its slot while the
//! hand passes: it has *rounds* to go. So starting and stopping take constant time whatever the
//! delay, and each tick pays for the timers of one slot.
//!
//! ```text
//!                        hand at 10, M = 8
//! slot     0    1    2    3    4    5    6    7
//!         [ ]  [ ]  [▲]  [ ]  [ ]  [x]  [ ]  [ ]
//!                                   13        due in 3 ticks
//!                                   21        the same slot, one round later
//! ```
//!
//! # What is special
//!
//! * No count of rounds is kept and none is decremented. The deadline itself says whether a timer
//!   is due in this round, which is shorter, and exact after a jump of the clock over many turns.
//! * A slot is an array of deadlines and indices, 16 bytes each, not a linked list of timers: a
//!   visit reads memory in order and touches only the timers that fire. It keeps the order of
//!   insertion.
//! * A slot knows a bound on its earliest deadline, a block of 64 slots a bound on those, and the
//!   wheel a tick before which nothing is due. A tick before it costs one comparison; the hand does
//!   not look into a slot whose timers have rounds to go, and a jump over many turns costs a look
//!   at each block and what is due: no call walks ticks or turns.
//! * Cancelling overwrites the timer's place in its slot with a hole; no neighbour is touched.
//!   Holes are dropped when they outnumber the timers of the slot, and with the last of these.
//!
//! # Cost
//!
//! n live timers, M slots, k timers in a slot, delays of T ticks:
//!
//! | method | amortised | worst |
//! |---|---|---|
//! | [`insert`](Timer::insert) | O(1) | O(k), when the array of the slot grows |
//! | [`cancel`](Timer::cancel) | O(1) | O(k), when holes are dropped |
//! | [`reschedule`](Timer::reschedule) | O(1) | O(k), likewise |
//! | [`advance`], nothing due | O(1) | O(M / 64 + n), where the first timer was taken out |
//! | [`advance`], for each that fires | O(1 + n / M), O(M / 64) where few are due | O(M + n) |
//! | [`advance`] past a turn, d fire | O(M / 64 + d (1 + n / M) + d log d) | O(M + n log n) |
//! | [`next_wakeup`](Timer::next_wakeup) | O(1) | O(n + M), where the first was taken out |
//! | [`deadline`](Timer::deadline) | O(1) | O(1) |
//!
//! [`advance`]: Timer::advance
//!
//! A slot is read when something in it fires: a timer of T / M rounds is passed at most so often by
//! the others of its slot.
//!
//! Memory, for each timer: 16 bytes and the value, 16 in its slot (up to twice that where the array
//! has just doubled), as much again for holes at most, and 8 for each place that is free; 40 bytes
//! a slot, and 16 a block. Timers that are due wait in line, 16 bytes each, until they have fired.
//!
//! # Source and deviations
//!
//! G. Varghese and T. Lauck, *Hashed and hierarchical timing wheels*, SOSP 1987, scheme 6: unsorted
//! lists, n / M entries visited per tick on average. Netty's `HashedWheelTimer` is this scheme with
//! 512 slots. The paper's rounds, its linked lists and its visits to slots in which nothing is due
//! were left out, as said above.
//!
//! # When to pick another
//!
//! It is at its best when most delays are below M ticks, or when nearly all timers are cancelled
//! before they fire. Where n is far above M, `wheelhouse-hierarchical-wheel` moves each timer a few
//! times instead of passing it in every round.
//!
//! # A program
//!
//! ```
//! use wheelhouse_round_wheel::{RoundWheel, Timer};
//!
//! // One tick is 100 ms, as in Netty; requests time out after 5 s, almost none does.
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
//! assert_eq!(timeouts.cancel(second), None); // too late, and harmless
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
pub use wheelhouse_core::{Expired, SlotCountError, Tick, Timer, TimerId, WheelError};

/// Compiles the program of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
