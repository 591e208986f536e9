//! A timer facility on a calendar queue, the structure of discrete-event simulators. All operations
//! take constant time on average. Exact to the tick over all of `u64`.
//!
//! # The idea
//!
//! A desk calendar has a page for each day of the year. Each page lists the appointments of that
//! day, in order, and below them those of the same day in later years. To find the first
//! appointment, turn the pages from today on until one has an entry of this year. That is quick if
//! a day is about as long as the distance between appointments, and if a year has about as many
//! days as there are appointments. So the calendar is *rebuilt* when the number of timers has
//! doubled or halved: with twice or half as many days, and with a length of day that follows the
//! distance between the next timers.
//!
//! ```text
//!  day        0         1         2         3        year of 4 days of 8 ticks
//!           [35]      [ 9]      [ ]       [27]       today: day 1
//!                     [12]                [59]  ◀─── next year
//! ```
//!
//! # Cost
//!
//! | method | average | worst |
//! |---|---|---|
//! | [`insert`](Timer::insert), [`reschedule`](Timer::reschedule) | O(1) | O(n) if all timers are on one day, or when the calendar is rebuilt |
//! | [`cancel`](Timer::cancel) | O(1) | O(n), in the same cases |
//! | [`advance`](Timer::advance), per timer that fires | O(1) | O(n), in the same cases |
//! | [`advance`](Timer::advance), nothing due | O(1) | O(1) |
//! | [`next_wakeup`](Timer::next_wakeup), [`deadline`](Timer::deadline) | O(1) | O(1) |
//!
//! The average holds if deadlines are spread evenly, as in most simulations. If many timers are due
//! at one tick, or if a few are far away and many are near, no length of day fits all timers. Then
//! calls of microseconds and of milliseconds alternate.
//!
//! Memory: each timer of the peak takes 24 bytes, its value, a key of 16 bytes, and two links of 4
//! bytes. Each free place takes 8 bytes, each day 8.
//!
//! # Source and deviations
//!
//! R. Brown, *Calendar queues: a fast O(1) priority queue implementation for the simulation event
//! set problem*, CACM 31(10), 1988. Brown measures the distance between the first 25 events. Here
//! it is measured in the first quarter of a sample of 64 timers, which is robust against an outlier
//! among the next few. The length of a day is a power of two of ticks, so no division is needed.
//! The first timer is remembered.
//!
//! # When to use another structure
//!
//! The calendar queue was designed for the hold model: remove the first timer, insert another.
//! `wheelhouse-hierarchical-wheel` does that faster and is never rebuilt.
//!
//! # Example
//!
//! ```
//! use wheelhouse_calendar_queue::{CalendarQueue, Timer};
//!
//! let mut events = CalendarQueue::new(); // one tick is a nanosecond of simulated time
//! events.insert(100, "customer arrives");
//! events.insert(40, "shop opens");
//! let mut log = Vec::new();
//! while let Some(tick) = events.next_wakeup() {
//!     while let Some(event) = events.pop_expired(tick) {
//!         if event.value == "customer arrives" {
//!             events.insert(tick + 25, "customer leaves");
//!         }
//!         log.push((tick, event.value));
//!     }
//! }
//! assert_eq!(log, [(40, "shop opens"), (100, "customer arrives"), (125, "customer leaves")]);
//! ```
#![no_std]

extern crate alloc;

mod calendar;
mod definition;

pub use calendar::Calendar;
pub use definition::Definition;
pub use wheelhouse_core::ordered::Ordered;
pub use wheelhouse_core::{Expired, Tick, Timer, TimerId};

use wheelhouse_core::meter::NoMeter;

/// A calendar queue. The [crate documentation](crate) describes the structure and its costs.
pub type CalendarQueue<T, M = NoMeter> = Ordered<T, Calendar, M>;

/// Compiles the README's code as a doc test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
