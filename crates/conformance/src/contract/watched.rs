//! A structure of which every result is checked.

use crate::script::Pair;
use wheelhouse_core::Tick;
use wheelhouse_core::backend::Backend;
use wheelhouse_core::meter::NoMeter;

/// A structure whose results are compared with those of the oracle, or with its own bound if it is
/// late by design. Each method panics at the first wrong result. Timers are numbered in order of
/// insertion, from 0.
pub(crate) struct Watched<B: Backend>(Pair<B::Timer<u64, NoMeter>>);

#[track_caller]
fn right<R>(result: Result<R, String>) -> R {
    match result {
        Ok(result) => result,
        Err(what) => panic!("{what}"),
    }
}

impl<B: Backend> Watched<B> {
    /// An empty structure, its clock at `start`.
    pub(crate) fn new(start: Tick) -> Self {
        let mut watched = Self(Pair::new::<B>());
        watched.advance(start);
        watched
    }

    pub(crate) fn now(&self) -> Tick {
        self.0.now
    }

    /// The number of timers that were inserted.
    pub(crate) fn inserted(&self) -> u64 {
        self.0.inserted()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The earliest deadline of a live timer.
    pub(crate) fn earliest(&self) -> Option<Tick> {
        self.0.earliest()
    }

    /// The deadline of a timer, if it is live.
    pub(crate) fn deadline(&self, timer: u64) -> Option<Tick> {
        self.0.deadline(timer)
    }

    /// Starts a timer and returns its number.
    #[track_caller]
    pub(crate) fn insert(&mut self, deadline: Tick) -> u64 {
        right(self.0.insert(deadline))
    }

    #[track_caller]
    pub(crate) fn insert_all(&mut self, deadlines: impl IntoIterator<Item = Tick>) {
        deadlines.into_iter().for_each(|deadline| _ = right(self.0.insert(deadline)));
    }

    /// Stops a timer. Returns `true` if it was live.
    #[track_caller]
    pub(crate) fn cancel(&mut self, timer: u64) -> bool {
        right(self.0.cancel(timer))
    }

    /// Moves a timer. Returns `true` if it is live.
    #[track_caller]
    pub(crate) fn reschedule(&mut self, timer: u64, deadline: Tick) -> bool {
        right(self.0.reschedule(timer, deadline))
    }

    /// Postpones a timer. Returns `true` if it is live.
    #[track_caller]
    pub(crate) fn postpone(&mut self, timer: u64, deadline: Tick) -> bool {
        right(self.0.postpone(timer, deadline))
    }

    /// The timers that one `advance` fires, in order.
    #[track_caller]
    pub(crate) fn advance(&mut self, to: Tick) -> Vec<u64> {
        right(self.0.advance(to))
    }

    /// The timer that `pop_expired` returns.
    #[track_caller]
    pub(crate) fn pop(&mut self, to: Tick) -> Option<u64> {
        right(self.0.pop(to))
    }

    /// The timers that `pop_expired` returns until it returns `None`.
    #[track_caller]
    pub(crate) fn pop_all(&mut self, to: Tick) -> Vec<u64> {
        std::iter::from_fn(|| self.pop(to)).collect()
    }

    /// Advances with a callback that panics at the timer with number `nth` of the call, from 0.
    #[track_caller]
    pub(crate) fn panic(&mut self, to: Tick, nth: usize) -> Vec<u64> {
        right(self.0.panic(to, nth))
    }

    /// The wake-up.
    #[track_caller]
    pub(crate) fn wakeup(&self) -> Option<Tick> {
        right(self.0.wakeup())
    }

    /// Advances from wake-up to wake-up until a timer fires. Returns the timers that fired.
    #[track_caller]
    pub(crate) fn wake(&mut self) -> Vec<u64> {
        right(self.0.wake())
    }

    /// Compares the deadlines of all handles, which must be different.
    #[track_caller]
    pub(crate) fn compare_handles(&self) {
        right(self.0.compare_handles());
    }
}
