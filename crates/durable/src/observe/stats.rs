//! Counters and distributions, for each kind and in total, and their text for Prometheus.

use crate::store::Kind;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;
use wheelhouse_service::Exposition;
use wheelhouse_service::internal::Distribution as Numbers;

/// A counter: its name for Prometheus, its help text, its value.
type Counter = (&'static str, &'static str, fn(&Counts) -> u64);

/// Declares the counters once: the atomics that threads add to, the numbers in a snapshot, and the
/// metrics.
macro_rules! counters {
    ($($list:ident { $($name:ident $metric:literal $help:literal,)+ })+) => {
        /// Counters since the start of this program. In the counters of one kind, those that do
        /// not depend on the kind are zero: cancellations and moves, which name a key; commits,
        /// claims and errors of the store.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Counts {
            $($(#[doc = $help] pub $name: u64,)+)+
        }

        #[derive(Default)]
        pub(crate) struct Atomics {
            $($(pub(crate) $name: AtomicU64,)+)+
        }

        impl Atomics {
            fn read(&self) -> Counts {
                Counts { $($($name: self.$name.load(Ordering::Relaxed),)+)+ }
            }
        }

        impl Counts {
            fn add(&mut self, other: &Self) {
                $($(self.$name += other.$name;)+)+
            }
        }

        $(const $list: &[Counter] = &[$(($metric, $help, |counts| counts.$name),)+];)+
    };
}

counters! {
    OF_KINDS {
        scheduled "jobs_scheduled" "Jobs scheduled, including those that replaced another job.",
        leased "jobs_leased" "Jobs leased by this program.",
        started "runs" "Runs begun.",
        acked "runs_acked" "Runs acked.",
        retried "runs_retried" "Runs that failed and are retried.",
        panicked "runs_panicked" "Runs that panicked. They also count as retried or dead.",
        dead "jobs_dead" "Jobs that became dead letters.",
        given_up "runs_given_up" "Occurrences of periodic jobs given up.",
        skipped "runs_skipped" "Runs skipped because they were too late.",
        missed "runs_missed" "Occurrences that a late run stood for, in addition to its own.",
        released "leases_released" "Leases of jobs that did not begin, given back.",
        closed "runs_closed" "Failed runs of jobs cancelled or replaced during them: not repeated.",
        superseded "acks_superseded" "Acks refused because another worker had the job.",
        leases_lost "leases_lost" "Leases that ran out before this program ended them.",
        slow "runs_slow" "Runs that took longer than `slow_after`.",
        timed_out "runs_timed_out" "Runs that reached their limit.",
    }
    OF_NONE {
        cancelled "jobs_cancelled" "Jobs cancelled, also while they ran.",
        refreshed "jobs_refreshed" "Jobs moved.",
        commits "commits" "Commits of a batch.",
        claims "claims" "Claims.",
        store_errors "store_errors" "Calls of the store that failed.",
        forgotten "dead_letters_forgotten" "Dead letters removed: too old or too many.",
    }
}

/// A summary of a distribution of integers. Quantiles are exact to 1 %; count, sum and maximum are
/// exact.
pub type Summary = wheelhouse_service::Summary<u64>;

/// A distribution that several threads record values in.
#[derive(Default)]
pub(crate) struct Distribution(Mutex<Numbers>);

impl Distribution {
    pub(crate) fn record(&self, value: u64) {
        self.0.lock().record(value);
    }

    pub(crate) fn record_micros(&self, time: Duration) {
        self.record(u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
    }

    fn summary(&self) -> Summary {
        // A copy, so that the lock is not held while quantiles are computed: runs wait for it.
        let numbers = self.0.lock().clone();
        summary(&numbers)
    }
}

fn summary(numbers: &Numbers) -> Summary {
    numbers.summary(|value| value)
}

#[derive(Default)]
pub(crate) struct OfKind {
    pub(crate) counts: Atomics,
    pub(crate) lateness: Distribution,
    pub(crate) run_time: Distribution,
}

/// All counters and distributions. Their number is bounded: only kinds with a handler have an
/// entry.
#[derive(Default)]
pub(crate) struct Counters {
    kinds: BTreeMap<Kind, OfKind>,
    /// Values that do not depend on the kind, and those of kinds without a handler.
    pub(crate) others: OfKind,
    pub(crate) commit_time: Distribution,
    pub(crate) claim_time: Distribution,
    pub(crate) batch: Distribution,
    /// In milliseconds.
    pub(crate) clock_offset: AtomicI64,
}

pub(crate) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

impl Counters {
    pub(crate) fn new<'a>(kinds: impl Iterator<Item = &'a Kind>) -> Self {
        Self {
            kinds: kinds.map(|kind| (kind.clone(), OfKind::default())).collect(),
            ..Self::default()
        }
    }

    /// The counters of a kind, or [`others`](Self::others) if it has no handler.
    pub(crate) fn of(&self, kind: &str) -> &OfKind {
        self.kinds.get(kind).unwrap_or(&self.others)
    }

    pub(crate) fn snapshot(&self, in_flight: usize) -> Snapshot {
        let mut counts = self.others.counts.read();
        let (mut lateness, mut run_time) = (Numbers::default(), Numbers::default());
        for its in self.kinds.values() {
            counts.add(&its.counts.read());
            lateness.add(&its.lateness.0.lock());
            run_time.add(&its.run_time.0.lock());
        }
        let of_kind = |(kind, its): (&Kind, &OfKind)| {
            let (lateness, run_time) = (its.lateness.summary(), its.run_time.summary());
            let counts = its.counts.read();
            (kind.clone(), KindSnapshot { counts, lateness, run_time, overdue: Duration::ZERO })
        };
        Snapshot {
            counts,
            in_flight,
            lateness: summary(&lateness),
            run_time: summary(&run_time),
            kinds: self.kinds.iter().map(of_kind).collect(),
            commit_time: self.commit_time.summary(),
            claim_time: self.claim_time.summary(),
            batch: self.batch.summary(),
            clock_offset: self.clock_offset.load(Ordering::Relaxed),
            ..Snapshot::default()
        }
    }
}

/// The timers of this program at one moment. [`prometheus`](Self::prometheus) formats it for
/// monitoring.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Snapshot {
    /// Counters of all kinds together.
    pub counts: Counts,
    /// Jobs leased and not ended.
    pub in_flight: usize,
    /// For how long the oldest waiting job could have begun, among the kinds that have a handler.
    /// The value is at most a minute old. The PostgreSQL store may leave out jobs while a
    /// transaction stays open: see its documentation.
    pub overdue: Duration,
    /// Figures of the storage, such as `wal_bytes` of a SQLite file and `dead_rows` of PostgreSQL.
    /// They are at most a minute old, and summed over several stores.
    pub store: BTreeMap<&'static str, u64>,
    /// From when a job was due to when it was handed out, by the store's clock, in microseconds.
    pub lateness: Summary,
    /// Durations of handlers, in microseconds.
    pub run_time: Summary,
    /// Each kind that has a handler.
    pub kinds: BTreeMap<Kind, KindSnapshot>,
    /// Durations of commits, in microseconds.
    pub commit_time: Summary,
    /// Durations of claims, in microseconds: with a server, a round trip and the server's work.
    pub claim_time: Summary,
    /// Numbers of changes in a commit.
    pub batch: Summary,
    /// How far the store's clock was ahead of this machine's at the last claim, in milliseconds,
    /// rounded down. Jobs follow the store's clock.
    pub clock_offset: i64,
}

