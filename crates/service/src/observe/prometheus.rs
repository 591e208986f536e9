//! The exposition format of Prometheus, and a snapshot in it.

use crate::{Snapshot, Summary};
use std::fmt::{self, Write};

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
