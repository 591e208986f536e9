//! The time limit of async jobs while the service stops.

use crate::common::{Log, PATIENCE, ms, returns};
use crossbeam_channel::{bounded, unbounded};
use std::thread;
use std::time::{Duration, Instant};
use wheelhouse_service::{Event, EventKind, ManualClock, Run, Service, Stop};

const HOUR: Duration = Duration::from_secs(3600);

/// Stops a service with an async job that hangs (`None` drops the service), while the clock
/// advances. If the thread is busy, the job begins during the stop.
fn stops_at_the_limit(how: Option<Stop>, busy: bool) {
    let (clock, events) = (ManualClock::new(), Log::default());
    let log = events.clone();
    let observe = move |event: &Event| log.push(event.kind.clone());
    let builder = Service::builder().workers(1).clock(clock.clone()).on_event(observe);
    let service = builder.start().unwrap();
    let (timers, (begins, begun)) = (service.handle(), unbounded());
    let hangs = timers.after(ms(1)).limit(ms(5));
    let its = begins.clone();
    let hang = move |_: &Run<'_>| {
        its.send("hangs").unwrap();
        std::future::pending()
    };
    drop(hangs.run_async(hang).unwrap());
    let (release, released) = bounded::<()>(0);
    if busy {
        let holds = move |_: &Run<'_>| {
            begins.send("holds the thread").unwrap();
            released.recv().unwrap_or_default();
        };
        timers.after(ms(2)).run(holds).unwrap();
    }
    clock.advance(ms(2));
    let first = if busy { "holds the thread" } else { "hangs" };
    assert_eq!(begun.recv_timeout(PATIENCE), Ok(first));
    let stopping = thread::spawn(move || how.map(|how| service.stop(how).running));
    // A drain refuses jobs before it has stopped.
    while !timers.is_stopped() && !matches!(how, Some(Stop::Drain(_))) {
        thread::yield_now();
    }
    drop(release);
    let until = Instant::now() + PATIENCE;
    while timers.snapshot().in_flight > 0 {
        assert!(Instant::now() < until, "{how:?}: the run has no limit");
        clock.advance(ms(1));
        thread::yield_now();
    }
    let running = returns(move || stopping.join().unwrap());
    assert!(how == Some(Stop::Now) || running.unwrap_or(0) == 0, "{how:?}: {running:?}");
    assert_eq!(events.take(), [EventKind::TimedOut(ms(5))], "{how:?}");
}

/// Fault: from the begin of a stop the limit of an async job did not hold, so that the stop waited
/// for ever for a run that hung.
#[test]
fn the_limit_of_an_async_job_holds_while_the_service_stops() {
    for how in [Stop::Now, Stop::Wait, Stop::WaitFor(HOUR), Stop::Drain(HOUR)] {
        stops_at_the_limit(Some(how), false);
    }
    stops_at_the_limit(None, false);
    stops_at_the_limit(Some(Stop::Wait), true);
    stops_at_the_limit(Some(Stop::WaitFor(HOUR)), true);
}
