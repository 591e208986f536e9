//! Hierarchical timing wheels: insert, cancel and reschedule in O(1), exact to the tick, for any
//! `u64` deadline and from two hundred to ten million timers.
//!
//! # The idea
//!
//! Think of a clock with hands for seconds, minutes and hours. A timer that is due within this
//! minute goes to the list of its second. A timer that is due within this hour goes to the list of
//! its minute. When the minute hand gets there, the timer *cascades*: it moves to the list of its
//! second. Each level is such a wheel with 256 slots, and eight levels cover all ticks of a `u64`.
//! The *hand* is the tick that the wheel has reached.
//!
//! ```text
//! level 1   [ ][ ][•]...[ ]     256 slots of 256 ticks
//!                  ╰─▶ timer 4 ⇄ timer 1 ⇄ timer 8
//! level 0   [ ][•][ ][•]...[ ]  256 slots of one tick
//!               ╰─▶ timer 3
//! ```
//!
//! * In base 256, a tick has one digit for each level: the number of its slot on that level. A
//!   timer is on the level of the highest digit in which its deadline differs from the hand. So a
//!   slot never holds timers of different rotations, and a timer cascades at most seven times.
//! * A list is a ring through a sentinel (`nodes`), so removing a timer takes two stores.
//! * A bitmap (`bitmap`) marks the slots that have timers, and the wheel stores which occupied slot
//!   is next. So a tick at which nothing is due costs one comparison, and a call that advances by
//!   many ticks visits no empty slot.
//! * Lists keep the order of insertion, and a cascade moves the timers of a list, in order, to
//!   slots that are empty. So timers fire in order of (deadline, insertion) without sorting.
//!
//! This is the textbook wheel. A wheel with up to 32,768 timers has this layout (module `wheel`),
//! and [`ListWheel`] has it at any size.
//!
//! # Large wheels
//!
//! With more timers, this layout has two weaknesses. The tick at which a slot cascades takes
//! milliseconds. And a list is a chain of cache misses, because each node holds the address of the
//! next. [`HierarchicalWheel`] switches to another layout at the 32,769th timer:
//!
//! * **The next slot of each level opens** when the hand is halfway through the slot before it, or
//!   earlier if the slot is crowded (`large`). Then its timers move to the level below, a few per
//!   call, and new timers go to that level directly. The slot is empty when the hand reaches it, so
//!   no tick moves many timers.
//! * **Lists are read ahead** (`hints`). A slot remembers one in 32 of its timers: its
//!   *hints*. Before its timers move, sixteen walkers start at hints and follow the list in
//!   parallel. So sixteen cache misses overlap. The lists of the next sixteen ticks are read in
//!   parallel too.
//! * **A level has 1,024 slots**, so that most timers move once instead of twice.
//!
//! # Cost
//!
//! m is the level of a timer (at most 8 with 256 slots), k the number of timers in a slot, n the
//! number of all timers:
//!
//! | method | amortised | worst |
//! |---|---|---|
//! | [`insert`](Timer::insert) | O(1), and O(m) for later moves | O(n): see below |
//! | [`cancel`](Timer::cancel) | O(1) | O(1) |
//! | [`reschedule`](Timer::reschedule) | O(1), and O(m) for later moves | O(k / 32), or O(n): see below |
//! | [`postpone`](Timer::postpone) | O(1), and O(m) for later moves | O(1) |
//! | [`advance`](Timer::advance), per timer that fires | O(1) | O(1) |
//! | [`advance`](Timer::advance) by one tick, small wheel | O(1) | O(k): a slot cascades at once |
//! | [`advance`](Timer::advance) by one tick, large wheel | O(1) | at most 500 + k / 768 moves |
//! | [`next_wakeup`](Timer::next_wakeup), [`deadline`](Timer::deadline) | O(1) | O(1) |
//!
//! * Timers and slots are in one array. If it is full, a call that adds a timer or the slots of a
//!   level copies it, in O(n). A [capacity](Builder::capacity) avoids this. The 32,769th timer
//!   makes the wheel large, which moves all timers.
//! * [`next_wakeup`](Timer::next_wakeup) returns the tick at which the next slot opens, and then
//!   each tick until the slot is empty. So a program that sleeps until the next wake-up has the
//!   same bound as one that calls at each tick.
//! * A call that skips ticks also moves the timers that calls at the skipped ticks would have
//!   moved. If it skips the whole time in which a slot is open, it moves all timers of the slot.
//! * In k / 768, k is the number of timers in a slot when it opens, including cancelled ones. The
//!   wheel estimates k from the hints. A program that cancels exactly the timers with hints can
//!   raise the bound to n / 50.
//! * All postponed timers with the same former deadline move at that tick, in one call. A
//!   postponement to an earlier deadline costs a reschedule.
//! * Hints exist with more than 131,072 timers. One insertion or reschedule in 2,048 adds 64 hints.
//!   If that doubles the number of hints of a slot, each of them is checked: k / 32 in total.
//! * A timer whose deadline is past when it is inserted goes to an ordered map: O(log j) for j such
//!   timers.
//!
//! Memory: a timer takes 24 bytes plus its value, rounded up to a multiple of 32. The array has
//! room for the peak number of timers, and up to twice that after it has grown. A node that is free
//! takes 8 bytes more. A level that has had a timer takes, with values of up to 8 bytes, 8 KB in a
//! small wheel and 64 KB in a large one. With more than 131,072 timers, hints take 48 KB for each
//! block of 1,024 slots, and usually a quarter of a byte for each timer, at most 8.
//!
//! # When to use another structure
//!
//! Use a heap (`wheelhouse-binary-heap`) for at most a few thousand timers if memory is scarce.
//!
//! # Source and deviations
//!
//! G. Varghese and T. Lauck, *Hashed and hierarchical timing wheels*, SOSP 1987, scheme 7. In the
//! paper a timer stores the remainder of its delay. Here the digits of its deadline are compared
//! with those of the hand, as in tokio's driver and in Linux before 4.8. The bitmap of occupied
//! slots is from Linux. Open slots and hints are ours.
//!
//! # Example
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
//! assert_eq!(timeouts.cancel(idle), None); // too late: the handle is stale
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
pub use wheelhouse_core::{
    CapacityError, Expired, SlotCountError, Tick, Timer, TimerId, WheelError,
};

/// The default wheel. Up to 32,768 timers it is the textbook wheel. With more, it moves at most a
/// few hundred timers per tick. The [crate documentation](crate#cost) lists the costs.
///
/// Timers fire in order of (deadline, insertion). A handle may be kept for ever: see [`TimerId`].
pub type HierarchicalWheel<T, M = NoMeter> = Wheel<T, M, true>;

/// Compiles the README's code as a doc test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
