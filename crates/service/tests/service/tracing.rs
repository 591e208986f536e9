//! The feature `tracing`: each run is a span, and each failure a warning that names the job.

use crate::common::{Log, Rig, ms, poll};
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};
use wheelhouse_service::Run;

/// Logs the fields of spans, of warnings, and of events of the user, with the spans that these are
/// in.
#[derive(Default)]
struct Recorder {
    log: Log<String>,
    current: Mutex<Vec<u64>>,
    made: AtomicU64,
}

impl Subscriber for Recorder {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_span() || metadata.target() == "user" || *metadata.level() == Level::WARN
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut fields = Fields(Vec::new());
        span.record(&mut fields);
        self.log.push(fields.0.join(", "));
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
        let mut fields = Fields(vec![format!("in {:?}", self.current.lock().unwrap())]);
        event.record(&mut fields);
        self.log.push(fields.0.join(", "));
    }
}

struct Fields(Vec<String>);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.push(format!("{field}: {value:?}"));
    }
}

/// Records three runs: a closure, a panic, and a future.
fn recorded() -> Vec<String> {
    let (recorder, (mut rig, runs, _)) = (Recorder::default(), Rig::with_kept_futures());
    let log = recorder.log.clone();
    let hello = |_: &Run<'_>| tracing::info!(target: "user", "hello");
    rig.timers.after(ms(1)).named("greeter").run(hello).unwrap();
    rig.timers.after(ms(1)).named("report").run(|_| panic!("no paper")).unwrap();
    let plan = rig.timers.after(ms(2)).named("later");
    let later = plan.run_async(|_| async { tracing::info!(target: "user", "and again") });
    drop(later.unwrap());
    tracing::subscriber::with_default(recorder, || {
        tracing::callsite::rebuild_interest_cache();
        rig.play(10);
        assert!(poll(&mut runs.one()).is_ready());
        tracing::info!(target: "user", "outside");
    });
    log.take()
}

#[test]
fn each_run_is_a_span_and_a_panic_is_a_warning_that_names_the_job() {
    let expected = [
        "job: job 'greeter', number: 1, attempt: 1, lateness: 0ns",
        "in [1], message: hello",
        "job: job 'report', number: 1, attempt: 1, lateness: 0ns",
        "in [], message: job 'report' panicked: no paper, job: job 'report'",
        "job: job 'later', number: 1, attempt: 1, lateness: 8ms",
        "in [3], message: and again",
        "in [], message: outside",
    ];
    // `tracing` caches for all threads whether a warning has a listener. Another test that warns at
    // this moment, without a subscriber, may cause it to be cached as unwanted.
    let complete = (0..1_000).map(|_| recorded()).find(|seen| seen.len() == expected.len());
    assert_eq!(complete.as_deref(), Some(&expected.map(str::to_owned)[..]));
}
