//! The feature `tracing`: each run is a span, and each failure a warning that names the job.

use crate::common::{Log, Rig, ms, poll};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};
use wheelhouse_service::Run;

/// `tracing` has one cache for all threads with the events that have a listener. It is rebuilt when
/// a subscriber is set or dropped, so these tests must not overlap.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Logs the fields of warnings.
struct Warnings(Log<String>);

impl Subscriber for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() == Level::WARN
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut Fields(&self.0));
    }
}

struct Fields<'a>(&'a Log<String>);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.push(format!("{field}: {value:?}"));
    }
}

#[test]
fn a_panic_is_a_warning_that_names_the_job() {
    let _alone = alone();
    let log = Log::default();
    // `tracing` caches for all threads whether a warning has a listener. Another test that warns at
    // this moment, without a subscriber, may cause it to be cached as unwanted.
    for _ in 0..1_000 {
        let mut rig = Rig::new();
        rig.timers.after(ms(1)).named("report").run(|_| panic!("no paper")).unwrap();
        tracing::subscriber::with_default(Warnings(log.clone()), || {
            tracing::callsite::rebuild_interest_cache();
            rig.play(10)
        });
        if log.len() > 0 {
            break;
        }
    }
    let mut fields = log.take();
    fields.sort();
    assert_eq!(fields, ["job: job 'report'", "message: job 'report' panicked: no paper"]);
}

/// Logs the fields of spans, and the span of each event.
struct Spans {
    log: Log<String>,
    current: Mutex<Vec<u64>>,
    made: AtomicU64,
}

impl Subscriber for Spans {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_span() || metadata.target() == "user"
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        span.record(&mut Fields(&self.log));
        Id::from_u64(self.made.fetch_add(1, Ordering::Relaxed) + 1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, span: &Id) {
        self.current.lock().unwrap().push(span.into_u64());
    }

    fn exit(&self, _: &Id) {
        self.current.lock().unwrap().pop();
    }

    fn event(&self, event: &Event<'_>) {
        self.log.push(format!("in {:?}", self.current.lock().unwrap()));
        event.record(&mut Fields(&self.log));
    }
}

#[test]
fn what_a_run_logs_is_in_its_span_also_if_it_is_a_future() {
    let _alone = alone();
    let log = Log::default();
    let spans = Spans { log: log.clone(), current: Mutex::default(), made: AtomicU64::new(0) };
    let (mut rig, runs, _) = Rig::with_kept_futures();
    let hello = |_: &Run<'_>| tracing::info!(target: "user", "hello");
    rig.timers.after(ms(1)).named("greeter").run(hello).unwrap();
    let plan = rig.timers.after(ms(2)).named("later");
    let later = plan.run_async(|_| async { tracing::info!(target: "user", "and again") });
    drop(later.unwrap());
    tracing::subscriber::with_default(spans, || {
        rig.play(10);
        assert!(poll(&mut runs.one()).is_ready());
        tracing::info!(target: "user", "outside");
    });
    let expected = [
        "job: job 'greeter'",
        "number: 1",
        "attempt: 1",
        "lateness: 0ns",
        "in [1]",
        "message: hello",
        "job: job 'later'",
        "number: 1",
        "attempt: 1",
        "lateness: 8ms",
        "in [2]",
        "message: and again",
        "in []",
        "message: outside",
    ];
    assert_eq!(log.take(), expected);
}
