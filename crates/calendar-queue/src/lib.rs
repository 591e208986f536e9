//! A timer facility on a calendar queue, the structure of discrete-event simulators: everything in
//! constant time on average, exact to the tick over all of `u64`.
//!
//! # The idea
//!
//! A desk calendar: a page for each day of the year, on it all that is due on that day, in order;
//! appointments of next year stand on the same page below. To take the first, turn the pages from
//! today on until one has an entry of this year. That is quick if days are as long as appointments
//! are apart, and a year has about as many days as there are appointments. So the calendar
//! is *renewed* when timers have doubled or halved: twice as many days, or half, and their length
//! by a look at how far apart the next timers are.
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
//! | [`insert`](Timer::insert), [`reschedule`](Timer::reschedule) | O(1) | O(n), all on one day; O(n) when the calendar is renewed |
//! | [`cancel`](Timer::cancel) | O(1) | O(n), likewise |
//! | [`advance`](Timer::advance), per timer that fires | O(1) | O(n), likewise |
//! | [`advance`](Timer::advance), nothing due | O(1) | O(1) |
//! | [`next_wakeup`](Timer::next_wakeup), [`deadline`](Timer::deadline) | O(1) | O(1) |
//!
//! The average holds where deadlines are spread evenly, as in most simulations. Where many are due
//! at one tick, or a few far away among many that are near, one length of day does not fit all, and
//! calls of microseconds and of milliseconds alternate.
//!
//! Memory: 24 bytes, the value, a key of 16 bytes and two links of 4 for each timer at the peak; 8
//! for each place that is free; 8 for each day.
//!
//! # Source and deviations
//!
//! R. Brown, *Calendar queues: a fast O(1) priority queue implementation for the simulation event
//! set problem*, CACM 31(10), 1988. Brown takes the distance of the first 25 events; here it is
//! that of the first quarter of a sample of 64, which an outlier among the next few does not spoil.
//! Days are a power of two of ticks long, so that no division is needed, and the first timer is
//! remembered.
//!
//! # When to pick another
//!
//! It was made for the hold model: take the first, put another in. `wheelhouse-hierarchical-wheel`
//! does that faster and never renews anything.
//!
//! # A program
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

/// A calendar queue. See the [crate's page](crate) for what it is and what it costs.
pub type CalendarQueue<T, M = NoMeter> = Ordered<T, Calendar, M>;

/// Compiles the program of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
