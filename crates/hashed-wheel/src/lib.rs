//! A timer facility on one timing wheel with sorted slots: Varghese and Lauck's scheme 5, exact to
//! the tick over all of `u64`.
//!
//! # The idea
//!
//! A hash table whose hash is `deadline mod M`, and each chain of it in order. A tick looks at the
//! first timer of one slot and no further: either that is due, or nothing in the slot is. The price
//! is paid when a timer starts: it passes those of its slot that are due before.
//!
//! ```text
//!                        hand at 10, M = 8
//! slot     0    1    2    3    4    5    6    7
//!         [ ]  [ ]  [▲]  [ ]  [ ]  [x]  [ ]  [ ]
//!                                   13
//!                                   21
//!                                   21        behind the other: insertion order
//!                                   93
//! ```
//!
//! # Cost
//!
//! n live timers, M slots, k timers in a slot (n / M on average):
//!
//! | method | average | worst |
//! |---|---|---|
//! | [`insert`](Timer::insert), [`reschedule`](Timer::reschedule) | O(1 + n / M) | O(n), all in one slot |
//! | [`cancel`](Timer::cancel) | O(1) | O(log j), one of j that came when they were overdue |
//! | [`advance`](Timer::advance), per timer that fires | O(1), where something is due in most of the ticks ahead | O(M) |
//! | [`advance`](Timer::advance), nothing due | O(1) | O(1); O(M) once after the earliest has gone |
//! | [`next_wakeup`](Timer::next_wakeup), [`deadline`](Timer::deadline) | O(1) | O(1) |
//!
//! The paper's "O(1) if n < M" needs deadlines that spread over the slots: timers of one length
//! started at one tick, or delays that are all `c mod M`, are one long list. Memory: 16 bytes, the
//! value and two links of 4 bytes for each timer at the peak; 8 for each place that is free; 8 a
//! slot.
//!
//! # Source and deviations
//!
//! G. Varghese and T. Lauck, *Hashed and hierarchical timing wheels*, SOSP 1987, scheme 5. The
//! paper's hand visits each slot in turn; here a bitmap skips empty ones, and where nothing is due
//! in the whole turn the hand goes to the least of all first timers.
//!
//! # When to pick another
//!
//! `wheelhouse-round-wheel` leaves the slots unsorted: starting is O(1), and each tick reads its
//! slot. `wheelhouse-hierarchical-wheel` needs neither.
//!
//! # A program
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
pub use wheelhouse_core::{Expired, SlotCountError, Tick, Timer, TimerId, WheelError};

/// Compiles the program of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
