//! The fence of a poll: jobs that are scheduled during a poll of a scheduler are deferred until
//! its end, so that a job that schedules itself again at once does not keep the poll from
//! returning.

use super::state::ShardState;
use super::work::ShardWork;
use crate::time::Moment;
use wheelhouse_core::Tick;

impl<W: ShardWork + ?Sized> ShardState<W> {
    /// From here to [`open_fence`](Self::open_fence), jobs that are scheduled are kept for the next
    /// poll.
    pub(crate) fn close_fence(&mut self, upto: Tick) {
        debug_assert!(self.fence.is_none(), "one poll at a time");
        debug_assert!(self.fenced.is_empty(), "the poll before has left jobs behind its fence");
        self.fence = Some((self.last_number(), upto));
    }

    /// The timers of these jobs are started. `now` is the moment of the poll.
    pub(crate) fn open_fence(&mut self, now: Moment) {
        debug_assert!(self.fence.is_some(), "no poll is in progress");
        self.fence = None;
        for id in std::mem::take(&mut self.fenced) {
            if self.is_off(id) {
                self.restart_timer(id.index(), now);
            }
        }
    }
}
