//! A snapshot as text in the exposition format of Prometheus.

use super::stats::{OF_KINDS, OF_NONE};
use super::{KindSnapshot, Snapshot, Summary};
use wheelhouse_service::Exposition;

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
