//! The service with its threads, on the real clock or a manual one. A test that waits for a
//! condition gives up only after a time limit that no machine reaches.

use crate::common::{
    BlockedJob, HOUR, Log, PATIENCE, arrives, ms, returns, start, start_workers, wait_until,
};
use crossbeam_channel::unbounded;
use std::cell::RefCell;
use std::env;
use std::process::Command;
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use wheelhouse_service::{BuildError, Event, EventKind, Run, Scheduler, Service, Status, Stop};

#[test]
fn a_service_with_nothing_to_do_does_nothing() {
    let (_service, timers) = start(Service::builder());
    timers.after(HOUR).run(|_| ()).unwrap();
    // It comes to rest, in any state.
    let mut polls = timers.snapshot().counts.polls;
    wait_until(|| {
        thread::sleep(ms(100));
        polls == std::mem::replace(&mut polls, timers.snapshot().counts.polls)
    });
    thread::sleep(ms(200));
    assert_eq!(timers.snapshot().counts.polls, polls, "no tick, no wake-up");
}

/// Each of them is stuck until the test ends, and the next thread has taken the lead.
#[test]
fn as_many_slow_jobs_go_on_as_there_are_threads_and_then_it_is_counted() {
    let (service, timers) = start_workers(3);
    let stuck = [(); 3].map(|()| BlockedJob::start(&timers));
    assert_eq!(timers.snapshot().running, 3);
    let (sender, ran) = unbounded();
    let late = timers.after(ms(0)).named("job").send(&sender, ()).unwrap();
    thread::sleep(ms(5));
    assert!(late.is_pending() && ran.is_empty(), "no thread is free");
    assert_eq!(timers.snapshot().counts.delayed_others, 0, "it is counted when such a run ends");
    stuck.iter().for_each(BlockedJob::release);
    arrives(&ran);
    assert!(service.stop(Stop::Wait).jobs.is_empty());
    let counts = timers.snapshot().counts;
    assert!((1..=3).contains(&counts.delayed_others), "{counts:?}");
}

/// Fault: a run was reported only if the lead was taken in it, not if the lead was given away
/// before it.
#[test]
fn a_job_that_blocks_is_told_of_while_it_runs() {
    let (tells, told) = unbounded();
    let observe = move |event: &Event| tells.send(event.kind.clone()).unwrap_or_default();
    let builder = Service::builder().workers(2).slow_after(ms(1)).on_event(observe);
    let ((service, timers), (held, job)) = (start(builder), BlockedJob::job());
    timers.after(ms(0)).blocking().run(job).unwrap();
    arrives(&held.begun);
    assert!(matches!(arrives(&told), EventKind::StillRunning(_)));
    held.release();
    assert!(service.stop(Stop::Wait).jobs.is_empty());
    assert!(matches!(arrives(&told), EventKind::Slow(_)));
    assert_eq!(told.len(), 0, "each once");
}

#[test]
fn dropping_waits_for_the_threads() {
    for workers in [1, 2] {
        let ((service, timers), log) = (start_workers(workers), Log::default());
        let ((held, job), ends) = (BlockedJob::job(), log.clone());
        let body = move |run: &Run<'_>| {
            job(run);
            ends.push(());
        };
        timers.every(ms(1)).run(body).unwrap();
        arrives(&held.begun);
        // When it is taken back, no further run begins in its shard, which is that of this thread.
        let other = timers.after(HOUR).named("job").run(|_| ()).unwrap();
        let dropping = thread::spawn(move || drop(service));
        wait_until(|| other.status() == Status::Stopped);
        assert!(!dropping.is_finished(), "the run has not ended");
        drop(held);
        returns(move || dropping.join().unwrap());
        assert_eq!(log.len(), 1, "{workers}");
        assert!(log.is_alone(), "{workers}: the job was dropped, so its thread no longer has it");
    }
}