/// The jobs of one kind at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct KindSnapshot {
    /// Counters of this kind.
    pub counts: Counts,
    /// From when a job was due to when it was handed out, by the store's clock, in microseconds.
    pub lateness: Summary,
    /// Durations of its handler, in microseconds.
    pub run_time: Summary,
    /// For how long its oldest waiting job could have begun.
    pub overdue: Duration,
}

impl Snapshot {
    /// The snapshot in the text format of Prometheus (version 0.0.4). Serve it with the content
    /// type `text/plain; version=0.0.4`. Counters of jobs have the label `kind`: one sample for
    /// each kind that has a handler, and one for the kind `""`, which stands for all kinds that
    /// this program schedules for other programs. Times are in seconds. Quantiles cover all values
    /// since the start.
    ///
    /// ```
    /// use wheelhouse_durable::store::MemoryStore;
    /// use wheelhouse_durable::{Durable, Handlers, Next};
    ///
    /// let handlers = Handlers::new().on_bytes("close-order/1", |_, _| Ok(Next::Done));
    /// let timers = Durable::start(MemoryStore::new(), handlers)?;
    /// let text = timers.snapshot().prometheus();
    /// assert!(text.contains("\nwheelhouse_durable_jobs_dead_total{kind=\"close-order/1\"} 0\n"));
    /// # Ok::<(), wheelhouse_durable::StartError>(())
    /// ```
    pub fn prometheus(&self) -> String {
        let mut text = Exposition::default();
        for (name, help, its) in OF_KINDS {
            let name = format!("wheelhouse_durable_{name}_total");
            text.counter(&name, help);
            for (kind, of_kind) in &self.kinds {
                text.sample(&name, &[("kind", kind)], its(&of_kind.counts));
            }
            let known: u64 = self.kinds.values().map(|of_kind| its(&of_kind.counts)).sum();
            // The counters grow while they are read one after the other, so the sum of the kinds
            // may exceed the total.
            text.sample(&name, &[("kind", "")], its(&self.counts).saturating_sub(known));
        }
        for (name, help, its) in OF_NONE {
            let name = format!("wheelhouse_durable_{name}_total");
            text.counter(&name, help);
            text.sample(&name, &[], its(&self.counts));
        }
        self.gauges(&mut text);
        self.summaries(&mut text);
        text.to_string()
    }

