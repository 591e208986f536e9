//! A player on the oracle that counts operations on live timers.

use wheelhouse_core::Timer;
use wheelhouse_oracle::Oracle;
use wheelhouse_workload::{Op, Player};

pub(crate) struct CountingPlayer {
    pub(crate) player: Player<Oracle<u64>>,
    /// Cancellations of a live timer.
    pub(crate) cancelled: u64,
    /// Reschedules of a live timer.
    pub(crate) moved: u64,
    /// The most timers that were live at a time.
    pub(crate) peak: usize,
}

impl CountingPlayer {
    pub(crate) fn new(labels: usize) -> Self {
        let player = Player::new(Oracle::default(), labels);
        Self { player, cancelled: 0, moved: 0, peak: 0 }
    }

    pub(crate) fn play(&mut self, ops: &[Op]) {
        for &op in ops {
            match op {
                Op::Cancel { label } => self.cancelled += u64::from(self.player.is_live(label)),
                Op::Reschedule { label, .. } => self.moved += u64::from(self.player.is_live(label)),
                _ => {}
            }
            self.player.apply(op);
            self.peak = self.peak.max(self.player.timer().len());
        }
    }
}
