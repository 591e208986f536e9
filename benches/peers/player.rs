//! Plays operations on a peer.
//!
//! It differs from the player of `wheelhouse-workload` in two points, for all competitors and ours.
//! Handles have any type. The order in which timers fire in one call is not checked, since few
//! crates promise an order; the set of these timers is.

use crate::peer::Peer;
use wheelhouse_benches::foreign::blend;
use wheelhouse_core::Tick;
use wheelhouse_workload::{Checksum, Op};

/// A peer that plays a stream.
pub(crate) struct Player<P: Peer> {
    pub(crate) peer: P,
    handles: Vec<Option<P::Handle>>,
    inserted: u64,
    now: Tick,
    /// The checksum of all answers so far.
    pub(crate) checksum: Checksum,
}

impl<P: Peer> Player<P> {
    /// A new peer, for at most `timers` timers at a time, with labels below `labels`.
    pub(crate) fn new(labels: usize, timers: usize) -> Self {
        let handles = std::iter::repeat_with(|| None).take(labels).collect();
        Self { peer: P::new(timers), handles, inserted: 0, now: 0, checksum: Checksum::default() }
    }

    /// A new peer in the state `state`.
    pub(crate) fn resume(state: &State, checksum: Checksum) -> Self {
        let mut player = Self::new(state.timers.len(), state.timers.len());
        player.advance(state.now);
        for (handle, &(deadline, value)) in player.handles.iter_mut().zip(&state.timers) {
            *handle = (deadline > state.now).then(|| player.peer.insert(deadline, value));
        }
        Self { inserted: state.inserted, checksum, ..player }
    }

    #[inline(always)]
    pub(crate) fn apply(&mut self, op: Op) {
        match op {
            Op::Insert { label, deadline } => {
                let new = self.peer.insert(deadline, self.inserted);
                self.inserted += 1;
                if let Some(old) = self.handles[label as usize].replace(new) {
                    self.peer.forget(old);
                }
            }
            Op::Cancel { label } => {
                let answer = self.peer.cancel(&mut self.handles[label as usize]);
                self.checksum.add(answer.map_or(0, |value| value + 1));
            }
            Op::Reschedule { label, deadline } => {
                let moved = self.peer.reschedule(&mut self.handles[label as usize], deadline);
                self.checksum.add(u64::from(moved));
            }
            // `can_play` refuses phases with pops.
            Op::Advance { to } | Op::Pop { to } => _ = self.advance(to),
            Op::Ticks { count, to } => {
                for left in (0..Tick::from(count)).rev() {
                    self.advance(to - left);
                }
            }
            Op::Wake => {
                while self.peer.next_wakeup().is_some_and(|wakeup| self.advance(wakeup) == 0) {}
            }
        }
    }

    /// Moves the clock. The sum over the timers that fire in one call does not depend on their
    /// order.
    #[inline]
    fn advance(&mut self, to: Tick) -> u64 {
        self.now = self.now.max(to);
        let (mut sum, mut count) = (0_u64, 0);
        self.peer.advance(self.now, |value| {
            sum = sum.wrapping_add(blend(value));
            count += 1;
        });
        if count > 0 {
            self.checksum.add(sum);
        }
        count
    }

    /// Returns all handles to the peer, since some kinds must not be dropped.
    pub(crate) fn end(mut self) {
        for handle in std::mem::take(&mut self.handles).into_iter().flatten() {
            self.peer.forget(handle);
        }
    }
}

/// The live timers, kept for a peer that cannot play every phase: a new one continues from here.
pub(crate) struct State {
    /// The last deadline and value of each label. If the deadline is past, the timer has fired or
    /// was stopped.
    timers: Vec<(Tick, u64)>,
    inserted: u64,
    now: Tick,
}

impl State {
    pub(crate) fn new(labels: usize) -> Self {
        Self { timers: vec![(0, 0); labels], inserted: 0, now: 0 }
    }

    /// Follows an operation. It cannot follow `Op::Wake`.
    pub(crate) fn follow(&mut self, op: Op) {
        match op {
            Op::Insert { label, deadline } => {
                self.timers[label as usize] = (deadline, self.inserted);
                self.inserted += 1;
            }
            Op::Cancel { label } => self.timers[label as usize].0 = 0,
            Op::Reschedule { label, deadline } => {
                let timer = &mut self.timers[label as usize].0;
                *timer = if *timer > self.now { deadline } else { 0 };
            }
            Op::Advance { to } | Op::Ticks { to, .. } | Op::Pop { to } => {
                self.now = self.now.max(to);
            }
            Op::Wake => {}
        }
    }
}
