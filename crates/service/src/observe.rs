//! Counters and distributions, the snapshot that shows them, and the exposition format of
//! Prometheus.

use hdrhistogram::Histogram;
use std::fmt::{self, Write};
use std::time::Duration;

/// Declares the counters once: for the struct, for their sum, and for metrics, with the name and
/// the help text of each, which is also its documentation.
macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident: $metric:literal, $help:literal;)+) => {
        /// Counters at a moment. The shards are read one after the other, so while the service
        /// works, the sums may differ by operations in progress.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Counts {
            $(
                #[doc = $help]
                $(#[$doc])*
                pub $name: u64,
            )+
        }

        impl Counts {
            pub(crate) fn add(&mut self, other: &Self) {
                $(self.$name += other.$name;)+
            }

            fn metrics(&self) -> impl IntoIterator<Item = (&'static str, &str, u64)> {
                [$(($metric, $help, self.$name),)+]
            }
        }
    };
}

counters! {
    /// Each of them is pending, running, or in one of the next three.
    scheduled: "jobs_scheduled", "Jobs scheduled.";
    finished: "jobs_finished", "Jobs whose last run has ended.";
    cancelled: "jobs_cancelled", "Jobs cancelled or replaced.";
    stopped: "jobs_stopped", "Jobs ended or returned by stopping the service.";
    rejected: "jobs_rejected", "Jobs refused.";
    rescheduled: "jobs_rescheduled", "Times a job was moved.";
    runs: "runs", "Runs begun.";
    panicked: "runs_panicked", "Runs that panicked.";
    failed: "runs_failed", "Runs that returned an error.";
    /// The last attempt of a job failed: see [`GaveUp`](crate::EventKind::GaveUp).
    gave_up: "runs_gave_up", "Failed runs that are not retried.";
    /// Longer than [`slow_after`](crate::Builder::slow_after).
    slow: "runs_slow", "Runs that took too long.";
    /// They took longer than the [patience](crate::Builder::workers) while every other thread was
    /// in a run too, so jobs that came due in that time were late.
    delayed_others: "runs_delayed_others", "Runs that delayed others.";
    timed_out: "runs_timed_out", "Runs ended by their time limit.";
    /// See [`Missed`](crate::Missed).
    missed: "runs_missed", "Periods skipped.";
    undelivered: "runs_undelivered", "Values that could not be sent.";
    abandoned: "runs_abandoned", "Runs that an executor dropped.";
    polls: "polls", "Polls for due jobs.";
}

/// An hour in nanoseconds. A greater number counts as this, except in the sum and the maximum.
const LONGEST: u64 = 3_600_000_000_000;

/// Two digits: quantiles are within 1 %, in some 40 KiB.
const DIGITS: u8 = 2;

/// A distribution of integers, such as durations in nanoseconds. Readers copy it: calculating
/// quantiles takes longer than a run can wait for the lock.
#[derive(Clone, Debug)]
pub struct Distribution {
    histogram: Histogram<u64>,
    /// Saturates: for nanoseconds at 584 years.
    sum: u64,
    max: u64,
}

impl Default for Distribution {
    fn default() -> Self {
        let histogram = Histogram::new_with_bounds(1, LONGEST, DIGITS)
            .expect("constant bounds, which are valid");
        Self { histogram, sum: 0, max: 0 }
    }
}

impl Distribution {
    /// Records a number: converting nanoseconds to a `Duration` takes two divisions.
    #[inline]
    pub fn record(&mut self, value: u64) {
        self.histogram.saturating_record(value);
        self.sum = self.sum.saturating_add(value);
        self.max = self.max.max(value);
    }

    /// Adds the values of another distribution.
    pub fn add(&mut self, other: &Self) {
        self.histogram.add(&other.histogram).expect("the same bounds");
        self.sum = self.sum.saturating_add(other.sum);
        self.max = self.max.max(other.max);
    }

