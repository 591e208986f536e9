//! Plays operations on a peer.
//!
//! The player is the one of `wheelhouse-workload` with two differences, for ours as for the others:
//! handles have any type, and the order in which timers of one call fire does not matter, since few
//! promise one. The set of timers that fire in a call does matter.

use crate::peer::Peer;
use wheelhouse_benches::foreign::blend;
use wheelhouse_core::Tick;
use wheelhouse_workload::{Checksum, Op};

/// A peer under way.
pub(crate) struct Player<P: Peer> {
    peer: P,
    handles: Vec<Option<P::Handle>>,
    inserted: u64,
    now: Tick,
    checksum: Checksum,
}

impl<P: Peer> Player<P> {
    /// A new peer, for timers with labels below `labels`.
    pub(crate) fn new(labels: usize) -> Self {
        let handles = std::iter::repeat_with(|| None).take(labels).collect();
        Self { peer: P::new(labels), handles, inserted: 0, now: 0, checksum: Checksum::default() }
    }

    /// A new peer in the state that others have reached.
    pub(crate) fn resume(state: &State, checksum: Checksum) -> Self {
        let mut player = Self::new(state.timers.len());
        player.advance(state.now);
        for (handle, &(deadline, value)) in player.handles.iter_mut().zip(&state.timers) {
            *handle = (deadline > state.now).then(|| player.peer.insert(deadline, value));
        }
        Self { inserted: state.inserted, checksum, ..player }
    }

    /// Of all answers so far.
    pub(crate) fn checksum(&self) -> Checksum {
        self.checksum
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
            // No phase with pops comes here: `can_play` refuses it.
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

    /// Moves the clock. What fires in one call is summed up in any order.
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

    /// Has the peer do what it put off.
    pub(crate) fn clean_up(&mut self) {
        self.peer.clean_up();
    }

    /// Gives all handles back; some must not be dropped.
    pub(crate) fn end(mut self) {
        for handle in std::mem::take(&mut self.handles).into_iter().flatten() {
            self.peer.forget(handle);
        }
    }
}

/// Which timers are live, kept for a peer that cannot play every phase: it goes on from here.
pub(crate) struct State {
    /// The last deadline and value of each label; a deadline that is past has fired or been
    /// stopped.
    timers: Vec<(Tick, u64)>,
    inserted: u64,
    now: Tick,
}

impl State {
    pub(crate) fn new(labels: usize) -> Self {
        Self { timers: vec![(0, 0); labels], inserted: 0, now: 0 }
    }

    /// Follows an operation. One that goes from wake-up to wake-up cannot be followed.
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
