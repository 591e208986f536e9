//! A timer facility on one timing wheel without rounds: Varghese and Lauck's scheme 4, with
//! overflow lists for what lies past its range, exact to the tick over all of `u64`.
//!
//! # The idea
//!
//! An array with a slot for each of the next M ticks. A timer goes to the slot of its tick, behind
//! those that are there, and fires when the hand gets there: nothing is compared, nothing is
//! searched. As long as all delays are below M, every operation is O(1), with the smallest constant
//! of all schemes. The price is a slot for each tick: for delays of a day in milliseconds, 86
//! million.
//!
//! ```text
//!                         hand at 10, M = 8
//! slot     0    1    2    3    4    5    6    7        overflow
//!         [ ]  [17] [▲]  [ ]  [ ]  [13] [ ]  [ ]       turn of 16: 18
//! tick     16   17   10   11   12   13   14   15        turn of 88: 95, 90
//! ```
//!
//! What lies further away waits in *overflow lists*, one for each turn in which something is due.
//! When the hand begins such a turn, its list goes to the slots.
//!
//! # What is special
//!
//! * A timer past the range is moved once, at the begin of its turn. Logic simulators keep a single
//!   list and look through all of it in each turn: a million timers over 256 turns take minutes.
//! * The wheel remembers a tick before which the hand comes to nothing: a tick before it costs a
//!   comparison. A jump over any distance goes from occupied slot to occupied slot, and to the
//!   turns that have a list.
//! * Timers of one deadline keep their order, whichever way they came: those of a list go *before*
//!   those in the slot, because once a deadline is in range no other goes to the list.
//! * [`insert_within`](SingleWheel::insert_within) refuses what is past the range and gives the
//!   value back, for a program in which that is a mistake.
//!
//! # Cost
//!
//! M slots, t turns that have an overflow list, k timers in one of them, j timers whose deadline
//! was past when they came:
//!
//! | method | amortised | worst |
//! |---|---|---|
//! | [`insert`](Timer::insert) | O(1), O(log t) past the range | O(log j), if overdue |
//! | [`cancel`](Timer::cancel), [`reschedule`](Timer::reschedule) | the same | the same |
//! | [`advance`](Timer::advance), each | O(1), O(M / 64) where a turn has few | O(k + M / 64) |
//! | [`advance`](Timer::advance), nothing due | O(1) | O(k + M / 64), once in M ticks |
//! | [`next_wakeup`](Timer::next_wakeup) | O(M / 64) | O(M / 64) |
//! | [`deadline`](Timer::deadline) | O(1) | O(1) |
//!
//! Memory: 16 bytes, and the value, and two links of 4 bytes for each timer at the peak; 8 for each
//! place that is free; 8 for each slot; some 40 for each turn that has an overflow list.
//!
//! # Source and deviations
//!
//! G. Varghese and T. Lauck, *Hashed and hierarchical timing wheels*, SOSP 1987, scheme 4, and
//! their account of logic simulators (TEGAS-2, DECSIM) in section 4.2. Slots without timers are
//! skipped by a bitmap, where the paper steps on tick by tick; what the simulators keep in one list
//! is in one for each turn, found by an ordered map.
//!
//! # When to pick another
//!
//! Where delays are past the range as a rule, `wheelhouse-hierarchical-wheel`: it finds the place
//! of a timer in O(1). In a unit of its own it is the right wheel for delays that are known to be
//! short: retransmissions, frames, debouncing.
//!
//! # A program
//!
//! ```
//! use wheelhouse_single_wheel::{SingleWheel, Timer};
//!
//! // One tick is a millisecond; keys repeat after 500 ms, then every 33 ms.
//! let mut repeats = SingleWheel::builder().slots(512).build()?;
//! let key = repeats.insert(500, 'j');
//! let mut typed = String::new();
//! while let Some(tick) = repeats.next_wakeup().filter(|tick| *tick <= 600) {
//!     while let Some(expired) = repeats.pop_expired(tick) {
//!         typed.push(expired.value);
//!         repeats.insert(tick + 33, expired.value);
//!     }
//! }
//! assert_eq!(typed, "jjjj"); // at 500, 533, 566, 599
//! assert_eq!(repeats.cancel(key), None); // it fired
//! # Ok::<(), wheelhouse_single_wheel::WheelError>(())
//! ```
#![no_std]

extern crate alloc;

mod builder;
mod definition;
mod out_of_range;
mod wheel;

pub use builder::Builder;
pub use definition::Definition;
pub use out_of_range::OutOfRange;
pub use wheel::SingleWheel;
pub use wheelhouse_core::{Expired, SlotCountError, Tick, Timer, TimerId, WheelError};

/// Compiles the program of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
