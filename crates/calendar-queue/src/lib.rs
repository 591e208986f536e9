#![doc = include_str!("../README.md")]
#![no_std]

extern crate alloc;

mod calendar;

pub use calendar::Calendar;
pub use wheelhouse_core::ordered::Ordered;
pub use wheelhouse_core::{Expired, Tick, Timer, TimerId};

use wheelhouse_core::backend::{Bounds, Costs, Info};
use wheelhouse_core::meter::NoMeter;
use wheelhouse_core::timer_backend;

/// A calendar queue. The [crate documentation](crate) describes the structure and its costs.
pub type CalendarQueue<T, M = NoMeter> = Ordered<T, Calendar, M>;

timer_backend! {
    /// The calendar queue.
    Definition of CalendarQueue<T, M>,
    Info {
        name: "calendar-queue",
        structure: "days of a year as sorted lists; their number and length follow the timers",
        source: "Brown 1988; event simulators",
        costs: Costs {
            insert: "O(1) average, worst O(n)",
            cancel: "O(1) average, worst O(n)",
            reschedule: "O(1) average, worst O(n)",
            fire: "O(1) average, worst O(n)",
        },
        // Some comparisons on a day with two timers, and the moves to new calendars: two for each
        // timer while the calendar grows.
        bounds: |_| {
            Bounds { insert: 20.0, cancel: 8.0, reschedule: 20.0, fire: 12.0, ..Bounds::NONE }
        },
        ..Info::EXACT
    }
}
