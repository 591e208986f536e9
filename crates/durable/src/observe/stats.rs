//! Counters and distributions, of each kind and of the whole.

use crate::store::{Kind, Kinds};
use hdrhistogram::Histogram;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

/// Declares the counters once, for those that threads add to and for those that are shown.
macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)+) => {
        /// Counters since the start of this program. In those of a kind, what concerns no kind is
        /// zero: cancellations and moves, which name a key; commits, claims and errors of the
        /// store.
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

        impl Counts {
            /// Adds those of another kind.
            fn add(&mut self, other: &Self) {
                $(self.$name += other.$name;)+
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
    /// Runs that took longer than `slow_after`.
    slow,
    /// Runs that reached their limit.
    timed_out,
    /// Commits of a batch.
    commits,
    /// Claims.
    claims,
    /// Calls of the store that failed.
    store_errors,
    /// Dead letters removed because they were too old or too many.
    forgotten,
}

/// What is shown of a distribution: quantiles within 1 %; count, sum and maximum are exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// How many were recorded.
    pub count: u64,
    /// All of them together.
    pub sum: u64,
    /// The median.
    pub p50: u64,
    /// One of ten is larger.
    pub p90: u64,
    /// One of a hundred is larger.
    pub p99: u64,
    /// One of a thousand is larger.
    pub p999: u64,
    /// The largest.
    pub max: u64,
}

/// A distribution of whole numbers.
#[derive(Clone)]
pub(crate) struct Numbers {
    histogram: Histogram<u64>,
    sum: u64,
    max: u64,
}

impl Default for Numbers {
    fn default() -> Self {
        let histogram = Histogram::new_with_bounds(1, 1 << 40, 2);
        let histogram = histogram.expect("constant bounds, which are valid");
        Self { histogram, sum: 0, max: 0 }
    }
}

impl Numbers {
    fn add(&mut self, other: &Self) {
        self.histogram.add(&other.histogram).expect("the same bounds");
        self.sum = self.sum.saturating_add(other.sum);
        self.max = self.max.max(other.max);
    }

    fn summary(&self) -> Summary {
        let (histogram, sum, max) = (&self.histogram, self.sum, self.max);
        let at = |quantile| histogram.value_at_quantile(quantile).min(max);
        let (p50, p90, p99, p999) = (at(0.5), at(0.9), at(0.99), at(0.999));
        Summary { count: histogram.len(), sum, p50, p90, p99, p999, max }
    }
}

/// Numbers that several threads record.
#[derive(Default)]
pub(crate) struct Distribution(Mutex<Numbers>);

impl Distribution {
    pub(crate) fn record(&self, value: u64) {
        let mut numbers = self.0.lock();
        numbers.histogram.saturating_record(value);
        numbers.sum = numbers.sum.saturating_add(value);
        numbers.max = numbers.max.max(value);
    }

    pub(crate) fn record_micros(&self, time: Duration) {
        self.record(u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
    }

    /// A copy: working out quantiles takes longer than a run can wait.
    fn read(&self) -> Numbers {
        self.0.lock().clone()
    }

    fn summary(&self) -> Summary {
        self.read().summary()
    }
}

/// What is counted of a kind.
#[derive(Default)]
pub(crate) struct OfKind {
    pub(crate) counts: Atomics,
    pub(crate) lateness: Distribution,
    pub(crate) run_time: Distribution,
}

impl OfKind {
    fn snapshot(&self) -> KindSnapshot {
        KindSnapshot {
            counts: self.counts.read(),
            lateness: self.lateness.summary(),
            run_time: self.run_time.summary(),
            overdue: Duration::ZERO,
        }
    }
}

/// What is counted. Bounded: a kind has its own only if it has a handler.
pub(crate) struct Counters {
    kinds: BTreeMap<Kind, OfKind>,
    /// What concerns no kind, or one that has no handler.
    pub(crate) others: OfKind,
    pub(crate) commit_time: Distribution,
    pub(crate) claim_time: Distribution,
    pub(crate) batch: Distribution,
    /// In milliseconds.
    pub(crate) clock_offset: AtomicI64,
}

/// Adds one.
pub(crate) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

impl Counters {
    pub(crate) fn new(kinds: &Kinds) -> Self {
        Self {
            kinds: kinds.iter().map(|kind| (kind.clone(), OfKind::default())).collect(),
            others: OfKind::default(),
            commit_time: Distribution::default(),
            claim_time: Distribution::default(),
            batch: Distribution::default(),
            clock_offset: AtomicI64::new(0),
        }
    }

    /// Those of a kind.
    pub(crate) fn of(&self, kind: &str) -> &OfKind {
        self.kinds.get(kind).unwrap_or(&self.others)
    }

    pub(crate) fn snapshot(&self, in_flight: usize) -> Snapshot {
        let mut counts = self.others.counts.read();
        let (mut lateness, mut run_time) = (Numbers::default(), Numbers::default());
        for its in self.kinds.values() {
            counts.add(&its.counts.read());
            lateness.add(&its.lateness.read());
            run_time.add(&its.run_time.read());
        }
        Snapshot {
            counts,
            in_flight,
            overdue: Duration::ZERO,
            store: BTreeMap::new(),
            lateness: lateness.summary(),
            run_time: run_time.summary(),
            kinds: self.kinds.iter().map(|(kind, its)| (kind.clone(), its.snapshot())).collect(),
            commit_time: self.commit_time.summary(),
            claim_time: self.claim_time.summary(),
            batch: self.batch.summary(),
            clock_offset: self.clock_offset.load(Ordering::Relaxed),
        }
    }
}

/// The timers of this program at a moment. See [`prometheus`](Self::prometheus) for a text that
/// monitoring can read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Snapshot {
    /// Counters of all kinds together.
    pub counts: Counts,
    /// Jobs leased and not ended.
    pub in_flight: usize,
    /// How long ago the oldest job that waits could have begun, of the kinds that have a handler,
    /// at most a minute old.
    pub overdue: Duration,
    /// Figures of the storage, at most a minute old, such as `wal_bytes` of a SQLite file and
    /// `dead_rows` of PostgreSQL; the sum for several stores.
    pub store: BTreeMap<&'static str, u64>,
    /// How late runs were handed out, by the store's clock, in microseconds.
    pub lateness: Summary,
    /// How long handlers took, in microseconds.
    pub run_time: Summary,
    /// The same of each kind that has a handler.
    pub kinds: BTreeMap<Kind, KindSnapshot>,
    /// How long commits took, in microseconds.
    pub commit_time: Summary,
    /// How long claims took, in microseconds: with a server, a round trip and its work.
    pub claim_time: Summary,
    /// How many changes were in one commit.
    pub batch: Summary,
    /// How far the store's clock is ahead of this machine's, in milliseconds, as the last claim
    /// found it, rounded down. Jobs follow the store's.
    pub clock_offset: i64,
}

/// The jobs of one kind at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct KindSnapshot {
    /// Counters of this kind.
    pub counts: Counts,
    /// How late its runs were handed out, by the store's clock, in microseconds.
    pub lateness: Summary,
    /// How long its handler took, in microseconds.
    pub run_time: Summary,
    /// How long ago its oldest job that waits could have begun.
    pub overdue: Duration,
}
