//! Hierarchical timing wheels: start, stop and reschedule in O(1), exact to the tick over all of
//! `u64`, with two hundred timers as well as with ten million.
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
//! * In base 256, a tick has one digit for each level, which is the number of its slot on that
//!   level. A timer is on the level of the highest digit in which its deadline differs from the
//!   hand. So a slot never holds timers of different rotations, and a timer cascades at most seven
//!   times.
//! * A list is a ring through a sentinel (`nodes`), so removing a timer takes two stores.
//! * A bitmap (`bitmap`) marks the slots that have timers, and the wheel stores which occupied slot
//!   is next. So a tick at which nothing is due costs one comparison, and a call that advances by
//!   many ticks visits no empty slot.
//! * Lists keep the order of insertion, and a cascade moves the timers of a list, in order, to
//!   slots that are empty. So timers fire in order of (deadline, insertion) without sorting.
//!
//! This is the textbook wheel. A wheel with up to 32,768 timers has this layout (module `wheel`).
//! [`ListWheel`] keeps this layout at any size.
//!
//! # Large wheels
//!
//! With more timers, lists have two weaknesses. The tick at which a slot cascades stalls for
//! milliseconds. And a list is a chain of cache misses, because the address of each node is stored
//! in the node before it. [`HierarchicalWheel`] switches to another layout at the 32,769th timer:
//!
//! * **The next slot of each level opens** when the hand is halfway through the slot before it
//!   (`large`). From then on, new timers that belong to it go directly to the level below, and its
//!   *older* timers, which it had before, move down, a few per call. None is left when the hand
//!   reaches the slot, so no tick moves many timers.
//! * **Lists are read ahead** (`hints`). A slot remembers one in sixteen of its timers. Before its
//!   timers move, sixteen walkers start at remembered timers and follow the list in parallel:
//!   sixteen cache misses at once instead of one after another. The lists of the next sixteen ticks
//!   are read in parallel too.
//! * **A level has 1,024 slots**, so that most timers move once instead of twice.
//!
//! # Cost
//!
//! m is the number of levels between the hand and a deadline (at most 8 with 256 slots), k the
//! number of timers in a slot, n the number of all timers:
//!
//! | method | amortised | worst |
//! |---|---|---|
//! | [`insert`](Timer::insert) | O(1), and O(m) for later moves | O(n): see below |
//! | [`cancel`](Timer::cancel) | O(1) | O(1) |
//! | [`reschedule`](Timer::reschedule) | O(1), and O(m) for later moves | O(k / 16): see below |
//! | [`postpone`](Timer::postpone) | O(1), and O(m) for later moves | O(1) |
//! | [`advance`](Timer::advance), per timer that fires | O(1) | O(1) |
//! | [`advance`](Timer::advance) by one tick, small wheel | O(1) | O(k): a slot cascades at once |
//! | [`advance`](Timer::advance) by one tick, large wheel | O(1) | at most 500 + k / 768 moves |
//! | [`next_wakeup`](Timer::next_wakeup), [`deadline`](Timer::deadline) | O(1) | O(1) |
//!
//! * If the array of timers is full, an insertion copies it, in O(n). So does a call that moves the
//!   first timer to a level, or to one of the two blocks of slots of a level. A
//!   [capacity](Builder::capacity) avoids this. The insertion that makes a wheel large moves all
//!   32,768 timers.
//! * [`next_wakeup`](Timer::next_wakeup) returns the tick at which the next slot opens, and then
//!   each tick until the older timers of that slot have moved. So a call costs no more in a program
//!   that sleeps than in one that calls at each tick.
//! * A call that skips ticks also moves the timers that calls at the skipped ticks would have
//!   moved. If it skips the whole time in which a slot is open, it moves all timers of the slot.
//! * In k / 768, k is the number of timers that a slot had before it opened, including cancelled
//!   timers. The wheel estimates k from the timers that it remembers. A program that cancels
//!   exactly the remembered timers can raise the bound to n / 50.
//! * Postponed timers move at their former deadline, all those with the same former deadline in one
//!   call. A postponement to an earlier deadline costs a reschedule.
//! * With more than 131,072 timers, an insertion or reschedule that doubles the number of hints of
//!   a slot checks each hint. There is one hint for each sixteen timers of the slot.
//! * A timer whose deadline is past when it is inserted goes to an ordered map: O(log j) for j such
//!   timers.
//!
//! Memory: each timer, at the peak of their number, takes 24 bytes plus its value, rounded up to a
//! multiple of 32, and up to twice that after the array has grown. Each free place takes 8 bytes.
//! As soon as a level has had a timer, each of its slots takes as much as a timer: with values of
//! up to 8 bytes, 8 KB a level in a small wheel and 64 KB in a large one. With more than 131,072
//! timers, hints take 48 KB for each block of 1,024 slots, and up to 8 bytes for each timer,
//! usually half a byte.
//!
//! # When to use another structure
//!
//! Use a heap (`wheelhouse-binary-heap`) for at most a few thousand timers if memory is scarce. The
//! tables of `cargo bench --bench peers` show the difference.
//!
//! # Source and deviations
//!
//! G. Varghese and T. Lauck, *Hashed and hierarchical timing wheels*, SOSP 1987, scheme 7. The
//! paper's wheels turn independently, and a timer stores the remainder of its delay. Here the
//! digits of the absolute deadline are compared with those of the hand, as in tokio's driver and in
//! Linux before 4.8, so no remainder is stored. The bitmap of occupied slots is from Linux. Open
//! slots and hints are ours.
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
