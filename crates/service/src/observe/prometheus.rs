//! A snapshot as text in the Prometheus exposition format.

use crate::{Snapshot, Summary};
use std::fmt::Write;

impl Snapshot {
    /// The snapshot in the text format of Prometheus (version 0.0.4): counters, gauges, and a
    /// summary each for lateness and run time, in seconds. To be served with the content type
    /// `text/plain; version=0.0.4`; how, is among the [recipes](crate#recipes).
    ///
    /// Quantiles are over all runs since the start, not over the last minutes: what changes lately
    /// shows in the rates of `_sum` and `_count`. No sample has a label of the service: if a
    /// program has several, let each have an address of its own and the scraper add a label per
    /// address (`relabel_configs` or `static_configs.labels` of Prometheus).
    ///
    /// ```
    /// use wheelhouse_service::Scheduler;
    ///
    /// let text = Scheduler::builder().build()?.handle().snapshot().prometheus();
    /// assert!(text.contains("# TYPE wheelhouse_jobs_scheduled_total counter\n"));
    /// assert!(text.contains("\nwheelhouse_jobs_scheduled_total 0\n"));
    /// # Ok::<(), wheelhouse_service::BuildError>(())
    /// ```
    pub fn prometheus(&self) -> String {
        let mut text = String::new();
        for (name, help, value) in self.counters() {
            metric(&mut text, &format!("{name}_total"), "counter", help, value);
        }
        let gauge = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
        metric(
            &mut text,
            "wheelhouse_jobs",
            "gauge",
            "Jobs scheduled and not over.",
            gauge(self.jobs),
        );
        metric(&mut text, "wheelhouse_keys", "gauge", "Jobs that have a key.", gauge(self.keys));
        metric(
            &mut text,
            "wheelhouse_runs_in_flight",
            "gauge",
            "Runs handed out and not ended.",
            gauge(self.in_flight),
        );
        metric(
            &mut text,
            "wheelhouse_runs_running",
            "gauge",
            "Runs begun and not ended.",
            gauge(self.running),
        );
        summary(
            &mut text,
            "wheelhouse_lateness_seconds",
            "From the time asked for to the begin of a run.",
            &self.lateness,
        );
        summary(&mut text, "wheelhouse_run_time_seconds", "How long runs took.", &self.run_time);
        text
    }

    fn counters(&self) -> [(&'static str, &'static str, u64); 15] {
        let counts = &self.counts;
        [
            ("wheelhouse_jobs_scheduled", "Jobs scheduled.", counts.scheduled),
            ("wheelhouse_jobs_finished", "Jobs whose last run has ended.", counts.finished),
            ("wheelhouse_jobs_cancelled", "Jobs cancelled or replaced.", counts.cancelled),
            ("wheelhouse_jobs_stopped", "Jobs ended by stopping the service.", counts.stopped),
            ("wheelhouse_jobs_rejected", "Jobs refused.", counts.rejected),
            ("wheelhouse_jobs_rescheduled", "Times a job was moved.", counts.rescheduled),
            ("wheelhouse_runs", "Runs begun.", counts.runs),
            ("wheelhouse_runs_panicked", "Runs that panicked.", counts.panicked),
            ("wheelhouse_runs_failed", "Runs that returned an error.", counts.failed),
            ("wheelhouse_runs_slow", "Runs that took too long.", counts.slow),
            ("wheelhouse_runs_timed_out", "Runs ended by their time limit.", counts.timed_out),
            ("wheelhouse_runs_missed", "Periods left out.", counts.missed),
            ("wheelhouse_runs_undelivered", "Values that could not be sent.", counts.undelivered),
            ("wheelhouse_runs_abandoned", "Runs that an executor dropped.", counts.abandoned),
            ("wheelhouse_polls", "Times the driver looked for what is due.", counts.polls),
        ]
    }
}

fn metric(text: &mut String, name: &str, kind: &str, help: &str, value: u64) {
    put(text, format_args!("# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}\n"));
}

fn summary(text: &mut String, name: &str, help: &str, summary: &Summary) {
    put(text, format_args!("# HELP {name} {help}\n# TYPE {name} summary\n"));
    let quantiles = [
        ("0.5", summary.p50),
        ("0.9", summary.p90),
        ("0.99", summary.p99),
        ("0.999", summary.p999),
        ("1", summary.max),
    ];
    for (quantile, duration) in quantiles {
        put(text, format_args!("{name}{{quantile=\"{quantile}\"}} {}\n", duration.as_secs_f64()));
    }
    put(
        text,
        format_args!("{name}_sum {}\n{name}_count {}\n", summary.sum.as_secs_f64(), summary.count),
    );
}

fn put(text: &mut String, line: std::fmt::Arguments<'_>) {
    text.write_fmt(line).expect("a String takes all that is written to it");
}
