//! The timer facility of Kafka: a hierarchy of timing wheels created on demand, driven by a delay
//! queue of their slots; exact to the tick over all of `u64`.
//!
//! # The idea
//!
//! The lowest wheel has a slot for each of the next 20 ticks, the wheel above it a slot for each 20
//! ticks of the next 400, and so on. A wheel is created when the first timer needs it. No hand
//! steps from tick to tick. Instead, every slot that has timers is an entry of a priority queue,
//! ordered by the tick at which the slot starts. The program sleeps until the first slot starts,
//! and does nothing in between. When a slot starts, its timers move to lower wheels; timers of the
//! lowest wheel fire.
//!
//! ```text
//!  delay queue: 120  140  400 ...           has each slot that has timers
//!                │    │    ╰──▶ third wheel   [ ][x][ ] ...  400 ticks a slot
//!                │    ╰───────▶ second wheel  [ ][ ][x] ...   20 ticks a slot
//!                ╰────────────▶ lowest wheel  [x][ ][ ] ...   one tick a slot
//! ```
//!
//! The queue contains slots, not timers: at most 20 for each wheel, with any number of timers. So
//! it does not matter that its operations take O(log b) for b slots. And only the first timer that
//! is added to a slot, and the last that leaves, need such an operation.
//!
//! # Design
//!
//! * Timers with the same deadline keep their order on the way down, from whichever wheels they
//!   come: timers that come down go before those that are in the slot already.
//! * The clock moves with every call, not only when a slot is emptied. In the port printed in the
//!   articles, a timer of 5 ms that is started after an hour without timers goes six wheels up and
//!   cascades all the way down.
//! * A slot whose last timer is cancelled leaves the queue at once, so it causes no wake-up.
//!
//! # Cost
//!
//! m is the number of wheels between the hand and a deadline, b the number of slots that have
//! timers, k the number of timers in a slot:
//!
//! | method | mostly | worst |
//! |---|---|---|
//! | [`insert`](Timer::insert), [`reschedule`](Timer::reschedule) | O(m), and O(log b) for the first timer of a slot | O(m + log b), and a wheel is created |
//! | [`cancel`](Timer::cancel) | O(1), and O(log b) for the last timer of a slot | O(log b) |
//! | [`advance`](Timer::advance), per timer that fires | O(m) for its moves | O(m k) |
//! | [`advance`](Timer::advance), nothing due | O(1) | O(m k) |
//! | [`next_wakeup`](Timer::next_wakeup) | O(log b) | O(log b) |
//! | [`deadline`](Timer::deadline) | O(1) | O(1) |
//!
//! The cost of the queue is not amortised: if the only timer of a slot is inserted and cancelled
//! again and again, each operation costs O(log b).
//!
//! Memory: each timer of the peak takes 16 bytes, its value, and two links of 4 bytes. Each free
//! place takes 8 bytes, each wheel 160, and each slot in the queue some 40.
//!
//! # Source and deviations
//!
//! Y. Matsuda, *Apache Kafka, Purgatory, and Hierarchical Timing Wheels* (2015), and the design of
//! Kafka's `SystemTimer`. Kafka's tick is a millisecond of the wall clock, and its slots are
//! synchronised lists. A wheel accepts a timer if `deadline < clock + interval`, where the clock is
//! rounded down to the width of the wheel's slots, as here. Kafka leaves empty slots in its delay
//! queue until they are due.
//!
//! # When to use another structure
//!
//! `wheelhouse-hierarchical-wheel` is the same idea with 256 slots a level. It finds slots by bits
//! instead of divisions, and the next slot by a bitmap instead of a queue. If it is large, it does
//! not move all timers of a slot at once.
//!
//! # Example
//!
//! ```
//! use wheelhouse_kafka_wheel::{KafkaWheel, Timer};
//!
//! let mut purgatory = KafkaWheel::new(); // one tick is a millisecond
//! let fetch = purgatory.insert(500, "fetch of consumer 1");
//! purgatory.insert(30_000, "produce of client 2");
//! assert_eq!(purgatory.cancel(fetch), Some("fetch of consumer 1")); // data came
//! assert_eq!(purgatory.next_wakeup(), Some(24_000)); // the other timer moves down then
//! assert_eq!(purgatory.advance(30_000, |expired| assert_eq!(expired.deadline, 30_000)), 1);
//! ```
#![no_std]

extern crate alloc;

mod builder;
mod definition;
mod level;
mod wheel;

pub use builder::Builder;
pub use definition::Definition;
pub use wheel::KafkaWheel;
pub use wheelhouse_core::{
    CapacityError, Expired, SlotCountError, Tick, Timer, TimerId, WheelError,
};

/// Compiles the README's code as a doc test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
