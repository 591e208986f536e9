//! A timer facility on one timing wheel with sorted slots: Varghese and Lauck's scheme 5, exact to
//! the tick over all of `u64`.
//!
//! # The idea
//!
//! A hash table whose hash is `deadline mod M`, with sorted chains. A tick reads only the first
//! timer of one slot: if it is not due, no timer of the slot is. The price is paid when a timer
//! starts: the insertion passes all timers of its slot that are due before it.
//!
//! ```text
//!                        hand at 10, M = 8
//! slot     0    1    2    3    4    5    6    7
//!         [ ]  [ ]  [▲]  [ ]  [ ]  [x]  [ ]  [ ]
//!                                   13
//!                                   21
//!                                   21        behind the first 21: insertion order
//!                                   93
//! ```
//!
//! # Cost
//!
//! n is the number of live timers, M the number of slots, j the number of timers that were overdue
//! when they were inserted. A slot has n / M timers on average:
//!
//! | method | average | worst |
//! |---|---|---|
//! | [`insert`](Timer::insert), [`reschedule`](Timer::reschedule) | O(1 + n / M) | O(n) if all timers are in one slot |
//! | [`cancel`](Timer::cancel) | O(1) | O(log j) if the timer was overdue |
//! | [`advance`](Timer::advance), per timer that fires | O(1) if a timer is due at most of the next ticks | O(M) |
//! | [`advance`](Timer::advance), nothing due | O(1) | O(1); O(M) once after the earliest timer was removed |
//! | [`next_wakeup`](Timer::next_wakeup), [`deadline`](Timer::deadline) | O(1) | O(1) |
//!
//! The paper's "O(1) if n < M" holds if the deadlines spread over the slots. Timers with equal
//! delays that are started at one tick, or delays that are all congruent modulo M, are in one long
//! list.
//!
//! Memory: each timer of the peak takes 16 bytes, its value, and two links of 4 bytes. Each free
//! place takes 8 bytes, each slot 8.
//!
//! # Source and deviations
//!
//! G. Varghese and T. Lauck, *Hashed and hierarchical timing wheels*, SOSP 1987, scheme 5. The
//! paper's hand visits each slot in turn. Here a bitmap skips empty slots. If nothing is due in the
//! whole turn, the hand goes to the earliest of the first timers of all slots.
//!
//! # When to use another structure
//!
//! `wheelhouse-round-wheel` does not sort the slots: starting is O(1), and each tick reads all
//! timers of its slot. `wheelhouse-hierarchical-wheel` needs neither.
//!
//! # Example
//!
//! ```
//! use wheelhouse_hashed_wheel::{HashedWheel, Timer};
//!
//! let mut locks = HashedWheel::builder().slots(1_024).build()?; // one tick is a millisecond
//! let lock = locks.insert(30_000, "lock of worker 1");
//! locks.insert(10_000, "lock of worker 2");
//! assert!(locks.reschedule(lock, 60_000)); // still alive
//! assert_eq!(locks.next_wakeup(), Some(10_000));
//! assert_eq!(locks.advance(10_000, |expired| assert_eq!(expired.value, "lock of worker 2")), 1);
//! # Ok::<(), wheelhouse_hashed_wheel::WheelError>(())
//! ```
#![no_std]

extern crate alloc;

mod builder;
mod definition;
mod wheel;

pub use builder::Builder;
pub use definition::Definition;
pub use wheel::HashedWheel;
pub use wheelhouse_core::{
    CapacityError, Expired, SlotCountError, Tick, Timer, TimerId, WheelError,
};

/// Compiles the README's code as a doc test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