#[test]
fn a_job_that_panics_ends_no_thread() {
    for workers in [1, 2] {
        let (events, (sender, ran)) = (Log::default(), unbounded());
        let log = events.clone();
        // If backtraces are enabled, a panic writes one, which may take long. That is not reported
        // as slow here.
        let builder = Service::builder().workers(workers).slow_after(PATIENCE);
        let service = builder.on_event(move |event| log.push(event.to_string())).start().unwrap();
        let job = move |run: &Run<'_>| {
            sender.send(run.number()).unwrap();
            assert!(run.number() > 4, "not yet");
        };
        service.handle().every(ms(1)).times(5).named("fails").run(job).unwrap();
        assert_eq!([(); 5].map(|()| arrives(&ran)), [1, 2, 3, 4, 5], "{workers} threads");
        service.stop(Stop::Wait).jobs.clear();
        assert_eq!(events.take(), ["job 'fails' panicked: not yet"; 4], "{workers} threads");
    }
}

/// Tells a test that it runs alone, in a process under special conditions.
const INSIDE: &str = "WHEELHOUSE_TEST_INSIDE";

#[test]
fn a_service_whose_thread_cannot_be_started_says_so() {
    if !cfg!(target_os = "linux") {
        return;
    }
    if env::var_os(INSIDE).is_none() {
        // Stacks that no machine has memory for, in a separate process, where that affects no other
        // test.
        let name = "threads::a_service_whose_thread_cannot_be_started_says_so";
        let mut child = Command::new(env::current_exe().unwrap());
        child.args(["--exact", name]).env("RUST_MIN_STACK", (1_u64 << 60).to_string());
        let output = returns(move || child.env(INSIDE, "").output()).unwrap().stdout;
        let output = String::from_utf8(output).unwrap();
        assert!(output.contains("1 passed"), "{output}");
        return;
    }
    let (witness, started) = (Arc::new(()), Service::builder());
    let held = Arc::clone(&witness);
    let started = started.on_event(move |_| _ = &held).start();
    assert!(matches!(started, Err(BuildError::Thread(_))));
    assert_eq!(Arc::strong_count(&witness), 1, "nothing is left of it");
}

/// With the defaults, and with a single thread besides that of the slow job.
#[test]
fn a_slow_job_delays_no_other_by_default() {
    for builder in [Service::builder(), Service::builder().workers(2)] {
        let (service, timers) = start(builder);
        let held = BlockedJob::start(&timers);
        let (sender, ran) = unbounded();
        timers.every(ms(1)).times(20).send(&sender, ()).unwrap();
        let (awake, inner) = (sender.clone(), timers.clone());
        let sleeps = move |_: &Run<'_>| async move {
            inner.sleep(ms(1)).await.unwrap();
            awake.send(()).unwrap();
        };
        drop(timers.after(ms(1)).run_async(sleeps).unwrap());
        timers.every(ms(1)).times(20).run(move |_| sender.send(()).unwrap()).unwrap();
        (0..41).for_each(|_| arrives(&ran));
        wait_until(|| timers.snapshot().running == 1);
        held.release();
        assert!(service.stop(Stop::Wait).jobs.is_empty());
    }
}

/// Only the threads of the service have it, and only if the tick is shorter than the default of the
/// system.
#[cfg(target_os = "linux")]
#[test]
fn a_short_tick_is_the_timer_slack_of_the_threads_of_the_service() {
    let slack = || rustix::thread::current_timer_slack().unwrap();
    let default = slack();
    for (tick, set) in [(Duration::from_micros(1), 1_000), (ms(3), default)] {
        let (sender, seen) = unbounded();
        let service = Service::builder().workers(1).tick(tick).start().unwrap();
        service.handle().after(ms(1)).run(move |_| sender.send(slack()).unwrap()).unwrap();
        assert_eq!((arrives(&seen), slack()), (set, default), "{tick:?}");
    }
}

/// A thread may drop the list of its runs before the scheduler, which drops a run.
#[test]
fn a_scheduler_in_a_thread_local_value_ends_with_its_thread() {
    thread_local!(static KEPT: RefCell<Option<Scheduler>> = const { RefCell::new(None) });
    let thread = thread::spawn(|| {
        KEPT.set(Some(Scheduler::builder().build().unwrap()));
        KEPT.with_borrow_mut(|kept| {
            let scheduler = kept.as_mut().unwrap();
            let timers = scheduler.handle();
            let hour = |run: &Run<'_>| {
                let sleep = run.timers().sleep(HOUR);
                async { _ = sleep.await }
            };
            timers.execute_async(hour).unwrap();
            scheduler.poll(timers.now());
            scheduler.poll(timers.now());
        });
    });
    thread.join().unwrap();
}