    #[expect(clippy::cast_precision_loss, reason = "53 bits are enough to be shown")]
    fn gauges(&self, text: &mut Exposition) {
        let name = "wheelhouse_durable_in_flight";
        text.gauge(name, "Jobs leased and not ended.");
        text.sample(name, &[], self.in_flight);
        let name = "wheelhouse_durable_overdue_seconds";
        text.gauge(name, "For how long the oldest waiting job could have begun.");
        for (kind, of_kind) in &self.kinds {
            text.sample(name, &[("kind", kind)], of_kind.overdue.as_secs_f64());
        }
        for (what, value) in &self.store {
            let name = format!("wheelhouse_durable_store_{what}");
            text.gauge(&name, "A figure of the storage.");
            text.sample(&name, &[], value);
        }
        let name = "wheelhouse_durable_clock_offset_seconds";
        text.gauge(name, "How far the store's clock is ahead of this machine's.");
        text.sample(name, &[], self.clock_offset as f64 / 1e3);
    }

    fn summaries(&self, text: &mut Exposition) {
        type OfKind = fn(&KindSnapshot) -> &Summary;
        let of_kinds: [(&str, &str, OfKind); 2] = [
            (
                "wheelhouse_durable_lateness_seconds",
                "From when a job was due to when it was handed out, by the store's clock.",
                |its| &its.lateness,
            ),
            ("wheelhouse_durable_run_time_seconds", "How long handlers took.", |its| &its.run_time),
        ];
        for (name, help, its) in of_kinds {
            text.summary(name, help);
            for (kind, of_kind) in &self.kinds {
                put(text, name, &[("kind", kind)], its(of_kind), 1e6);
            }
        }
        for (name, help, its, unit) in [
            ("commit_time_seconds", "How long commits took.", &self.commit_time, 1e6),
            ("claim_time_seconds", "How long claims took.", &self.claim_time, 1e6),
            ("batch_changes", "How many changes were in one commit.", &self.batch, 1.0),
        ] {
            let name = format!("wheelhouse_durable_{name}");
            text.summary(&name, help);
            put(text, &name, &[], its, unit);
        }
    }
}

/// Appends the quantiles, sum and count of a distribution. `unit`: how many units of the recorded
/// numbers make one unit of the metric.
#[expect(clippy::cast_precision_loss, reason = "53 bits are enough to be shown")]
fn put(text: &mut Exposition, name: &str, labels: &[(&str, &str)], its: &Summary, unit: f64) {
    let quantiles = [its.p50, its.p90, its.p99, its.p999, its.max].map(|it| it as f64 / unit);
    text.quantiles(name, labels, quantiles, (its.sum as f64 / unit, its.count));
}
