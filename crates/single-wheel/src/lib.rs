//! A timer facility on one timing wheel without rounds: Varghese and Lauck's scheme 4, with
//! overflow lists for deadlines past its range, exact to the tick over all of `u64`.
//!
//! # The idea
//!
//! An array with a slot for each of the next M ticks. A timer is appended to the slot of its tick
//! and fires when the hand gets there, without a comparison or a search. If all delays are below M,
//! every operation is O(1), with the smallest constant of all schemes. The price is a slot for each
//! tick: delays of a day, in milliseconds, need 86 million slots.
//!
//! ```text
//!                         hand at 10, M = 8
//! slot     0    1    2    3    4    5    6    7        overflow
//!         [ ]  [17] [▲]  [ ]  [ ]  [13] [ ]  [ ]       turn of 16: 18
//! tick     16   17   10   11   12   13   14   15        turn of 88: 95, 90
//! ```
//!
//! Timers further away are stored in *overflow lists*, one for each turn in which a timer is due.
//! When the hand begins such a turn, the timers of its list move to the slots.
//!
//! # Design
//!
//! * A timer past the range moves once, at the beginning of its turn. Logic simulators have a
//!   single list and search all of it in each turn, which takes minutes for a million timers over
//!   256 turns.
//! * The wheel remembers a tick before which nothing is to be done, so a call before that tick
//!   costs one comparison. A call that advances by any number of ticks visits only occupied slots
//!   and turns that have a list.
//! * Timers with the same deadline keep their order, whether they were in a list or not. The timers
//!   of a list go *before* those in the slot, because once a deadline is in range, no timer with
//!   that deadline is added to the list.
//! * [`insert_within`](SingleWheel::insert_within) rejects deadlines past the range and returns the
//!   value, for programs in which such a deadline is a mistake.
//!
//! # Cost
//!
//! M is the number of slots, t the number of turns that have an overflow list, k the number of
//! timers in such a list, j the number of timers that were overdue when they were inserted:
//!
//! | method | amortised | worst |
//! |---|---|---|
//! | [`insert`](Timer::insert) | O(1), or O(log t) past the range | O(log j) if overdue |
//! | [`cancel`](Timer::cancel), [`reschedule`](Timer::reschedule) | the same | the same |
//! | [`advance`](Timer::advance), per timer that fires | O(1), or O(M / 64) if a turn has few timers | O(k + M / 64) |
//! | [`advance`](Timer::advance), nothing due | O(1) | O(k + M / 64), once in M ticks |
//! | [`next_wakeup`](Timer::next_wakeup) | O(M / 64) | O(M / 64) |
//! | [`deadline`](Timer::deadline) | O(1) | O(1) |
//!
//! Memory: each timer of the peak takes 16 bytes, its value, and two links of 4 bytes. Each free
//! place takes 8 bytes, each slot 8, and each turn with an overflow list some 40.
//!
//! # Source and deviations
//!
//! G. Varghese and T. Lauck, *Hashed and hierarchical timing wheels*, SOSP 1987, scheme 4, and
//! their account of logic simulators (TEGAS-2, DECSIM) in section 4.2. A bitmap skips slots without
//! timers, while the paper's hand visits each tick. The single overflow list of the simulators is
//! replaced by one list per turn, in an ordered map.
//!
//! # When to use another structure
//!
//! If most delays are past the range, use `wheelhouse-hierarchical-wheel`, which finds the slot of
//! any timer in O(1). This wheel is the right one for delays that are known to be short:
//! retransmissions, frames, debouncing.
//!
//! # Example
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
pub use wheelhouse_core::{
    CapacityError, Expired, SlotCountError, Tick, Timer, TimerId, WheelError,
};

/// Compiles the README's code as a doc test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
