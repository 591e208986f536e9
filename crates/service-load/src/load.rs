//! The sizes of the experiments.

use std::num::NonZero;
use std::thread::available_parallelism;
use std::time::Duration;

/// The size of each experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// Threads that schedule and refresh, except in open loops.
    pub producers: usize,
    /// How long the producers of `pairs` and `refresh` run.
    pub pairs_time: Duration,
    /// How many jobs each producer of `pairs-window` keeps outstanding.
    pub window: usize,
    /// Far jobs that are pending while pairs are measured.
    pub pending: u32,
    /// Threads that make pairs in `producers`.
    pub crowd: usize,
    /// Fires per second.
    pub rate: u32,
    /// Fires per second of `fires-300k`.
    pub fast_rate: u32,
    /// Fires per second of `slow-jobs`.
    pub slow_rate: u32,
    /// How long jobs fire at these rates, one-shot or periodic, and how long `server` lasts.
    pub fires_time: Duration,
    /// Connections of `server`.
    pub connections: u32,
    /// Requests per second of `server`.
    pub request_rate: u32,
    /// The period of periodic jobs.
    pub period: Duration,
    /// The number of sessions.
    pub sessions: u32,
    /// How long after its last refresh a session expires.
    pub ttl: Duration,
    /// Jobs due at one instant.
    pub burst: u32,
    /// How long an idle facility is observed.
    pub idle_time: Duration,
    /// How long to wait without a run before the missing jobs count as lost.
    pub patience: Duration,
    /// The seed of delays.
    pub seed: u64,
}

impl Load {
    /// The sizes for which the project gives bounds: minutes in all.
    pub fn whole() -> Self {
        Self {
            producers: 2,
            pairs_time: Duration::from_millis(500),
            window: 1_024,
            pending: 1_000_000,
            crowd: 64,
            rate: 100_000,
            fast_rate: 300_000,
            slow_rate: 20_000,
            fires_time: Duration::from_secs(2),
            connections: 200_000,
            request_rate: 50_000,
            period: Duration::from_secs(1),
            sessions: 500_000,
            ttl: Duration::from_secs(2),
            burst: 1_000_000,
            idle_time: Duration::from_secs(1),
            patience: Duration::from_secs(30),
            seed: 1,
        }
    }

    /// A tenth of the jobs, and less time.
    pub fn quick() -> Self {
        Self {
            pairs_time: Duration::from_millis(200),
            pending: 100_000,
            fires_time: Duration::from_millis(500),
            period: Duration::from_millis(250),
            sessions: 50_000,
            ttl: Duration::from_millis(500),
            burst: 100_000,
            idle_time: Duration::from_millis(300),
            ..Self::whole()
        }
    }

    /// The smallest sizes that show that everything works.
    pub fn tiny() -> Self {
        Self {
            pairs_time: Duration::from_millis(5),
            window: 64,
            pending: 1_000,
            crowd: 8,
            rate: 5_000,
            fast_rate: 15_000,
            slow_rate: 5_000,
            fires_time: Duration::from_millis(100),
            connections: 300,
            request_rate: 5_000,
            period: Duration::from_millis(50),
            sessions: 300,
            ttl: Duration::from_millis(200),
            burst: 1_000,
            idle_time: Duration::from_millis(20),
            ..Self::whole()
        }
    }

    /// The number of jobs that fire at this rate.
    pub fn fires_at(&self, rate: u32) -> u64 {
        (f64::from(rate) * self.fires_time.as_secs_f64()).round() as u64
    }
}

/// The processors that this program may use.
pub(crate) fn processors() -> usize {
    available_parallelism().map_or(1, NonZero::get)
}
