//! The [`Timer`] trait, its contract, and what the timer structures of wheelhouse share.
//!
//! A *timer facility* holds a large number of timers, each with a deadline, and hands every one of
//! them back at its deadline unless it was cancelled first. Varghese and Lauck (SOSP 1987) named
//! the four things it must do:
//!
//! | paper | here |
//! |---|---|
//! | START_TIMER | [`Timer::insert`] |
//! | STOP_TIMER | [`Timer::cancel`] |
//! | PER_TICK_BOOKKEEPING | [`Timer::advance`], [`Timer::pop_expired`] |
//! | EXPIRY_PROCESSING | the caller's, with each [`Expired`] |
//!
//! This crate holds the trait and no structure. The structures are crates of their own, which all
//! depend on this one and on nothing else of the workspace; a program that uses one through
//! [`Timer`] changes to another by changing one type.
//!
//! # Words
//!
//! *Tick*: the unit of time, an absolute `u64`; what it stands for (a millisecond, a jiffy) is the
//! caller's choice. *Deadline*: the tick at which a timer is due. *Delay*: a distance in
//! ticks. *Live*: inserted, and neither fired nor cancelled. *Handle*: the [`TimerId`] under which
//! a live timer is reached. *Lateness*: the tick of firing less the deadline, in calls that step
//! one tick at a time always zero.
//!
//! # The contract
//!
//! Every backend keeps these eleven promises, but those that are [late by
//! design](#structures-that-are-late-by-design); each is a named test of `wheelhouse-conformance`.
//!
//! 1. **Exactly once.** A timer that was inserted expires once, or is cancelled once, or is still
//!    live. Its value comes back once; values of timers still live are dropped with the structure.
//! 2. **Never early, never a tick late.** It fires in the first call with `now >= deadline`, and is
//!    reported with its own deadline, whatever the distance that call jumped.
//! 3. **Order.** Expiries come in order of (deadline, insertion), within one call and between
//!    calls. A reschedule counts as a new insertion, even to the same deadline. So all backends
//!    yield the same sequence. Only a timer that was [postponed](Timer::postpone) may fire at any
//!    place among those of its deadline.
//! 4. **Overdue.** A deadline at or before `now` is accepted and due at once: it fires in the next
//!    [`advance`](Timer::advance) or [`pop_expired`](Timer::pop_expired), even one to the same
//!    `now`, and takes its place by deadline: before all that was due later.
//! 5. **Stale handles are harmless.** Once a timer has fired or was cancelled, its handle answers
//!    `None` or `false` for ever. It never reaches another timer, however often its place is used
//!    again (see [`TimerId`]).
//! 6. **Time does not run back.** A call with a tick before [`now`](Timer::now) is a call with
//!    `now`: it fires what is due at `now` and leaves `now` where it was.
//! 7. **Wake-up.** [`next_wakeup`](Timer::next_wakeup) is `None` if and only if no timer is live,
//!    else a tick that is never after the earliest deadline. Advancing from wake-up to wake-up
//!    reaches every deadline with at most one call in vain per level of the structure, and one for
//!    each hundred timers that move. Empty ticks cost nothing: no structure walks them.
//! 8. **Memory follows the live timers.** After any number of insertions and cancellations, memory
//!    stays within a constant factor of what the peak number of live timers needs. Lazy
//!    freeing is bounded, and each backend states its bound.
//! 9. **A panicking callback loses nothing else.** If the callback of `advance` panics, the timer
//!    it was given is gone; all others stay, in order, and the structure continues with the next
//!    call.
//! 10. **The whole range of `u64`.** Any tick is a valid deadline, `u64::MAX` included. Nothing
//!     overflows, and no loop runs over a distance in ticks.
//! 11. **Bounded work.** Each backend documents the cost of each method, amortised and worst, and
//!     tests on operation counts ([`meter`]) hold it to that.
//!
//! # Structures that are late by design
//!
//! A structure may give up precision for less work, as Linux's wheel does, whose slots are the
//! wider the longer the delay. It says so in its [`Info`](backend::Info):
//! [`Precision::Late`](backend::Precision::Late) holds a bound on the lateness of each delay, and
//! that bound is part of the contract. Of such an *approximate* structure the promises 1, 5, 6, 8,
//! 9 and 11 hold as they stand, the others with these changes; `wheelhouse-conformance` has a suite
//! for it.
//!
//! * 2: Never early, and late by no more than the bound. It fires in a call with `now >= deadline`,
//!   at the latest in the first with `now >= deadline + bound`, or at the last tick there is; the
//!   bound is that of its delay when it was inserted or last moved. It is reported with its own
//!   deadline.
//! * 3: Of timers inserted at one tick of the clock, none fires at a later tick than one with a
//!   later deadline, and those inserted in order of their deadlines fire in that order. A call that
//!   jumps fires in the order in which calls at each tick would have.
//! * 4: What is overdue is due at once, as elsewhere; its place among what is due already is the
//!   structure's choice.
//! * 7: The wake-up is never after the tick by which a live timer has to have fired, and at or
//!   before `now` if one is due.
//! * 10: The bound too ends with the range: at `u64::MAX` everything is due.
//!
//! Since its answers are not those of the others, it stands in no comparison of answers.
//!
//! # What is decided at the edges
//!
//! * The clock moves when a call names a later tick, before anything fires: inside the callback of
//!   `advance(t)`, between two `pop_expired(t)`, and after a panic, [`now`](Timer::now) is `t`.
//! * `pop_expired` gives the caller the structure back between two expiries. What is inserted or
//!   rescheduled there with a deadline at or before `now` fires in the same run, in its place by
//!   deadline; what is cancelled there does not fire.
//! * [`reschedule`](Timer::reschedule) to a deadline already past makes the timer due at once, and
//!   its id stays valid.
//! * A handle is valid only for the structure that gave it out. Another structure may hold another
//!   timer under the same handle, exactly as with an index into a `Vec`.
//! * One structure holds fewer than 2^32 timers at a time; an insertion past that panics, as `Vec`
//!   does past its capacity.
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]

extern crate alloc;

pub mod arena;
pub mod backend;
mod builder;
mod id;
pub mod linked;
pub mod lists;
pub mod meter;
pub mod occupied;
pub mod ordered;
pub mod overdue;
pub mod segments;

mod slots;
pub mod stack;
mod timer;

pub use id::TimerId;
pub use slots::{SlotCount, SlotCountError, WheelError};
pub use timer::{Expired, Tick, Timer, fire_due};

/// Compiles the program of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