    /// Its summary, in the unit to which `of` converts numbers.
    pub fn summary<T>(&self, of: impl Fn(u64) -> T) -> Summary<T> {
        // The histogram rounds up to the end of a bucket, which may exceed the maximum.
        let at = |quantile| of(self.histogram.value_at_quantile(quantile).min(self.max));
        let (count, sum, max) = (self.histogram.len(), of(self.sum), of(self.max));
        Summary { count, sum, p50: at(0.5), p90: at(0.9), p99: at(0.99), p999: at(0.999), max }
    }
}

#[derive(Default)]
pub(crate) struct Distributions {
    pub(crate) lateness: Distribution,
    pub(crate) run_time: Distribution,
}

/// A summary of a distribution, of durations by default. Quantiles are within 1 %; those of
/// durations reach up to an hour. Count, sum and maximum are exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary<T = Duration> {
    /// The number of recorded values.
    pub count: u64,
    /// The sum of all.
    pub sum: T,
    /// The median.
    pub p50: T,
    /// One in ten is greater.
    pub p90: T,
    /// One in a hundred is greater.
    pub p99: T,
    /// One in a thousand is greater.
    pub p999: T,
    /// The greatest.
    pub max: T,
}

/// The state of the service at a moment. See [`prometheus`](Self::prometheus) for a text that
/// monitoring can read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Snapshot {
    /// Counters since the start.
    pub counts: Counts,
    /// Jobs that are scheduled and not over: pending, due, or running.
    pub jobs: usize,
    /// Jobs that can be found by a key.
    pub keys: usize,
    /// Runs that were handed out and have not ended.
    pub in_flight: usize,
    /// Those of them that have begun.
    pub running: usize,
    /// The lateness of runs: from the deadline to the start of the run. It includes rounding up to
    /// the tick.
    pub lateness: Summary,
    /// How long runs took.
    pub run_time: Summary,
}

/// A text in the format that Prometheus scrapes (version 0.0.4): for each metric its type, then its
/// samples. [`Snapshot::prometheus`] uses it. A program can append its own metrics with it.
///
/// ```
/// use wheelhouse_service::Exposition;
///
/// let mut text = Exposition::default();
/// text.counter("orders_closed_total", "Orders closed.");
/// text.sample("orders_closed_total", &[("shop", "north")], 17);
/// assert!(text.to_string().ends_with("\norders_closed_total{shop=\"north\"} 17\n"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exposition(String);

impl Exposition {
    /// Begins a counter. By convention its name ends in `_total`. Special characters of the help
    /// text are escaped.
    pub fn counter(&mut self, name: &str, help: &str) {
        self.begin(name, "counter", help);
    }

    /// Begins a gauge.
    pub fn gauge(&mut self, name: &str, help: &str) {
        self.begin(name, "gauge", help);
    }

    /// Begins a summary; its samples are [`quantiles`](Self::quantiles).
    pub fn summary(&mut self, name: &str, help: &str) {
        self.begin(name, "summary", help);
    }

    /// Adds a sample of the current metric. Special characters of label values are escaped.
    pub fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl fmt::Display) {
        self.put(format_args!("{name}"));
        for (at, (label, its)) in labels.iter().enumerate() {
            let open = if at == 0 { '{' } else { ',' };
            let its = its.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            self.put(format_args!("{open}{label}=\"{its}\""));
        }
        let close = if labels.is_empty() { "" } else { "}" };
        self.put(format_args!("{close} {value}\n"));
    }

    /// Adds the samples of a summary: the median, p90, p99, p99.9 and the maximum, then sum and
    /// count.
    pub fn quantiles(
        &mut self,
        name: &str,
        labels: &[(&str, &str)],
        quantiles: [f64; 5],
        (sum, count): (f64, u64),
    ) {
        for (quantile, value) in ["0.5", "0.9", "0.99", "0.999", "1"].iter().zip(quantiles) {
            self.sample(name, &[labels, &[("quantile", quantile)]].concat(), value);
        }
        self.sample(&format!("{name}_sum"), labels, sum);
        self.sample(&format!("{name}_count"), labels, count);
    }

    fn begin(&mut self, name: &str, kind: &str, help: &str) {
        let help = help.replace('\\', "\\\\").replace('\n', "\\n");
        self.put(format_args!("# HELP {name} {help}\n# TYPE {name} {kind}\n"));
    }

    fn put(&mut self, text: fmt::Arguments<'_>) {
        self.0.write_fmt(text).expect("a String takes all that is written to it");
    }
}

