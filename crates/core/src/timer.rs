//! The trait that every backend implements.

use crate::TimerId;

/// A point in time. The caller chooses the origin and the length of a tick.
pub type Tick = u64;

/// A timer that has fired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Expired<T> {
    /// The handle of the timer. It is stale now and only identifies the timer.
    pub id: TimerId,
    /// The deadline of the timer. It may be before the tick of the call that fired the timer.
    pub deadline: Tick,
    /// The value passed to [`Timer::insert`].
    pub value: T,
}

/// A timer facility: holds timers and returns each at its deadline.
///
/// All implementations keep the [contract](crate#the-contract). Their costs differ, and each
/// implementation documents its own.
///
/// ```
/// use wheelhouse_core::{Expired, Timer};
///
/// /// The timers due up to `tick`, as (deadline, value). Works with every backend.
/// fn fired<B: Timer<&'static str>>(timer: &mut B, tick: u64) -> Vec<(u64, &'static str)> {
///     let mut fired = Vec::new();
///     timer.advance(tick, |Expired { deadline, value, .. }| fired.push((deadline, value)));
///     fired
/// }
/// ```
pub trait Timer<T> {
    /// The clock: the latest tick passed to [`advance`](Self::advance) or
    /// [`pop_expired`](Self::pop_expired), or the tick that the structure started at.
    fn now(&self) -> Tick;

    /// The number of live timers.
    fn len(&self) -> usize;

    /// Returns `true` if no timer is live.
    #[inline]
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Starts a timer. It fires in the first call with a tick at or after `deadline`. If the
    /// deadline is at or before [`now`](Self::now), it fires in the next call.
    ///
    /// # Panics
    ///
    /// If 2^32 - 1 timers are live.
    #[doc(alias = "START_TIMER")]
    #[doc(alias = "schedule")]
    fn insert(&mut self, deadline: Tick, value: T) -> TimerId;

    /// Stops a timer and returns its value; `None` if it has fired or was cancelled.
    #[doc(alias = "STOP_TIMER")]
    #[doc(alias = "remove")]
    fn cancel(&mut self, id: TimerId) -> Option<T>;

    /// Moves a live timer to another deadline, earlier or later. The handle stays valid. In the
    /// order of firing, the timer counts as inserted now. Returns `false` and does nothing if the
    /// timer has fired or was cancelled.
    #[doc(alias = "reset")]
    #[doc(alias = "refresh")]
    fn reschedule(&mut self, id: TimerId, deadline: Tick) -> bool;

    /// Moves a live timer to a later deadline. Made for timers that are moved many times before
    /// they fire, such as the time-to-live of a session. It differs from
    /// [`reschedule`](Self::reschedule) in two ways: the order among timers with the same deadline
    /// is not defined, and the former deadline may cause a [wake-up](Self::next_wakeup) at which
    /// nothing fires. It calls `reschedule` for an earlier deadline, and for any deadline if the
    /// structure has no cheaper way.
    ///
    /// ```
    /// # use wheelhouse_core::{Timer, TimerId};
    /// /// A request came in: the session stays for another half an hour, in milliseconds.
    /// fn touch<B: Timer<u64>>(sessions: &mut B, session: TimerId) -> bool {
    ///     sessions.postpone(session, sessions.now() + 30 * 60_000)
    /// }
    /// ```
    #[inline]
    fn postpone(&mut self, id: TimerId, deadline: Tick) -> bool {
        self.reschedule(id, deadline)
    }

    /// The deadline of a live timer; `None` if it has fired or was cancelled.
    fn deadline(&self, id: TimerId) -> Option<Tick>;

    /// The tick at which to call [`advance`](Self::advance) next. It is never after the earliest
    /// deadline; `None` if and only if no timer is live. A wheel may return a tick at which it only
    /// moves timers to lower levels. The contract (7) bounds the number of these. The tick may be
    /// at or before [`now`](Self::now): if a timer is overdue, or if
    /// [`pop_expired`](Self::pop_expired) was called and has not returned `None` yet.
    fn next_wakeup(&self) -> Option<Tick>;

    /// Moves the clock to `now` and fires the earliest timer that is due, if any. Call it until it
    /// returns `None`. Between two calls the caller may insert, cancel and reschedule. If
    /// the clock is already past `now`, it stays where it is.
    ///
    /// ```
    /// # use wheelhouse_core::Timer;
    /// /// Fires the timers that are due, and starts each again one period later.
    /// fn run_periodic<B: Timer<u64>>(timer: &mut B, tick: u64) {
    ///     while let Some(expired) = timer.pop_expired(tick) {
    ///         let period = expired.value;
    ///         timer.insert(expired.deadline.saturating_add(period), period);
    ///     }
    /// }
    /// ```
    #[doc(alias = "PER_TICK_BOOKKEEPING")]
    #[doc(alias = "poll")]
    fn pop_expired(&mut self, now: Tick) -> Option<Expired<T>>;

    /// Moves the clock to `now`, fires all timers that are due, in order, and returns how many
    /// fired. Prefer it to [`pop_expired`](Self::pop_expired) unless the caller inserts timers in
    /// between: some structures fire many timers faster in this way. If the clock is already past
    /// `now`, it stays where it is.
    ///
    /// # Panics
    ///
    /// Only if `on_expiry` panics. The remaining timers that are due fire in the next call.
    #[doc(alias = "PER_TICK_BOOKKEEPING")]
    #[doc(alias = "EXPIRY_PROCESSING")]
    #[inline]
    fn advance(&mut self, now: Tick, mut on_expiry: impl FnMut(Expired<T>)) -> usize
    where
        Self: Sized, // so that there can be a `Box<dyn Timer<T>>`
    {
        let mut fired = 0;
        while let Some(expired) = self.pop_expired(now) {
            fired += 1;
            on_expiry(expired);
        }
        fired
    }

    /// Drops the entries that cancelled and moved timers have left behind, all at once. O(n). No
    /// result of any method changes. Such entries are bounded, so no program needs to call this. A
    /// program may call it while it is idle. A benchmark calls it at the end of each phase, so that
    /// each phase pays for its own entries. Does nothing in a structure that leaves no entries
    /// behind.
    fn compact(&mut self) {}
}

/// Fires all timers that are due at [`Timer::now`], and returns how many fired. For implementations
/// of [`Timer::advance`] that first check whether a timer is due. Never inlined, so that inlining
/// `advance` adds little code for a tick at which nothing is due.
#[inline(never)]
pub fn fire_due<T>(timer: &mut impl Timer<T>, on_expiry: impl FnMut(Expired<T>)) -> usize {
    let now = timer.now();
    core::iter::from_fn(|| timer.pop_expired(now)).map(on_expiry).count()
}
