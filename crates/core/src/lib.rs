//! The [`Timer`] trait, its contract, and the code that the timer structures of wheelhouse share.
//!
//! A *timer structure* holds many timers, each with a deadline. It returns each timer at its
//! deadline, unless the timer was cancelled before. Varghese and Lauck (SOSP 1987) name four
//! routines:
//!
//! | paper | this crate |
//! |---|---|
//! | START_TIMER | [`Timer::insert`] |
//! | STOP_TIMER | [`Timer::cancel`] |
//! | PER_TICK_BOOKKEEPING | [`Timer::advance`], [`Timer::pop_expired`] |
//! | EXPIRY_PROCESSING | the caller's code, for each [`Expired`] |
//!
//! Each structure is a separate crate, which depends on this one and on no other crate of the
//! workspace. To change to another structure, change one type.
//!
//! # Terms
//!
//! *Tick*: the unit of time, an absolute `u64`. The caller chooses its length (a millisecond, a
//! jiffy). *Deadline*: the tick at which a timer is due. *Delay*: the number of ticks until the
//! deadline. *Live*: inserted, and neither fired nor cancelled. *Handle*: the [`TimerId`] of a
//! timer. *Lateness*: the tick of firing minus the deadline.
//!
//! # The contract
//!
//! Every backend keeps these eleven promises, except structures that are [late by
//! design](#structures-that-are-late-by-design). Each promise has a named test in
//! `wheelhouse-conformance`.
//!
//! 1. **Exactly once.** A timer fires once, or is cancelled once, or is still live. Its value is
//!    returned once. Values of live timers are dropped with the structure.
//! 2. **Never early, never a tick late.** A timer fires in the first call with `now >= deadline`
//!    and is reported with its own deadline, however many ticks that call advances.
//! 3. **Order.** Timers fire in order of (deadline, insertion), within one call and across calls. A
//!    reschedule counts as a new insertion, even to the same deadline. So all backends fire the
//!    same sequence. One exception: the order of a [postponed](Timer::postpone) timer among timers
//!    with the same deadline is not defined.
//! 4. **Overdue.** A deadline at or before `now` is accepted. The timer fires in the next
//!    [`advance`](Timer::advance) or [`pop_expired`](Timer::pop_expired), even if that call passes
//!    the same `now`, and before all timers with later deadlines.
//! 5. **Stale handles are harmless.** Once a timer has fired or was cancelled, every call with its
//!    handle returns `None` or `false`, for ever. The handle never reaches another timer, however
//!    often its storage is reused (see [`TimerId`]).
//! 6. **Time does not run back.** A call with a tick before [`now`](Timer::now) is treated as a
//!    call with `now`: it fires the timers due at `now` and does not move the clock.
//! 7. **Wake-up.** [`next_wakeup`](Timer::next_wakeup) is `None` if and only if no timer is live.
//!    Otherwise it is a tick at or before the earliest deadline. If a program advances from wake-up
//!    to wake-up, at most one call per level of the structure fires nothing before each deadline,
//!    plus one for each hundred timers that move between slots. A call that advances over empty
//!    ticks does not visit them.
//! 8. **Memory follows the live timers.** After any number of insertions and cancellations, memory
//!    stays within a constant factor of the memory for the peak number of live timers. If a backend
//!    frees memory lazily, it documents the bound.
//! 9. **A panicking callback loses one timer only.** If the callback of `advance` panics, only the
//!    timer that was passed to it is lost. All others stay, in order, and the next call continues
//!    with them.
//! 10. **The whole range of `u64`.** Any tick is a valid deadline, `u64::MAX` included. Nothing
//!     overflows, and no loop runs once per tick.
//! 11. **Bounded work.** Each backend documents the cost of each method, amortised and worst. Tests
//!     compare operation counts ([`meter`]) with these costs.
//!
//! # Structures that are late by design
//!
//! A structure may give up precision to do less work. In Linux's wheel, longer delays have wider
//! slots. Such an *approximate* structure declares it in its [`Info`](backend::Info):
//! [`Precision::Late`](backend::Precision::Late) bounds the lateness for each delay, and that bound
//! is part of the contract. Promises 1, 5, 6, 8, 9 and 11 hold unchanged for it. The others hold
//! with the following changes.
//!
//! * 2: Never early, and late by at most the bound. A timer fires in a call with `now >= deadline`,
//!   at the latest in the first call with `now >= deadline + bound`, or with `now == u64::MAX` if
//!   that sum overflows. The bound depends on the delay of the timer when it was inserted or last
//!   rescheduled.
//! * 3: If two timers are inserted at the same tick, the one with the earlier deadline does not
//!   fire at a later tick than the other. If timers were inserted at the same tick in order of
//!   their deadlines, they fire in that order. A call that advances by many ticks fires in the same
//!   order as calls at each tick.
//! * 4: An overdue timer is due at once. Its order among the timers that are due already is not
//!   defined.
//! * 7: The wake-up is never after the latest tick at which a live timer may fire. It is at or
//!   before `now` if a timer is due.
//! * 10: At `u64::MAX` every timer is due, whatever its bound.
//!
//! Tests and benchmarks that compare the answers of backends leave approximate structures out.
//!
//! # Edge cases
//!
//! * A call with a later tick moves the clock before anything fires. So [`now`](Timer::now) is `t`
//!   inside the callback of `advance(t)`, between two calls of `pop_expired(t)`, and after a panic.
//! * The caller can use the structure between two calls of `pop_expired`. A timer that it inserts
//!   or reschedules there with a deadline at or before `now` fires in the same sequence of calls,
//!   in order of its deadline. A timer that it cancels there does not fire.
//! * [`reschedule`](Timer::reschedule) to a deadline in the past makes the timer due at once. Its
//!   handle stays valid.
//! * A handle is valid only for the structure that returned it. In another structure the same
//!   handle may belong to another timer, as with an index into a `Vec`.
//! * A structure holds fewer than 2^32 timers at a time. An insertion beyond that panics, as `Vec`
//!   does beyond `isize::MAX` bytes.
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
pub use slots::{CapacityError, SlotCount, SlotCountError, WheelError};
pub use timer::{Expired, Tick, Timer, fire_due};

/// Compiles the README's code as a doc test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
