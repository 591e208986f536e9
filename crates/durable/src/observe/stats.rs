//! Counters and distributions.

use hdrhistogram::Histogram;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Declares the counters once, for those that threads add to and for those that are shown.
macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)+) => {
        /// Counters since the start of this program.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Counts {
            $($(#[$doc])* pub $name: u64,)+
        }

        #[derive(Default)]
        pub(crate) struct Atomics {
            $(pub(crate) $name: AtomicU64,)+
        }

        impl Atomics {
            fn read(&self) -> Counts {
                Counts { $($name: self.$name.load(Ordering::Relaxed),)+ }
            }
        }
    };
}

counters! {
    /// Jobs scheduled, those in place of others among them.
    scheduled,
    /// Jobs cancelled, also while they ran.
    cancelled,
    /// Jobs moved.
    refreshed,
    /// Jobs leased by this program.
    leased,
    /// Runs begun.
    started,
    /// Runs acked.
    acked,
    /// Runs that failed and are tried again.
    retried,
    /// Runs that panicked: among the retried or the dead.
    panicked,
    /// Jobs that became dead letters.
    dead,
    /// Occurrences of periodic jobs given up.
    given_up,
    /// Runs left out because they came too late.
    skipped,
    /// Occurrences that a late run stands for, beside its own.
    missed,
    /// Leases given back because the program stopped or could not understand the job.
    released,
    /// Runs of jobs that had been cancelled or replaced meanwhile and failed: not repeated.
    closed,
    /// Acks refused because somebody else had the job.
    superseded,
    /// Leases that ran out in this program's hands.
    leases_lost,
    /// Commits of a batch.
    commits,
    /// Claims.
    claims,
    /// Calls of the store that failed.
    store_errors,
}

/// What is shown of a distribution: quantiles within 1 %.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// How many were recorded.
    pub count: u64,
    /// The median.
    pub p50: u64,
    /// One of a hundred is larger.
    pub p99: u64,
    /// The largest.
    pub max: u64,
}

/// A distribution of whole numbers.
pub(crate) struct Distribution(Mutex<Histogram<u64>>);

impl Default for Distribution {
    fn default() -> Self {
        let histogram = Histogram::new_with_bounds(1, 1 << 40, 2);
        Self(Mutex::new(histogram.expect("constant bounds, which are valid")))
    }
}

impl Distribution {
    pub(crate) fn record(&self, value: u64) {
        self.0.lock().saturating_record(value);
    }

    pub(crate) fn record_micros(&self, time: Duration) {
        self.record(u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
    }

    fn summary(&self) -> Summary {
        let histogram = self.0.lock();
        let at = |quantile| histogram.value_at_quantile(quantile).min(histogram.max());
        Summary { count: histogram.len(), p50: at(0.5), p99: at(0.99), max: histogram.max() }
    }
}

#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) counts: Atomics,
    pub(crate) lateness: Distribution,
    pub(crate) run_time: Distribution,
    pub(crate) commit_time: Distribution,
    pub(crate) batch: Distribution,
}

/// Adds one.
pub(crate) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

impl Counters {
    pub(crate) fn snapshot(&self, in_flight: usize) -> Snapshot {
        Snapshot {
            counts: self.counts.read(),
            in_flight,
            lateness: self.lateness.summary(),
            run_time: self.run_time.summary(),
            commit_time: self.commit_time.summary(),
            batch: self.batch.summary(),
        }
    }
}

/// The timers of this program at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Snapshot {
    /// Counters.
    pub counts: Counts,
    /// Jobs leased and not ended.
    pub in_flight: usize,
    /// How late runs were handed out, by the store's clock, in microseconds.
    pub lateness: Summary,
    /// How long handlers took, in microseconds.
    pub run_time: Summary,
    /// How long commits took, in microseconds.
    pub commit_time: Summary,
    /// How many changes were in one commit.
    pub batch: Summary,
}
