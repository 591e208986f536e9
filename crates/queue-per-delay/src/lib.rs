//! A timer facility with one FIFO queue for each delay, exact to the tick over all of `u64`.
//! libevent does this for its common timeouts, and Node.js for all timers.
//!
//! # The idea
//!
//! Most programs have many timers but few delays: every connection has the same idle timeout, every
//! request the same limit. Timers with the same delay are due in the order in which they are
//! started, because the clock does not run back. So a list for each delay keeps them sorted without
//! a search: a new timer goes to the end, and the first timer is the next one due. Only the first
//! timers of the lists have to be compared with each other.
//!
//! ```text
//!   heads, in order            queues, found by the delay
//!   107, started at 7   ───▶   delay   100:  107  112  112  180
//!   5 003, started at 3 ───▶   delay 5 000:  5 003  5 090
//!   30 001, started at 1 ──▶   delay 30 000: 30 001  30 002 ... 30 099
//! ```
//!
//! # Design
//!
//! * A delay is the deadline minus [`now`](Timer::now) at the call that inserts or reschedules the
//!   timer. So a program with few delays should compute its deadlines from `now()`. A deadline from
//!   a clock that is ahead of the last call gives another delay for each tick of difference.
//! * Two timers with the same deadline and different delays fire in the order of insertion: the one
//!   with the longer delay was inserted earlier. So no timer needs a sequence number. The heads are
//!   ordered by (deadline, tick of insertion).
//! * An overdue deadline has a negative delay, and its queue is like any other.
//! * A queue is dropped when its last timer leaves. So the number of queues is at most the number
//!   of live timers, however many delays there ever were.
//! * Queues are found by a hash map, `indexmap`, in O(1) expected. An ordered map would take
//!   O(log d) comparisons for each insertion. The hash is one multiplication and has no random
//!   key: if other parties choose the delays, they can make delays collide.
//! * The heads are in an ordered map, the standard library's B-tree. A queue moves in it only when
//!   its first timer changes.
//!
//! # Cost
//!
//! d is the number of queues, one for each distinct delay of the live timers:
//!
//! | method | amortised | worst |
//! |---|---|---|
//! | [`insert`](Timer::insert), to a queue that exists | O(1) expected | O(d) if hashes collide |
//! | [`insert`](Timer::insert), to a new queue | O(log d) | O(d) if hashes collide or the hash map grows |
//! | [`cancel`](Timer::cancel), not the first of its queue | O(1) | O(1) |
//! | [`cancel`](Timer::cancel), the first of its queue | O(log d) | O(d) if hashes collide |
//! | [`reschedule`](Timer::reschedule) | `cancel` plus `insert` | `cancel` plus `insert` |
//! | [`advance`](Timer::advance), [`pop_expired`](Timer::pop_expired), per timer | O(log d) | O(d) if hashes collide |
//! | [`advance`](Timer::advance), nothing due | O(log d) | O(log d) |
//! | [`next_wakeup`](Timer::next_wakeup) | O(log d) | O(log d) |
//! | [`deadline`](Timer::deadline) | O(1) | O(1) |
//!
//! The O(log d) of `next_wakeup` and of an `advance` with nothing due is the descent to the first
//! leaf of the B-tree. It compares nothing. Up to 11 queues are in one leaf. If several timers have
//! the same delay and deadline, the order of the heads changes only with the last of them.
//!
//! Memory: each timer of the peak takes 24 bytes plus its value, each free place 8 bytes, and each
//! queue of the peak 110 to 150 bytes. Nothing is freed lazily.
//!
//! # Source and deviations
//!
//! * libevent: `event_base_init_common_timeout`. The program registers each common delay, up to
//!   256, and these queues stay. The first timer of each is in a binary heap, next to all timers
//!   of other delays. Here each delay has a queue, and no delay is registered.
//! * Node.js: the timer lists in `lib/internal/timers.js`. A map finds the list of a duration in
//!   milliseconds, and a binary heap orders the lists. If the first timer of a list is cleared,
//!   the list keeps its place in the heap until the old deadline, and the process may wake up and
//!   fire nothing. Here the place changes at once, and `next_wakeup` is exact.
//! * Envoy: `ScaledRangeTimerManagerImpl` has a queue for each difference of a timer's longest and
//!   shortest duration, and one timer of the event loop for the first of each queue.
//!
//! # When to use another structure
//!
//! Use this structure if the program has a few distinct delays, such as connection, request and
//! keep-alive timeouts. Insertion and cancellation are then list operations, with any number of
//! timers, and no timer moves later. [`queues`](QueuePerDelay::queues) shows the number of delays.
//!
//! If delays are computed, random or fine-grained, nearly every timer has its own queue. The
//! structure is then an ordered map of single timers, with a hash map and a list on top: each call
//! takes O(log n), and the structure takes more memory than any other backend. Use
//! `wheelhouse-hierarchical-wheel` for such delays, or `wheelhouse-binary-heap` for few timers.
//! Rounding delays up to a coarse unit can help.
//!
//! # Example
//!
//! ```
//! use wheelhouse_queue_per_delay::{QueuePerDelay, Timer};
//!
//! // One tick is a millisecond.
//! const IDLE: u64 = 30_000;
//! const REQUEST: u64 = 5_000;
//!
//! let mut timeouts = QueuePerDelay::new();
//! let first = timeouts.insert(timeouts.now() + IDLE, "connection 1");
//! timeouts.insert(timeouts.now() + IDLE, "connection 2");
//! timeouts.insert(timeouts.now() + REQUEST, "request 1");
//!
//! timeouts.advance(100, |_| unreachable!("nothing is due yet"));
//! assert!(timeouts.reschedule(first, timeouts.now() + IDLE)); // data came on connection 1
//! assert_eq!(timeouts.queues(), 2);
//!
//! let mut fired = Vec::new();
//! while let Some(tick) = timeouts.next_wakeup() {
//!     timeouts.advance(tick, |expired| fired.push((tick, expired.value)));
//! }
//! assert_eq!(fired, [(5_000, "request 1"), (30_000, "connection 2"), (30_100, "connection 1")]);
//! assert_eq!(timeouts.cancel(first), None); // it has fired
//! ```
#![no_std]

extern crate alloc;

mod builder;
mod definition;
mod delay;
mod queues;

pub use builder::Builder;
pub use definition::Definition;
pub use queues::QueuePerDelay;
pub use wheelhouse_core::{CapacityError, Expired, Tick, Timer, TimerId};

/// Compiles the README's code as a doc test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
