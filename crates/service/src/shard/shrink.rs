//! Releases the memory of jobs that are gone.

use super::Shards;
use super::arena::FEW;
use super::handover::ShardWork;
use super::state::{DynTimer, ShardState, TimerState, default_wheel};
use crate::time::Moment;
use std::sync::atomic::Ordering;
use std::time::Duration;
use wheelhouse_core::{Expired, Tick};

/// Releasing the memory of a hundred thousand jobs takes milliseconds, in which nothing fires. So
/// the driver waits until it would sleep this long anyway.
const QUIET: Duration = Duration::from_millis(1);

impl<W: ShardWork + ?Sized> ShardState<W> {
    /// Called after a job was removed. The job that leaves few, and the last one, make the driver
    /// look into the shard at once if a storm of jobs has left memory. Otherwise the driver would
    /// not look before the earliest deadline, even that of a cancelled job. Other removals do not
    /// wake it. It then releases the memory even if more jobs have come since: so jobs that come
    /// and go around this number do not wake it again and again.
    #[inline]
    pub(super) fn look_if_spacious(&mut self) {
        if [0, FEW].contains(&self.slots.len()) && self.slots.is_spacious() {
            self.storm_ended = true;
            self.next = self.next.min(self.wheel.now());
        }
    }

    /// Removes the memory that no job needs, and returns it to be dropped without the lock. O(n)
    /// for n entries.
    pub(crate) fn shrink(&mut self) -> impl Sized + use<W> {
        let wheel = self.own_wheel.then(|| self.renew_wheel());
        (wheel, self.shrink_arenas())
    }

    /// The same, but the wheel keeps its memory.
    pub(super) fn shrink_arenas(&mut self) -> impl Sized + use<W> {
        self.storm_ended = false;
        self.prune_deferred();
        self.find_next();
        (self.slots.shrink(), self.job_states.shrink(), self.wakers.shrink())
    }

    /// Moves all timers into a new wheel, in order, and returns the old one.
    fn renew_wheel(&mut self) -> Box<DynTimer> {
        let mut former = std::mem::replace(&mut self.wheel, default_wheel());
        let fired = self.wheel.pop_expired(former.now());
        debug_assert!(fired.is_none(), "a new wheel is empty");
        while let Some(Expired { value, deadline, .. }) = former.pop_expired(Tick::MAX) {
            let timer = self.wheel.insert(deadline, value);
            self.slots[value.0].timer = TimerState::Wheel(timer);
        }
        former
    }
}

impl<W: ShardWork + ?Sized> Shards<W> {
    /// Releases the memory of a shard, and that which all shards share.
    pub(crate) fn shrink(&self, shard: u32) {
        drop(self.with(shard, ShardState::shrink));
        self.keys.shrink();
        self.ready.shrink();
    }

    /// Releases the memory of a shard whose storm has ended, if nothing is due within [`QUIET`].
    /// Otherwise the driver looks again after this time. If several shards look at one moment, the
    /// last one finds it quiet, since the others have set the time of their next look.
    pub(crate) fn shrink_if_quiet(&self, shard: u32, now: Moment) {
        let soon = self.ticks.not_before(now.saturating_add(QUIET));
        let mut others = (0..).zip(&self.shards).filter(|(number, _)| *number != shard);
        let is_busy = others.any(|(_, other)| other.next.load(Ordering::SeqCst) < soon);
        let is_quiet = self.with(shard, |state| {
            let next = state.wheel.next_wakeup().unwrap_or(Tick::MAX);
            state.next = next.min(soon);
            !is_busy && next > soon
        });
        if is_quiet {
            self.shrink(shard);
        }
    }
}
