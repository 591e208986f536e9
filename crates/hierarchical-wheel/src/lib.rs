//! A timer facility on hierarchical timing wheels: Varghese and Lauck's scheme 7, exact to the tick
//! over all of `u64`, for a hundred timers as for a hundred million.
//!
//! # The idea
//!
//! Think of a clock with hands for seconds, minutes and hours. A timer that is due this minute goes
//! to its second. One that is due this hour goes to its minute, and when the minute hand gets
//! there, it *cascades*: it moves to its second. Each level here is such a wheel of 256 slots (or
//! as many as you choose), and eight levels cover every tick a `u64` can name.
//!
//! ```text
//!                 256 slots of one tick each            256 slots of 256 ticks each
//! level 0   [ ][ ][x][ ][x][ ]...[ ]       level 1   [ ][ ][x]...[ ]       ...   level 7
//!               ▲ hand                                   ▲
//! ```
//!
//! The level of a timer is that of the highest digit in which its deadline differs from the hand
//! (`wheelhouse_core::geometry`). So every slot holds timers of one turn only, level 0 is exact to
//! the tick, and a timer cascades at most seven times in its life.
//!
//! A slot is a doubly linked list, as in `wheelhouse-list-wheel`, which is the crate to read first.
//! In the caches nothing takes fewer instructions: to take a timer out of its list is two stores.
//! Lists have three weaknesses, all at large numbers, and each has its remedy here.
//!
//! # What is special
//!
//! * **No tick stalls.** A slot of thousands of timers is *split*: it gets a wheel of its own for
//!   those that come (`levels`). Those it has stay where they are, so that to split a slot moves
//!   nothing. A call moves a limited number of timers a level, where other wheels move all of a
//!   slot.
//! * **Lists are read ahead.** A list is a chain of cache misses, each address known only from the
//!   one before. A slot remembers up to sixteen of its timers, and before it cascades walkers run
//!   from all of them through the list in step (`hints`): sixteen misses side by side instead of
//!   one.
//! * **A cancellation tells nobody.** A slot knows how many timers came to it, not how many are
//!   there; a timer does not know its slot. Who needs to know better counts, and that is rare.
//! * **Where timers are many, thirty-two of them are unlinked together**, when all of them have
//!   arrived from memory. The caller sees nothing of it (`arrears`).
//! * **A lone timer fires from where it stands**, without the way down.
//! * **The array of timers grows without moving them**, in segments, from a hundred thousand on; a
//!   wheel of fewer has them in one piece, which takes fewer instructions (`store`).
//! * **The next slot is remembered.** A tick with nothing due costs a comparison, and a jump over
//!   any distance visits only slots that hold live timers. When the last live timer of the next
//!   slot is cancelled, another one is the next: no wake-up for nothing.
//! * **Order by (deadline, insertion) comes for free:** each slot is a queue, and a cascade empties
//!   it in order into slots that are empty. That makes the wheel an incremental, stable radix sort.
//!
//! # Cost
//!
//! m levels between the hand and a deadline (at most 8 with 256 slots); s slots a level; L = 8,192,
//! which is 32 s. Nothing depends on the number of live timers, nor on how many of them are due at
//! one tick:
//!
//! | method | amortised | worst |
//! |---|---|---|
//! | [`insert`](Timer::insert) | O(m), for the cascades to come | O(m + s + L / 8), when a slot is split |
//! | [`cancel`](Timer::cancel) | O(1) | O(m); of many timers, as 32 of `reschedule` |
//! | [`reschedule`](Timer::reschedule) | O(m) | as `insert`; of many timers, as 32 of them |
//! | [`advance`](Timer::advance), per timer that fires | O(1), paid for by its insertion | O(L m) a level that cascades |
//! | [`advance`](Timer::advance), nothing due | O(1), likewise | likewise |
//! | [`next_wakeup`](Timer::next_wakeup), [`deadline`](Timer::deadline) | O(1) | O(1) |
//!
//! A slot that is split on m levels has L elders on each, and each cascade moves those of all
//! levels above: that is the L m. It takes a crowd of one deadline; elsewhere a call moves some L
//! at most.
//!
//! An insertion copies the array when it is one piece and full: up to four megabytes with values of
//! eight bytes, and nothing if the [capacity](Builder::capacity) was said.
//!
//! Memory, for each timer of the peak: 24 bytes and the value, rounded up to a multiple of 32, so
//! that a timer with a value of eight bytes is in one cache line; up to twice that while the array
//! is one piece; 8 for each place that is free. Each slot takes a node too. So do those of a ring
//! that a split slot has, and 76 bytes for its hints where many timers came: 28 KB in all. A ring
//! of which no more than a quarter of the lists have timers, and those no more than L / 8 together,
//! is given back when others are taken. A timer that is inserted with a deadline already past goes
//! to an ordered map instead: O(log j) for j such timers.
//!
//! # Source and deviations
//!
//! G. Varghese and T. Lauck, *Hashed and hierarchical timing wheels*, SOSP 1987, scheme 7. The
//! paper's wheels turn independently and keep the remainder of the delay in the timer; here the
//! digits of the absolute deadline are compared with those of the hand, as tokio's driver and Linux
//! before 4.8 do, so that nothing has to be kept. Slots that split are an idea of burst tries (S.
//! Heinz, J. Zobel and H. Williams, 2002), turned to time; that elders stay where they are is ours,
//! and so are the hints.
//!
//! # When to pick another
//!
//! `wheelhouse-list-wheel` if there will never be more than some ten thousand timers and its code
//! is to be small: it takes a fifth fewer instructions, and stalls for milliseconds at a million. A
//! heap (`wheelhouse-binary-heap`) where nearly no timer is cancelled and memory counts. The tables
//! of `cargo bench --bench peers` say by how much.
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
mod wheel;

pub use builder::Builder;
pub use definition::Definition;
pub use list::ListWheel;
pub use wheel::Wheel;
use wheelhouse_core::meter::NoMeter;
pub use wheelhouse_core::{Expired, SlotCountError, Tick, Timer, TimerId, WheelError};

/// A hierarchical timing wheel that is fast and bounded at any number of timers.
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
