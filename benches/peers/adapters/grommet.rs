//! grommet-core: a hierarchical wheel of linked lists in a slab, with 64 slots per level, occupancy
//! words and a cached next event. Its capacity is fixed; the memory is allocated and touched before
//! the clock starts.

use crate::peer::Peer;
use grommet_core::timer::{MAX_DELAY_TICKS, TimerId, Wheel};
use wheelhouse_core::Tick;

/// One tick is a tick: times are passed as ticks, so the resolution does not matter.
pub(crate) struct Grommet(Wheel<u64>);

impl Peer for Grommet {
    const NAME: &'static str = "grommet-core";
    /// It refuses a deadline that is further ahead.
    const LATEST: Tick = MAX_DELAY_TICKS;
    type Handle = TimerId;

    fn new(timers: usize) -> Self {
        Self(Wheel::with_capacity(timers))
    }

    #[inline]
    fn insert(&mut self, deadline: Tick, value: u64) -> TimerId {
        self.0
            .try_insert_at(deadline, value)
            .unwrap_or_else(|_| panic!("within capacity and range"))
    }

    #[inline]
    fn cancel(&mut self, kept: &mut Option<TimerId>) -> Option<u64> {
        self.0.cancel((*kept)?)
    }

    #[inline]
    fn reschedule(&mut self, kept: &mut Option<TimerId>, deadline: Tick) -> bool {
        kept.is_some_and(|handle| self.0.reschedule_at(handle, deadline).is_ok())
    }

    #[inline]
    fn advance(&mut self, now: Tick, fire: impl FnMut(u64)) {
        self.0.advance_to_with(now, fire);
    }

    #[inline]
    fn next_wakeup(&mut self) -> Option<Tick> {
        self.0.next_wakeup_tick()
    }
}