impl fmt::Display for Exposition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Snapshot {
    /// The snapshot in the text format of Prometheus: counters, gauges, and summaries of lateness
    /// and run time in seconds. Its content type is `text/plain; version=0.0.4`.
    ///
    /// Quantiles are over all runs since the start: recent changes are in the rates of `_sum` and
    /// `_count`. No sample has a label of the service: serve several services at separate
    /// addresses, and let the scraper add a label per address (`static_configs.labels`).
    pub fn prometheus(&self) -> String {
        let mut text = Exposition::default();
        for (name, help, value) in self.counts.metrics() {
            let name = format!("wheelhouse_{name}_total");
            text.counter(&name, help);
            text.sample(&name, &[], value);
        }
        for (name, help, value) in [
            ("wheelhouse_jobs", "Jobs scheduled and not over.", self.jobs),
            ("wheelhouse_keys", "Jobs that have a key.", self.keys),
            ("wheelhouse_runs_in_flight", "Runs handed out and not ended.", self.in_flight),
            ("wheelhouse_runs_running", "Runs begun and not ended.", self.running),
        ] {
            text.gauge(name, help);
            text.sample(name, &[], value);
        }
        let late = "From the deadline to the begin of a run.";
        summary(&mut text, "wheelhouse_lateness_seconds", late, &self.lateness);
        summary(&mut text, "wheelhouse_run_time_seconds", "How long runs took.", &self.run_time);
        text.0
    }
}

fn summary(text: &mut Exposition, name: &str, help: &str, its: &Summary) {
    let quantiles = [its.p50, its.p90, its.p99, its.p999, its.max].map(|time| time.as_secs_f64());
    text.summary(name, help);
    text.quantiles(name, &[], quantiles, (its.sum.as_secs_f64(), its.count));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_is_exact_at_the_ends_and_close_between() {
        let mut distribution = Distribution::default();
        assert_eq!(distribution.summary(Duration::from_nanos), Summary::default());
        (1..=1000).for_each(|n| distribution.record(n * 1_000));
        let Summary { count, sum, p50, p90, p99, p999, max } =
            distribution.summary(Duration::from_nanos);
        assert_eq!(
            (count, sum, max),
            (1000, Duration::from_micros(500_500), Duration::from_millis(1))
        );
        for (quantile, exact) in [(p50, 500), (p90, 900), (p99, 990), (p999, 999)] {
            let error = quantile.as_secs_f64() / Duration::from_micros(exact).as_secs_f64() - 1.0;
            assert!(error.abs() < 0.01, "{quantile:?} for {exact} us");
        }
    }

    #[test]
    fn what_is_out_of_range_is_counted_nevertheless() {
        let (mut distribution, two_hours) = (Distribution::default(), Duration::from_secs(7_200));
        distribution.record(0);
        distribution.record(7_200_000_000_000);
        let Summary { count, sum, p99, max, .. } = distribution.summary(Duration::from_nanos);
        assert_eq!((count, sum, max), (2, two_hours, two_hours));
        assert!(p99 >= Duration::from_secs(3500));
        distribution.record(u64::MAX);
        assert_eq!(distribution.summary(Duration::from_nanos).sum, Duration::from_nanos(u64::MAX));
    }
}
