//! The trait that every backend implements.

use crate::TimerId;

/// A point in time, counted from an origin of the caller's choice. What one tick lasts is the
/// caller's choice too.
pub type Tick = u64;

/// A timer that has fired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Expired<T> {
    /// The handle the timer had. It is stale by now and serves only to tell which timer it was.
    pub id: TimerId,
    /// The deadline the timer had, which may lie before the tick of the call that fired it.
    pub deadline: Tick,
    /// What was given to [`Timer::insert`].
    pub value: T,
}

/// A timer facility: holds timers and hands each back at its deadline.
///
/// The [contract](crate#the-contract) says what all implementations promise; their costs differ,
/// and each implementation states its own.
///
/// ```
/// use wheelhouse_core::{Expired, Timer};
///
/// /// Runs on every backend: what is due up to `tick`, as (deadline, value).
/// fn fired<B: Timer<&'static str>>(timer: &mut B, tick: u64) -> Vec<(u64, &'static str)> {
///     let mut fired = Vec::new();
///     timer.advance(tick, |Expired { deadline, value, .. }| fired.push((deadline, value)));
///     fired
/// }
/// ```
pub trait Timer<T> {
    /// The latest tick that was named to [`advance`](Self::advance) or
    /// [`pop_expired`](Self::pop_expired), or the tick the structure was built to start at.
    fn now(&self) -> Tick;

    /// The number of live timers.
    fn len(&self) -> usize;

    /// Whether no timer is live.
    #[inline]
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Starts a timer. It fires in the first call that names a tick at or after `deadline`; a
    /// deadline at or before [`now`](Self::now) is due at once, in the next call.
    ///
    /// # Panics
    ///
    /// If 2^32 - 1 timers are live.
    #[doc(alias = "START_TIMER")]
    #[doc(alias = "schedule")]
    fn insert(&mut self, deadline: Tick, value: T) -> TimerId;

    /// Stops a timer and gives its value back; `None` if it has fired or was cancelled.
    #[doc(alias = "STOP_TIMER")]
    #[doc(alias = "remove")]
    fn cancel(&mut self, id: TimerId) -> Option<T>;

    /// Moves a live timer to another deadline, earlier or later, under the same handle. In the
    /// order of firing it counts as inserted now. `false`, and nothing done, if it has fired or was
    /// cancelled.
    #[doc(alias = "reset")]
    #[doc(alias = "refresh")]
    fn reschedule(&mut self, id: TimerId, deadline: Tick) -> bool;

    /// Moves a live timer to a later deadline, for timers that are moved many times before they
    /// fire, such as the time-to-live of a session. As [`reschedule`](Self::reschedule), except for
    /// two things: among timers of its deadline it may fire at any place, and its former deadline
    /// may cost a [wake-up](Self::next_wakeup) in vain. A structure that has nothing cheaper calls
    /// `reschedule`, as it does for an earlier deadline.
    ///
    /// ```
    /// # use wheelhouse_core::{Timer, TimerId};
    /// /// A request came in: the session lives on for half an hour of milliseconds.
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

    /// A tick to call [`advance`](Self::advance) at: never after the earliest deadline, `None` if
    /// and only if no timer is live. A wheel may name a tick at which it only moves timers closer:
    /// at most one such call per level on the way to a deadline, and one for each hundred timers
    /// that move. It may be at or before [`now`](Self::now): where a timer is overdue, or where the
    /// last call was a [`pop_expired`](Self::pop_expired) and another is to follow until it returns
    /// `None`.
    fn next_wakeup(&self) -> Option<Tick>;

    /// Moves the clock to `now` and fires the earliest timer that is due, if any. To be called
    /// until it returns `None`; between two calls the caller may insert, cancel and reschedule. A
    /// tick before [`now`](Self::now) counts as `now`.
    ///
    /// ```
    /// # use wheelhouse_core::Timer;
    /// /// Fires what is due, and starts each timer again one period later.
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

    /// Moves the clock to `now`, fires all that is due, in order, and returns how many fired. The
    /// bulk path: where nothing is to be inserted in between, it is as fast as
    /// [`pop_expired`](Self::pop_expired), which it calls unless the structure has something
    /// faster. A tick before [`now`](Self::now) counts as `now`.
    ///
    /// # Panics
    ///
    /// Only if `on_expiry` does; what was still due then fires in the next call.
    #[doc(alias = "PER_TICK_BOOKKEEPING")]
    #[doc(alias = "EXPIRY_PROCESSING")]
    #[inline]
    fn advance(&mut self, now: Tick, mut on_expiry: impl FnMut(Expired<T>)) -> usize {
        let mut fired = 0;
        while let Some(expired) = self.pop_expired(now) {
            fired += 1;
            on_expiry(expired);
        }
        fired
    }

    /// Drops what cancelled and moved timers have left behind, at once instead of bit by bit. O(n),
    /// and no answer changes. What is left behind is bounded anyhow, so that no program has to call
    /// this; one may in a quiet moment, and a benchmark does to charge the work to those who caused
    /// it. Does nothing in a structure that leaves nothing behind.
    fn compact(&mut self) {}
}

/// Fires all that is due at the tick that the clock shows, and returns how many fired: what
/// [`Timer::advance`] may call in a structure that first looks whether anything is due. Out of
/// line, so that a tick at which nothing is due is short wherever it stands.
#[inline(never)]
pub fn fire_due<T>(timer: &mut impl Timer<T>, on_expiry: impl FnMut(Expired<T>)) -> usize {
    let now = timer.now();
    core::iter::from_fn(|| timer.pop_expired(now)).map(on_expiry).count()
}
