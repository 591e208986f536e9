//! The timer facility of Linux since 4.8: a timing wheel whose timers never move. Every operation
//! takes constant time, even in the worst case. In return a timer fires late by up to 8/63 of its
//! delay, but never early.
//!
//! # The idea
//!
//! A hierarchical wheel is exact because its timers cascade from level to level until they are in a
//! slot of one tick. Most of this work is in vain, because most timeouts are cancelled long before
//! they would fire. So this wheel does not cascade. Each level has 64 slots and is 8 times as
//! coarse as the level below. A timer goes to the first level that covers its delay, to the slot
//! that ends at its deadline or next after it, and fires when that slot ends. The longer a delay,
//! the less a given lateness matters: the bound is a share of the delay, not a number of ticks.
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
//! When a slot ends, its whole list is appended to the list of timers that are due. Each level has
//! a word of 64 bits with a bit for each slot that has timers, so a call that advances by many
//! ticks reads no empty slot.
//!
//! # The contract
//!
//! It is [late by design](wheelhouse_core#structures-that-are-late-by-design):
//! [`LinuxWheel::lateness`] is the bound for each delay, counted from [`now`](Timer::now) when the
//! timer was inserted or moved. The conformance suite tests it. For delays below 63 ticks it is 0.
//! Finer ticks do not help, because the bound is a share of the delay.
//!
//! Timers fire in the order in which their slots end. If several slots end at one tick, the one on
//! the finest level is first. Within a slot, timers fire in order of insertion, whatever their
//! deadlines are. A timer that is overdue when it is inserted or moved is due at once, behind the
//! timers that are due already.
//!
//! # Cost
//!
//! m is the number of levels: 6 for delays up to 2^20 ticks, 21 at most. The costs do not depend on
//! the number of timers.
//!
//! | method | amortised | worst |
//! |---|---|---|
//! | [`insert`](Timer::insert), [`reschedule`](Timer::reschedule) | O(1) | O(m) when levels are created |
//! | [`cancel`](Timer::cancel) | O(1) | O(1) |
//! | [`advance`](Timer::advance), per timer that fires | O(1) | O(1), and O(m) for its slot |
//! | [`advance`](Timer::advance), nothing due | O(m) | O(m) |
//! | [`next_wakeup`](Timer::next_wakeup) | O(m) | O(m) |
//! | [`deadline`](Timer::deadline) | O(1) | O(1) |
//!
//! The first [`pop_expired`](Timer::pop_expired) at a new tick does the work for all slots that
//! have ended by then: at most 64 m slots, with any number of timers in them.
//!
//! Memory: each timer of the peak takes 16 bytes, its value, and two links of 4 bytes. Each free
//! place takes 8 bytes, each level 528.
//!
//! # Source and deviations
//!
//! T. Gleixner's wheel in `kernel/time/timer.c` (Linux 4.8, 2016), with its slots, levels and
//! bounds between levels. The differences are:
//!
//! * Linux puts a timer that is due exactly when a slot ends into the next slot, because its clock
//!   may be anywhere within the current tick. So in Linux each timer is late by at least a tick, on
//!   level 0 too, and by at most a whole slot. Here ticks have no fractions, and such a timer fires
//!   at its deadline.
//! * Linux adds a timer at the head of its slot (`hlist_add_head`), so the timers of a slot fire in
//!   last-in, first-out order. Here they fire in order of insertion.
//! * Linux has 8 or 9 levels and shortens longer delays to the range of these. Here the levels
//!   cover all of `u64` and are created when they are needed.
//! * Linux stores the tick of the next slot in a field. Here all levels are searched for it.
//!
//! # When to use another structure
//!
//! If timers have to fire at their ticks, or in order of their deadlines, use
//! `wheelhouse-hierarchical-wheel`. This wheel is for many timeouts that are nearly always
//! cancelled and may fire late, by up to 12.7 % of the delay.
//!
//! # Example
//!
//! ```
//! use wheelhouse_linux_wheel::{LinuxWheel, Timer};
//!
//! let mut timeouts = LinuxWheel::new(); // one tick is a millisecond
//! let acknowledged = timeouts.insert(200, "retransmit");
//! timeouts.insert(7_200_000, "keep alive");
//! timeouts.insert(40, "delayed acknowledgement");
//!
//! // Short delays are exact.
//! timeouts.advance(40, |expired| assert_eq!(expired.value, "delayed acknowledgement"));
//! assert_eq!(timeouts.len(), 2);
//! assert_eq!(timeouts.cancel(acknowledged), Some("retransmit"));
//! // Two hours: 140 seconds late; the bound is 262.
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
pub use wheelhouse_core::{CapacityError, Expired, Tick, Timer, TimerId};

/// Compiles the README's code as a doc test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
