//! The feature `tracing`: each run is a span, and each failure a warning that names the job.

use crate::common::{Rig, ms, poll};
use std::io;
use std::sync::Mutex;
use tracing_subscriber::fmt::format::FmtSpan;
use wheelhouse_service::{Run, Status};

/// Logs the spans, warnings and events of the user of three runs: a closure, a panic, and a future.
fn logged() -> String {
    let ((log, writer), (mut rig, runs, _)) = (io::pipe().unwrap(), Rig::with_kept_futures());
    let hello = |_: &Run<'_>| tracing::info!("hello");
    rig.timers.after(ms(1)).named("greeter").run(hello).unwrap();
    rig.timers.after(ms(1)).named("report").run(|_| panic!("no paper")).unwrap();
    let plan = rig.timers.after(ms(2)).named("later");
    drop(plan.run_async(|_| async { tracing::info!("and again") }).unwrap());
    let subscriber = tracing_subscriber::fmt().with_writer(Mutex::new(writer));
    let subscriber = subscriber.with_span_events(FmtSpan::NEW).without_time().with_target(false);
    tracing::subscriber::with_default(subscriber.with_ansi(false).finish(), || {
        tracing::callsite::rebuild_interest_cache();
        rig.play(10);
        assert!(poll(&mut runs.one()).is_ready());
        tracing::info!("outside");
    });
    io::read_to_string(log).unwrap()
}

#[test]
fn each_run_is_a_span_and_a_panic_is_a_warning_that_names_the_job() {
    let expected = " INFO run{job=job 'greeter' number=1 attempt=1 lateness=0ns}: new
 INFO run{job=job 'greeter' number=1 attempt=1 lateness=0ns}: hello
 INFO run{job=job 'report' number=1 attempt=1 lateness=0ns}: new
 WARN job 'report' panicked: no paper job=job 'report'
 INFO run{job=job 'later' number=1 attempt=1 lateness=8ms}: new
 INFO run{job=job 'later' number=1 attempt=1 lateness=8ms}: and again
 INFO outside
";
    // `tracing` caches for all threads whether a warning has a listener. Another test that warns at
    // this moment, without a subscriber, may cause it to be cached as unwanted.
    let complete = (0..1_000).map(|_| logged()).find(|log| log.lines().count() == 7);
    assert_eq!(complete.as_deref(), Some(expected));
}

/// Fault: it ended the thread that was in the run.
#[test]
fn a_subscriber_that_panics_harms_nobody() {
    let mut rig = Rig::new();
    let job = rig.timers.every(ms(10)).times(3).run(|_| panic!("no paper")).unwrap();
    let writer = || -> io::Sink { panic!("no log") };
    let subscriber = tracing_subscriber::fmt().with_writer(writer).with_span_events(FmtSpan::NEW);
    tracing::subscriber::with_default(subscriber.finish(), || {
        tracing::callsite::rebuild_interest_cache();
        rig.play(100);
    });
    assert_eq!((job.runs(), job.status()), (3, Status::Finished));
}
