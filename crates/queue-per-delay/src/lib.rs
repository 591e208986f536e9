#![doc = include_str!("../README.md")]
#![no_std]

extern crate alloc;

mod delay;
mod queues;

pub use queues::QueuePerDelay;
pub use wheelhouse_core::{ConfigError, Expired, Tick, Timer, TimerId};

use wheelhouse_core::backend::{Bounds, Costs, Info};
use wheelhouse_core::{timer_backend, timer_builder};

timer_builder! {
    /// Configures a [`QueuePerDelay`]. The capacity allocates no memory for queues.
    Builder of QueuePerDelay
}

/// With uniform delays nearly every timer has its own queue, so each call searches the ordered map
/// of the heads, which is a B-tree. A node has about eight keys, and half of them are compared one
/// by one: four on each of the lg n / 3 levels, and one level more. Appending a timer writes four
/// links, removing it two. A timer that fires is removed from the front of the map, which compares
/// nothing. So firing takes the check whether the timer is due, two links, and slack for the few
/// queues that have a second timer.
fn bounds(n: u64) -> Bounds {
    let search = 1.5 * f64::from(n.max(1).ilog2() + 1);
    Bounds {
        insert: 4.0 + search,
        cancel: 2.0 + search,
        reschedule: 6.0 + 2.0 * search,
        fire: 3.5,
        ..Bounds::NONE
    }
}

timer_backend! {
    /// The queue-per-delay structure.
    Definition of QueuePerDelay<T, M>,
    Info {
        name: "queue-per-delay",
        structure: "a FIFO queue for each delay, an ordered map of their heads",
        source: "libevent's common timeouts; Node.js, Envoy",
        costs: Costs {
            insert: "O(1), O(log d) to a new queue",
            cancel: "O(1), O(log d) for the first of a queue",
            reschedule: "cancel plus insert",
            fire: "O(log d)",
        },
        bounds,
        ..Info::EXACT
    }
}
