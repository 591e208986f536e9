//! A timer facility as Linux has it since 4.8: a timing wheel whose timers never move. Every
//! operation takes constant time, at the worst too; in return a timer fires late by up to 8/63 of
//! its delay, never early.
//!
//! # The idea
//!
//! A hierarchical wheel is exact because its timers come down from level to level until they are in
//! a slot of one tick. That *cascade* is its cost, and most of it is in vain: timeouts are
//! cancelled long before they would fire. So this wheel leaves it out. Each level has 64 slots,
//! each level is 8 times as coarse as the one below; a timer is put into the first level that
//! reaches as far as its delay, in the slot that ends at its deadline or next after it, and fires
//! when that slot ends. The longer the delay, the less does a given lateness matter: it is a share
//! of the delay that is bounded, not a number of ticks.
//!
//! ```text
//!  level   a slot    delays from    at most late by
//!    0          1              1                  0
//!    1          8             63                  7    [ ][x][ ] ...  64 slots
//!    2         64            504                 63    [ ][ ][x] ...  64 slots
//!    3        512          4,032                511
//!    n        8^n     63 8^(n-1)            8^n - 1    less than 8/63 of the delay: 12.7 %
//! ```
//!
//! When a slot ends, its list is hung as a whole behind those that are due. A word of 64 bits for
//! each level tells which of its slots hold timers, so that no empty slot is ever looked at: the
//! clock may jump.
//!
//! # The contract
//!
//! It is [late by design](wheelhouse_core#structures-that-are-late-by-design):
//! [`LinuxWheel::lateness`] is the bound for each delay, seen from [`now`](Timer::now) when the
//! timer was inserted or moved, and tested. Below 63 ticks it is nothing. Finer ticks do not help:
//! it is a share of the delay.
//!
//! Timers fire in the order in which their slots end. Of slots that end at one tick the finest goes
//! first; in a slot it is the order of insertion, whatever the deadlines. What is overdue when it
//! is inserted, or moved, is due at once, behind what is due already.
//!
//! # Cost
//!
//! m levels: 6 for delays up to 2^20 ticks, 21 at most; n timers do not matter.
//!
//! | method | amortised | worst |
//! |---|---|---|
//! | [`insert`](Timer::insert), [`reschedule`](Timer::reschedule) | O(1) | O(m), when levels are made |
//! | [`cancel`](Timer::cancel) | O(1) | O(1) |
//! | [`advance`](Timer::advance), per timer that fires | O(1) | O(1), and O(m) for its slot |
//! | [`advance`](Timer::advance), nothing due | O(m) | O(m) |
//! | [`next_wakeup`](Timer::next_wakeup) | O(m) | O(m) |
//! | [`deadline`](Timer::deadline) | O(1) | O(1) |
//!
//! The first [`pop_expired`](Timer::pop_expired) at a new tick does this for all slots that have
//! ended by then, 64 m at most, however many timers are in them.
//!
//! Memory: 16 bytes, the value and two links of 4 bytes for each timer at the peak; 8 for each
//! place that is free; 528 bytes a level.
//!
//! # Source and deviations
//!
//! T. Gleixner's wheel in `kernel/time/timer.c` (Linux 4.8, 2016), with its slots, levels and
//! bounds between levels. It differs in this:
//!
//! * Linux puts a timer that is due exactly when a slot ends into the next slot, for its clock may
//!   be anywhere within the present tick; so there each timer is late by a tick at least, in level
//!   0 too, and by a whole slot at most. Here ticks are whole, and that timer fires at its
//!   deadline.
//! * Linux adds a timer at the head of its slot (`hlist_add_head`): of those in a slot the last in
//!   is the first out. Here it is the first in.
//! * Linux has 8 or 9 levels and cuts longer delays down to what they reach. Here there are levels
//!   for all of `u64`, made when they are needed.
//! * Linux keeps the tick of the next slot in a field. Here it is looked for among the levels.
//!
//! # When to pick another
//!
//! Where a timer is to fire at its tick, or timers in order of their deadlines:
//! `wheelhouse-hierarchical-wheel`. This one is for timeouts in great numbers that nearly always
//! are cancelled, and for which an eighth more does not matter.
//!
//! # A program
//!
//! ```
//! use wheelhouse_linux_wheel::{LinuxWheel, Timer};
//!
//! let mut timeouts = LinuxWheel::new(); // one tick is a millisecond
//! let acknowledged = timeouts.insert(200, "retransmit");
//! timeouts.insert(7_200_000, "keep alive");
//! timeouts.insert(40, "delayed acknowledgement");
//!
//! // Short: on its tick.
//! timeouts.advance(40, |expired| assert_eq!(expired.value, "delayed acknowledgement"));
//! assert_eq!(timeouts.len(), 2);
//! assert_eq!(timeouts.cancel(acknowledged), Some("retransmit"));
//! // Two hours: two minutes late, it may be four.
//! assert_eq!(timeouts.next_wakeup(), Some(7_340_032));
//! let bound = LinuxWheel::<&str>::lateness(7_200_000);
//! assert!(7_340_032 - 7_200_000 <= bound && bound * 63 <= 8 * 7_200_000);
//! ```
#![no_std]

extern crate alloc;

mod builder;
mod definition;
mod level;
mod wheel;

pub use builder::Builder;
pub use definition::Definition;
pub use wheel::LinuxWheel;
pub use wheelhouse_core::{Expired, Tick, Timer, TimerId, WheelError};

/// Compiles the program of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
