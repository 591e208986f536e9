//! The fence of a poll: jobs that are scheduled during a poll of a scheduler are put aside until
//! its end, so that a job that schedules itself again at once does not keep the poll from
//! returning.

use super::core::{Core, Task};
use wheelhouse_core::Tick;

impl<W: Task + ?Sized> Core<W> {
    /// From here to [`open_fence`](Self::open_fence), jobs that are scheduled are kept for the next
    /// poll.
    pub(crate) fn close_fence(&mut self, upto: Tick) {
        self.fence = Some((self.last_number(), upto));
    }

    pub(crate) fn open_fence(&mut self) {
        self.fence = None;
        for id in std::mem::take(&mut self.aside) {
            if !self.is_off(id) {
                continue;
            }
            let Some(slot) = self.slot(id) else { continue };
            let deadline = slot.deadline;
            let life = slot.life().and_then(|life| self.lives.get(life));
            let ticks = life.map(|life| life.ticks);
            self.start_timer(id.index(), ticks.unwrap_or(self.ticks).not_before(deadline));
        }
    }
}
