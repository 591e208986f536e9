//! A timer facility as Kafka has it: a hierarchy of timing wheels made on demand, driven by a delay
//! queue of their slots; exact to the tick over all of `u64`.
//!
//! # The idea
//!
//! The lowest wheel has a slot for each of the next 20 ticks, the one above a slot for each 20
//! ticks of the next 400, and so on; a wheel is made when the first timer needs it. No hand steps
//! from tick to tick. Every slot that holds timers is itself an entry of a priority queue, by the
//! tick at which it starts: the program sleeps until the first of them, and nothing at all happens
//! between. When a slot starts, its timers move to the wheels below, and those of the lowest fire.
//!
//! ```text
//!  delay queue: 120  140  400 ...           a slot is in it while it holds timers
//!                │    │    ╰──▶ third wheel   [ ][x][ ] ...  400 ticks a slot
//!                │    ╰───────▶ second wheel  [ ][ ][x] ...   20 ticks a slot
//!                ╰────────────▶ lowest wheel  [x][ ][ ] ...   one tick a slot
//! ```
//!
//! The queue holds slots, not timers: at most 20 for each wheel, however many timers there are.
//! That its operations take O(log b) for b slots does not matter then; and only the first timer of
//! a slot, and the last that leaves, do such an operation.
//!
//! # What is special
//!
//! * Timers of one deadline keep their order on their way down, whichever wheels they came by: what
//!   comes down goes before what is there.
//! * The clock moves with every call, not only when a slot is emptied. In the port that the
//!   articles print, a timer of 5 ms that comes after an hour without any is put six wheels up, and
//!   comes down step by step.
//! * A slot whose last timer is cancelled leaves the queue at once: no wake-up for nothing.
//!
//! # Cost
//!
//! m wheels between the hand and a deadline, b slots that hold timers, k timers of one slot:
//!
//! | method | mostly | worst |
//! |---|---|---|
//! | [`insert`](Timer::insert), [`reschedule`](Timer::reschedule) | O(m), and O(log b) for the first of a slot | O(m + log b), and a wheel is made |
//! | [`cancel`](Timer::cancel) | O(1), and O(log b) for the last of a slot | O(log b) |
//! | [`advance`](Timer::advance), per timer that fires | O(m), its moves | O(m k) |
//! | [`advance`](Timer::advance), nothing due | O(1) | O(m k) |
//! | [`next_wakeup`](Timer::next_wakeup) | O(log b) | O(log b) |
//! | [`deadline`](Timer::deadline) | O(1) | O(1) |
//!
//! What goes to the queue is not amortised: a slot whose only timer comes and goes costs O(log b)
//! both times, for ever. Memory: 16 bytes, the value and two links of 4 bytes for each timer at the
//! peak; 8 for each place that is free; 160 bytes a wheel, and some 40 for each slot in the queue.
//!
//! # Source and deviations
//!
//! Y. Matsuda, *Apache Kafka, Purgatory, and Hierarchical Timing Wheels* (2015), and the design of
//! Kafka's `SystemTimer`. Kafka's tick is a millisecond of the wall clock, its slots are
//! synchronised lists, and its bound for a wheel is `deadline < clock + interval` with the clock
//! rounded down to the wheel's slots, as here. Kafka leaves empty slots in its delay queue until
//! they are due.
//!
//! # When to pick another
//!
//! `wheelhouse-hierarchical-wheel` is the same idea in 256 slots, found by bits instead of
//! divisions, the next slot by a bitmap instead of a queue, and no slot empties at once.
//!
//! # A program
//!
//! ```
//! use wheelhouse_kafka_wheel::{KafkaWheel, Timer};
//!
//! let mut purgatory = KafkaWheel::new(); // one tick is a millisecond
//! let fetch = purgatory.insert(500, "fetch of consumer 1");
//! purgatory.insert(30_000, "produce of client 2");
//! assert_eq!(purgatory.cancel(fetch), Some("fetch of consumer 1")); // data came
//! assert_eq!(purgatory.next_wakeup(), Some(24_000)); // to move the other closer
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
pub use wheelhouse_core::{Expired, SlotCountError, Tick, Timer, TimerId, WheelError};

/// Compiles the program of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
