//! Hierarchical timing wheels: O(1) start, stop and reschedule, exact to the tick over all of
//! `u64`, for two hundred timers as for ten million.
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
//! * The level of a timer is that of the highest digit in which its deadline differs from the hand.
//!   So a slot never holds timers of different rotations, and a timer cascades at most seven times.
//! * A list is a ring through a sentinel (`nodes`): to take a timer out is two stores.
//! * A bit for each slot says where timers are (`bitmap`), and the next occupied slot is
//!   remembered. A tick with nothing due is one comparison, and a jump visits no empty slot.
//! * Lists keep the order of insertion, and a cascade empties a list in order into slots that are
//!   empty. So timers fire in the order of (deadline, insertion) without any sorting.
//!
//! This is the wheel of the textbooks. It is all there is to a wheel of up to 32,768 timers
//! (`wheel` has it in one file), and [`ListWheel`] is the same at any size.
//!
//! # Large wheels
//!
//! With more timers, lists have two weaknesses. The tick at which a slot cascades stalls for
//! milliseconds, and a list is a chain of cache misses, because each address is stored in the node
//! before. [`HierarchicalWheel`] switches to another layout at the 32,769th timer:
//!
//! * **The next slot of each level opens** when half of the slot before it is over (`large`). From
//!   then on new timers that belong to it go straight to the level below, and the timers it has
//!   already move down a few a call. None is left when the hand gets there, so no tick moves many
//!   timers.
//! * **Lists are read ahead** (`hints`). A slot remembers one in sixteen of its timers. Before its
//!   timers move, sixteen walkers follow the list from there side by side: sixteen cache misses at
//!   once instead of one. The lists of the next sixteen ticks are read in the same way.
//! * **A level has 1,024 slots**, so that a timer moves once where it would move twice.
//!
//! # Cost
//!
//! m levels between the hand and a deadline (at most 8 with 256 slots), k timers in a slot, n in
//! all:
//!
//! | method | amortised | worst |
//! |---|---|---|
//! | [`insert`](Timer::insert) | O(1), and O(m) for the moves to come | O(n): see below |
//! | [`cancel`](Timer::cancel) | O(1) | O(1) |
//! | [`reschedule`](Timer::reschedule) | O(1), and O(m) for the moves to come | O(k / 16): see below |
//! | [`postpone`](Timer::postpone) | O(1), and O(m) for the moves to come | O(1) |
//! | [`advance`](Timer::advance), per timer that fires | O(1) | O(1) |
//! | [`advance`](Timer::advance) by one tick, small wheel | O(1) | O(k): a slot cascades at once |
//! | [`advance`](Timer::advance) by one tick, large wheel | O(1) | at most 500 + k / 768 moves |
//! | [`next_wakeup`](Timer::next_wakeup), [`deadline`](Timer::deadline) | O(1) | O(1) |
//!
//! * An insertion copies the array of timers when it is full, which a [capacity](Builder::capacity)
//!   avoids. The one that makes a wheel large moves its 32,768 timers.
//! * [`next_wakeup`](Timer::next_wakeup) names the tick at which the next slot opens, and then each
//!   tick until its older timers have moved: a program that sleeps pays no more for a call than one
//!   that calls at each tick.
//! * A call that skips many ticks moves the timers that the skipped calls would have moved. If one
//!   call jumps from before a slot opens to its first tick or later, it moves the whole slot.
//! * In k / 768, k is the number of timers that a slot had before it opened, cancelled ones
//!   included. The wheel estimates it from the timers that it remembers. A program that cancels
//!   exactly those can raise the bound to n / 50.
//! * Timers that were postponed move at their former deadline, all of one tick in one call.
//! * With more than 131,072 timers, an insertion or reschedule that doubles the hints of a slot
//!   looks at each of them: one for each sixteen timers of the slot.
//! * A timer that is inserted with a deadline already past goes to an ordered map: O(log j) for j
//!   such timers.
//!
//! Memory: 24 bytes and the value for each timer of the peak, rounded up to a multiple of 32, up to
//! twice that after the array has grown, and 8 for each free place. From its first timer on, a
//! level takes as much for each slot as for a timer: with values of up to 8 bytes 8 KB in a small
//! wheel, 64 KB in a large one. With more than 131,072 timers, hints take 48 KB for each block of
//! 1,024 slots and up to 8 bytes for each timer, half a byte as a rule.
//!
//! # When to pick another
//!
//! A heap (`wheelhouse-binary-heap`) if nearly no timer is cancelled and memory counts. The tables
//! of `cargo bench --bench peers` say by how much.
//!
//! # Source and deviations
//!
//! G. Varghese and T. Lauck, *Hashed and hierarchical timing wheels*, SOSP 1987, scheme 7. The
//! paper's wheels turn independently and keep the remainder of the delay in the timer. Here the
//! digits of the absolute deadline are compared with those of the hand, as tokio's driver and Linux
//! before 4.8 do, so that nothing has to be kept. The map of occupied slots is Linux's. Open slots
//! and hints are ours.
//!
//! # A program
//!
//! ```
//! use wheelhouse_hierarchical_wheel::{HierarchicalWheel, Timer};
//!
//! // One tick is a millisecond; connections time out after 30 seconds.
//! let mut timeouts = HierarchicalWheel::new();
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

mod bitmap;
mod builder;
mod definition;
mod hints;
mod large;
pub mod list;
mod nodes;
mod timer;
mod wheel;

pub use builder::Builder;
pub use definition::Definition;
pub use list::ListWheel;
pub use wheel::Wheel;
use wheelhouse_core::meter::NoMeter;
pub use wheelhouse_core::{Expired, SlotCountError, Tick, Timer, TimerId, WheelError};

/// The wheel to take: the wheel of the textbooks as long as it is small, with short ticks when it
/// is large. See the [crate's page](crate) for what it costs.
///
/// The order of expiries is (deadline, insertion). Handles are safe to keep for ever: see
/// [`TimerId`].
pub type HierarchicalWheel<T, M = NoMeter> = Wheel<T, M, true>;

impl<T> HierarchicalWheel<T> {
    /// An empty wheel with 256 slots a level, its clock at 0.
    pub fn new() -> Self {
        Self::with_meter(NoMeter)
    }

    /// Chooses the number of slots, the first tick, the capacity or a meter.
    pub fn builder() -> Builder<T> {
        Builder::new()
    }
}

impl<T> Default for HierarchicalWheel<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// Compiles the program of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
