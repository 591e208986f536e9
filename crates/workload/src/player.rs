//! Plays operations on a backend and adds up its answers.
//!
//! A player is a table of handles by label, and a checksum. Both are timed with the structure, at
//! the same cost for every structure: a random access into the table for each operation, and one
//! multiplication for each answer.

use crate::Op;
use std::num::NonZeroU32;
use wheelhouse_core::{Expired, Tick, Timer, TimerId};

/// A handle that no structure returns.
const NO_TIMER: TimerId = TimerId::from_parts(u32::MAX, NonZeroU32::MAX);

/// A checksum of everything that a backend answered: each expiry with its deadline and value in
/// order, each value returned by a cancellation, each yes or no of a reschedule. Two backends agree
/// on a stream if their checksums are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Checksum(u64);

impl Default for Checksum {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Checksum {
    /// The sum as a number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Adds a word. The order matters. One multiplication mixes enough, since the checksum need not
    /// resist attacks.
    #[inline]
    pub fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

impl std::fmt::Display for Checksum {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// Plays a stream on one backend. The value of each timer is its number in order of insertion.
#[derive(Debug)]
pub struct Player<B> {
    timer: B,
    ids: Vec<TimerId>,
    inserted: u64,
    fired: u64,
    checksum: Checksum,
}

impl<B: Timer<u64>> Player<B> {
    /// A player for streams whose labels are below `labels`.
    pub fn new(timer: B, labels: usize) -> Self {
        Self {
            timer,
            ids: vec![NO_TIMER; labels],
            inserted: 0,
            fired: 0,
            checksum: Checksum::default(),
        }
    }

    /// The backend.
    pub fn timer(&self) -> &B {
        &self.timer
    }

    /// The backend, to be used directly.
    pub fn timer_mut(&mut self) -> &mut B {
        &mut self.timer
    }

    /// The sum over all answers so far.
    pub fn checksum(&self) -> Checksum {
        self.checksum
    }

    /// Returns `true` if the timer last inserted under a label is live.
    pub fn is_live(&self, label: u32) -> bool {
        self.ids.get(label as usize).is_some_and(|id| self.timer.deadline(*id).is_some())
    }

    /// How many timers have fired so far.
    pub fn fired(&self) -> u64 {
        self.fired
    }

    /// How many timers were inserted so far.
    pub fn inserted(&self) -> u64 {
        self.inserted
    }

    /// Plays a part of a stream.
    ///
    /// # Panics
    ///
    /// If a label is not below the number given to [`new`](Self::new).
    pub fn play(&mut self, ops: &[Op]) {
        for &op in ops {
            self.apply(op);
        }
    }

    /// Plays one operation.
    ///
    /// # Panics
    ///
    /// If its label is not below the number given to [`new`](Self::new).
    // `always`, since the player is part of the measured time: as a function that is called for
    // each operation, it took a quarter of some columns.
    #[inline(always)]
    pub fn apply(&mut self, op: Op) {
        match op {
            Op::Insert { label, deadline } => {
                self.ids[label as usize] = self.timer.insert(deadline, self.inserted);
                self.inserted += 1;
            }
            Op::Cancel { label } => {
                let answer = self.timer.cancel(self.ids[label as usize]);
                self.checksum.add(answer.map_or(0, |value| value + 1));
            }
            Op::Reschedule { label, deadline } => {
                let moved = self.timer.reschedule(self.ids[label as usize], deadline);
                self.checksum.add(u64::from(moved));
            }
            Op::Advance { to } => {
                self.advance(to);
            }
            Op::Ticks { count, to } => {
                // Counting down keeps `to - left` at 0 or more in a stream that starts at tick 0.
                for left in (0..u64::from(count)).rev() {
                    self.advance(to - left);
                }
            }
            Op::Pop { to } => {
                self.pop(to);
            }
            Op::Wake => {
                while self.timer.next_wakeup().is_some_and(|wakeup| self.advance(wakeup) == 0) {}
            }
        }
    }

    #[inline]
    fn pop(&mut self, to: Tick) {
        if let Some(Expired { deadline, value, .. }) = self.timer.pop_expired(to) {
            self.checksum.add(deadline);
            self.checksum.add(value);
            self.fired += 1;
        }
    }

    #[inline]
    fn advance(&mut self, to: Tick) -> usize {
        let checksum = &mut self.checksum;
        let fired = self.timer.advance(to, |Expired { deadline, value, .. }| {
            checksum.add(deadline);
            checksum.add(value);
        });
        self.fired += fired as u64;
        fired
    }
}
