//! Periodic beats to await.

use super::Sleep;
use crate::job::Repeat;
use crate::plan::Periodic;
use crate::time::Wall;
use crate::{Moment, Reason};
use futures_core::Stream;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// Beats at the times of a periodic plan, created by [`Periodic::interval`]. Also a [`Stream`].
///
/// The policy for missed periods applies when a beat is taken: a slow consumer receives one beat
/// for all that it missed, or with [`Missed::Burst`](crate::Missed::Burst) each of them.
#[derive(Debug)]
#[must_use = "an interval does nothing unless it is polled"]
pub struct Interval {
    sleep: Sleep,
    repeat: Repeat,
    /// When the next beat is due; `None` if there is none.
    next: Option<Moment>,
    /// The wall-clock time that the first beat waits for.
    wall: Option<Box<Wall>>,
    beats: u64,
}

/// One of the beats of an [`Interval`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Beat {
    /// The number of the beat, counted from 1.
    pub number: u64,
    /// When it was due.
    pub deadline: Moment,
    /// The number of periods that were skipped just before it.
    pub missed: u64,
}

impl Interval {
    /// Waits for the next beat; `None` after the last, or after an error. Cancel safe: no beat is
    /// lost if the future is dropped.
    ///
    /// # Errors
    ///
    /// If the service is stopped or has no room for the job.
    pub async fn tick(&mut self) -> Option<Result<Beat, Reason>> {
        poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }
}

impl Stream for Interval {
    type Item = Result<Beat, Reason>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Some(mut deadline) = self.next else { return Poll::Ready(None) };
        loop {
            if let Err(reason) = ready!(Pin::new(&mut self.sleep).poll(context)) {
                self.next = None;
                return Poll::Ready(Some(Err(reason)));
            }
            let Some(wall) = &self.wall else { break };
            let (clock, now) = (&*self.sleep.shards().clock, self.sleep.shards().now());
            deadline = wall.estimated(clock);
            if deadline <= now {
                self.wall = None;
                break;
            }
            let check_by = wall.check_by(deadline, now);
            self.sleep.reset_to(Some(check_by));
        }
        self.beats += 1;
        let beat = Beat { number: self.beats, deadline, missed: self.repeat.missed };
        let (ticks, now) = (self.sleep.shards().ticks, self.sleep.shards().now());
        let next = self.repeat.next(ticks, deadline, now, now);
        let next = next.filter(|_| !self.repeat.is_last(self.beats));
        self.repeat.missed = next.map_or(0, |(_, missed)| missed);
        self.next = next.map(|(next, _)| next);
        if let Some((next, _)) = next {
            self.sleep.reset_to(Some(next));
        }
        Poll::Ready(Some(Ok(beat)))
    }
}

impl Periodic<'_> {
    /// Creates an [`Interval`] from the plan, for async code. Options of a run (name, key, group,
    /// retry, limit, jitter, slack, blocking) are ignored.
    ///
    /// # Errors
    ///
    /// If the plan is not valid.
    pub fn interval(self) -> Result<Interval, Reason> {
        let handle = self.options.handle.clone();
        let (first, repeat) = self.checked()?;
        let sleep = handle.sleep_until(first.check_by(|| handle.now()));
        Ok(Interval { sleep, repeat, next: Some(first.deadline), wall: first.wall, beats: 0 })
    }
}
