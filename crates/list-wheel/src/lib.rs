//! The timing wheel of the textbooks: levels of slots, a doubly linked list of timers in each.
//! Varghese and Lauck's scheme 7, exact to the tick over all of `u64`.
//!
//! This is the crate to read first if you want to know how timing wheels work.
//!
//! # The idea
//!
//! Think of a clock with hands for seconds, minutes and hours. A timer that is due this minute goes
//! to the list of its second. One that is due this hour goes to the list of its minute, and when
//! the minute hand gets there, it *cascades*: it moves to the list of its second. Each level is
//! such a wheel of 256 slots, and eight levels cover every tick that a `u64` can name.
//!
//! ```text
//! level 1   [ ][ ][•]...[ ]     256 slots of 256 ticks
//!                  ╰─▶ timer 4 ⇄ timer 1 ⇄ timer 8
//! level 0   [ ][•][ ][•]...[ ]  256 slots of one tick
//!               ╰─▶ timer 3
//! ```
//!
//! * The level of a timer is that of the highest digit in which its deadline differs from the hand
//!   (`wheelhouse_core::geometry`). So a slot never holds timers of different turns.
//! * A list is a ring through a sentinel (`nodes`): to take a timer out is two stores.
//! * A bit for each slot says where timers are (`wheelhouse_core::bitmap`), and the next occupied
//!   slot is remembered. A tick with nothing due is one comparison, and a jump visits no empty
//!   slot.
//! * Lists keep the order of insertion, and a cascade empties a list in order into slots that are
//!   empty. So timers fire in the order of (deadline, insertion) without any sorting.
//!
//! # Cost
//!
//! m levels between the hand and a deadline (at most 8 with 256 slots), k timers in a slot, n in
//! all:
//!
//! | method | amortised | worst |
//! |---|---|---|
//! | [`insert`](Timer::insert) | O(1), and O(m) for the cascades to come | O(n), when the array grows |
//! | [`cancel`](Timer::cancel), [`reschedule`](Timer::reschedule) | O(1) | O(1) |
//! | [`advance`](Timer::advance), per timer that fires | O(1) | O(1) |
//! | [`advance`](Timer::advance), per tick | O(1) | **O(k)**: a whole slot cascades at once |
//! | [`next_wakeup`](Timer::next_wakeup), [`deadline`](Timer::deadline) | O(1) | O(1) |
//!
//! A timer that is inserted with a deadline already past goes to an ordered map instead: O(log j)
//! for j such timers. Memory: 24 bytes and the value for each timer of the peak, up to twice that
//! after the array has grown, and 8 for each free place. Each of 2,048 slots takes a node too.
//!
//! # When to pick another
//!
//! Take `wheelhouse-hierarchical-wheel`, which is built of the same lists, if there may be a
//! hundred thousand timers or more: a tick of it moves a bounded number of them, where this one
//! stalls for milliseconds at a million, and it fires several times as fast there. Take this one
//! for the smallest code.
//!
//! # Source and deviations
//!
//! G. Varghese and T. Lauck, *Hashed and hierarchical timing wheels*, SOSP 1987, scheme 7. The
//! paper's wheels turn independently and keep the remainder of the delay in the timer. Here the
//! digits of the absolute deadline are compared with those of the hand, as tokio's driver and Linux
//! before 4.8 do, so that nothing has to be kept. The bits of occupied slots are Linux's.
//!
//! # A program
//!
//! ```
//! use wheelhouse_list_wheel::{ListWheel, Timer};
//!
//! // One tick is a millisecond; connections time out after 30 seconds.
//! let mut timeouts = ListWheel::new();
//! let idle = timeouts.insert(30_000, "connection 1");
//! let busy = timeouts.insert(30_000, "connection 2");
//!
//! assert!(timeouts.reschedule(busy, 45_000)); // a request came in
//! assert_eq!(timeouts.next_wakeup(), Some(29_952)); // it moves to its exact slot then
//!
//! let mut closed = Vec::new();
//! timeouts.advance(30_000, |expired| closed.push(expired.value));
//! assert_eq!(closed, ["connection 1"]);
//! assert_eq!(timeouts.cancel(idle), None); // too late, and harmless
//! assert_eq!(timeouts.cancel(busy), Some("connection 2"));
//! ```
#![no_std]

extern crate alloc;

mod builder;
mod definition;
mod nodes;
mod wheel;

pub use builder::Builder;
pub use definition::Definition;
pub use wheel::ListWheel;
pub use wheelhouse_core::{Expired, SlotCountError, Tick, Timer, TimerId, WheelError};

/// Compiles the program of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
