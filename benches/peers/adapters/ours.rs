//! Our backends, in the same player as all others.

use crate::peer::Peer;
use wheelhouse_core::backend::Backend;
use wheelhouse_core::meter::NoMeter;
use wheelhouse_core::{Tick, Timer, TimerId};

/// A backend of this workspace. With `POSTPONES` it is the hierarchical wheel in a program that
/// calls `postpone` instead of `reschedule`.
pub(crate) struct Ours<B: Backend, const POSTPONES: bool = false>(B::Timer<u64, NoMeter>);

impl<B: Backend, const POSTPONES: bool> Peer for Ours<B, POSTPONES> {
    const NAME: &'static str = if POSTPONES { "hierarchical-wheel-postpone" } else { B::INFO.name };
    const PACKAGE: Option<&'static str> = None;
    type Handle = TimerId;

    fn new(_: usize) -> Self {
        Self(B::build())
    }

    #[inline]
    fn insert(&mut self, deadline: Tick, value: u64) -> TimerId {
        self.0.insert(deadline, value)
    }

    #[inline]
    fn cancel(&mut self, kept: &mut Option<TimerId>) -> Option<u64> {
        self.0.cancel((*kept)?)
    }

    #[inline]
    fn reschedule(&mut self, kept: &mut Option<TimerId>, deadline: Tick) -> bool {
        kept.is_some_and(|handle| match POSTPONES {
            true => self.0.postpone(handle, deadline),
            false => self.0.reschedule(handle, deadline),
        })
    }

    #[inline]
    fn advance(&mut self, now: Tick, mut fire: impl FnMut(u64)) {
        self.0.advance(now, |expired| fire(expired.value));
    }

    #[inline]
    fn next_wakeup(&mut self) -> Option<Tick> {
        self.0.next_wakeup()
    }

    fn clean_up(&mut self) {
        self.0.compact();
    }
}
