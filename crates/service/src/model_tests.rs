//! Tests of the protocols between threads with loom, in every relevant order of the threads:
//!
//! ```sh
//! cargo test -p wheelhouse-service-models --test models model_tests
//! ```

mod leading;
mod stopping;

use crate::sync::Parker;
use crate::work::CallOnce;
use crate::{
    AsyncRun, Backoff, ChangeError, Handle, ManualClock, Moment, Run, Scheduler, Service, Status,
};
use loom::thread;
use std::future::ready;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};
use std::time::Duration;

/// Runs a test in every order with at most `interruptions` preemptions that are not forced. Nearly
/// all faults need only two (see the documentation of loom). With a third, a model with three
/// threads of the service takes a minute instead of a second.
fn check(interruptions: usize, test: impl Fn() + Send + Sync + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(interruptions);
    let orders = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&orders);
    model.check(move || {
        count.fetch_add(1, Ordering::Relaxed);
        test();
    });
    let orders = orders.load(Ordering::Relaxed);
    println!("{orders} orders");
    assert!(orders > 1, "the threads of this model do not interact");
}

/// The same with a service of this number of threads.
fn check_service(
    interruptions: usize,
    workers: usize,
    test: impl Fn(Service, Handle) + Send + Sync + 'static,
) {
    check(interruptions, move || {
        let builder = Service::builder().shards(1).clock(ManualClock::new());
        let service = builder.workers(workers).start().unwrap();
        let timers = service.handle();
        test(service, timers);
    });
}

/// A job, and a function that returns how often it ran. The counter is that of the standard
/// library, which loom does not observe: it is not under test.
fn counted() -> (impl FnOnce(&Run<'_>) + Send + 'static, impl Fn() -> usize) {
    let runs = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&runs);
    let job = move |_: &Run<'_>| {
        runs.fetch_add(1, Ordering::SeqCst);
    };
    (job, move || count.load(Ordering::SeqCst))
}

/// Drives a scheduler on a clock that stands still, until `is_done`. If it sleeps past a job, no
/// thread can wake it, and loom reports a deadlock.
fn drive(
    mut scheduler: Scheduler,
    next_wakeup: fn(&Scheduler) -> Option<Moment>,
    is_done: impl Fn() -> bool,
) -> Scheduler {
    let parker = Parker::new();
    let waker = parker.unparker().clone();
    scheduler.set_waker(Arc::new(move || waker.unpark()));
    loop {
        scheduler.poll(Moment::ORIGIN);
        if is_done() {
            return scheduler;
        }
        if next_wakeup(&scheduler).is_none_or(|wakeup| wakeup > Moment::ORIGIN) {
            parker.park();
        }
    }
}

/// When a thread of a service would wake up by itself.
fn of_a_service(scheduler: &Scheduler) -> Option<Moment> {
    scheduler.driver.next_wakeup()
}

#[test]
fn no_wake_up_is_lost() {
    check(3, || {
        let scheduler = Scheduler::builder().clock(ManualClock::new()).build().unwrap();
        let (timers, (job, ran)) = (scheduler.handle(), counted());
        let producer = thread::spawn(move || {
            timers.after(Duration::ZERO).run(job).unwrap();
        });
        let _scheduler = drive(scheduler, of_a_service, || ran() == 1);
        producer.join().unwrap();
    });
}

/// Each producer has its own shard, so the driver learns of either only by the first ticks of the
/// shards.
#[test]
fn no_wake_up_is_lost_whichever_shard_it_is_for() {
    check(2, || {
        let builder = Scheduler::builder().clock(ManualClock::new()).shards(2);
        let scheduler = builder.build().unwrap();
        let (timers, runs) = (scheduler.handle(), Arc::new(AtomicUsize::new(0)));
        let producers = [0, 1].map(|shard| {
            let (timers, runs) = (timers.clone(), Arc::clone(&runs));
            let job = move |_: &Run<'_>| _ = runs.fetch_add(1, Ordering::SeqCst);
            thread::spawn(move || drop(timers.schedule_plain(shard, Moment::ORIGIN, CallOnce(job))))
        });
        let all_ran = || runs.load(Ordering::SeqCst) == 2;
        let _scheduler = drive(scheduler, of_a_service, all_ran);
        producers.into_iter().for_each(|producer| producer.join().unwrap());
    });
}

/// After a pause and a resume by two threads, all shards are paused or none is, and no job is lost.
#[test]
fn of_a_pause_and_a_resume_one_is_the_last_for_all_shards() {
    check(3, || {
        let builder = Scheduler::builder().clock(ManualClock::new()).shards(2);
        let mut scheduler = builder.build().unwrap();
        let (timers, runs) = (scheduler.handle(), Arc::new(AtomicUsize::new(0)));
        timers.pause();
        for shard in [0, 1] {
            let runs = Arc::clone(&runs);
            let job = move |_: &Run<'_>| _ = runs.fetch_add(1, Ordering::SeqCst);
            drop(timers.schedule_plain(shard, Moment::ORIGIN, CallOnce(job)));
        }
        scheduler.poll(Moment::ORIGIN);
        let its = timers.clone();
        let resumer = thread::spawn(move || its.resume());
        timers.pause();
        resumer.join().unwrap();
        let ran = scheduler.poll(Moment::ORIGIN);
        assert!(ran == 0 || ran == 2, "one shard is paused");
        timers.resume();
        assert_eq!(ran + scheduler.poll(Moment::ORIGIN), 2);
    });
}

/// A job that is moved to the present from another thread, while an event loop goes to sleep until
/// its former time.
#[test]
fn no_wake_up_is_lost_to_who_moves_a_job() {
    check(3, || {
        let scheduler = Scheduler::builder().clock(ManualClock::new()).build().unwrap();
        let (job, ran) = counted();
        let handle = scheduler.handle().after(Duration::from_secs(3600)).run(job).unwrap();
        let owner = thread::spawn(move || handle.reschedule(Moment::ORIGIN).unwrap());
        let _scheduler = drive(scheduler, Scheduler::next_wakeup, || ran() == 1);
        owner.join().unwrap();
    });
}

/// If two threads find an event loop asleep, one of them calls its waker.
#[test]
fn a_sleep_has_one_wake_up() {
    check(3, || {
        let builder = Scheduler::builder().clock(ManualClock::new()).shards(2);
        let mut scheduler = builder.build().unwrap();
        let calls = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&calls);
        scheduler.set_waker(Arc::new(move || _ = counter.fetch_add(1, Ordering::SeqCst)));
        assert_eq!(scheduler.next_wakeup(), None);
        let producers = [0, 1].map(|shard| {
            let (timers, job) = (scheduler.handle(), CallOnce(|_: &Run<'_>| ()));
            thread::spawn(move || drop(timers.schedule_plain(shard, Moment::ORIGIN, job)))
        });
        producers.into_iter().for_each(|producer| producer.join().unwrap());
        assert_eq!(calls.load(Ordering::SeqCst), 1);
    });
}

/// A job that is replaced has a successor before it is over.
#[test]
fn a_key_is_never_unknown_while_its_job_is_replaced() {
    check(2, || {
        let scheduler = Scheduler::builder().clock(ManualClock::new()).build().unwrap();
        let (timers, hour) = (scheduler.handle(), Duration::from_secs(3600));
        let replace = move |timers: &Handle| {
            drop(timers.after(hour).replacing("key").run(|_| ()).unwrap());
        };
        replace(&timers);
        let its = timers.clone();
        let replacer = thread::spawn(move || replace(&its));
        assert!(timers.job("key").is_some());
        assert_eq!(timers.refresh("key", hour), Ok(()));
        assert!(timers.cancel("key").is_ok());
        replacer.join().unwrap();
    });
}

/// A job that runs, one that may be retried, and one that another thread cancels. Fault: its key
/// was removed after its state was seen to change.
#[test]
fn whoever_sees_that_a_job_ends_finds_its_key_free() {
    for (retries, cancels) in [(false, false), (true, false), (false, true)] {
        check(2, move || {
            let mut scheduler = Scheduler::builder().clock(ManualClock::new()).build().unwrap();
            let timers = scheduler.handle();
            let plan = timers.after(Duration::ZERO).key("key");
            let backoff = Backoff::new(Duration::from_secs(1));
            let job = match retries {
                true => plan.retry(backoff).try_run(|_| Ok::<_, String>(())).unwrap(),
                false => plan.run(|_| ()).unwrap(),
            };
            let its = job.clone();
            let other = thread::spawn(move || {
                if cancels {
                    drop(its.cancel());
                } else {
                    scheduler.poll(Moment::ORIGIN);
                }
                scheduler
            });
            let seen = job.status();
            let is_found = timers.job("key").is_some();
            let next = timers.after(Duration::from_secs(3600)).key("key").run(|_| ());
            let may_have_key = seen == Status::Pending || (retries && seen == Status::Running);
            assert!(next.is_ok() && !is_found || may_have_key, "{seen:?}, {is_found}");
            let _scheduler = other.join().unwrap();
        });
    }
}

/// Polls an async run that is ready at once.
fn carry_out(mut run: AsyncRun) {
    let mut context = Context::from_waker(Waker::noop());
    assert!(Pin::new(&mut run).poll(&mut context).is_ready());
}

#[test]
fn of_a_refresh_and_a_run_one_wins_and_both_know() {
    for cancel in [false, true] {
        check(3, move || change_and_run(cancel));
    }
}

/// A thread moves or cancels a job, and another carries out its run, which was handed out.
fn change_and_run(cancel: bool) {
    let held = Arc::new(Mutex::new(Vec::new()));
    let ((job, ran), keep) = (counted(), Arc::clone(&held));
    let builder = Scheduler::builder().clock(ManualClock::new());
    let spawn = move |run| keep.lock().unwrap().push(run);
    let mut scheduler = builder.spawn_on(spawn).build().unwrap();
    let timers = scheduler.handle();
    let plan = timers.after(Duration::ZERO).named("job");
    let handle = plan.run_async(|run: &Run<'_>| ready(job(run))).unwrap();
    scheduler.poll(Moment::ORIGIN);
    let due = held.lock().unwrap().pop().unwrap();
    let (other, later) = (handle.clone(), Moment::from_nanos(5_000_000));
    let change = move || if cancel { other.cancel().map(drop) } else { other.reschedule(later) };
    let changer = thread::spawn(change);
    carry_out(due);
    let changed = changer.join().unwrap();
    scheduler.poll(Moment::ORIGIN);
    assert!(held.lock().unwrap().is_empty(), "nothing more is due");
    let expected = match changed {
        Ok(()) if cancel => (0, Status::Cancelled, None),
        Ok(()) => (0, Status::Pending, Some(later)),
        Err(ChangeError::Running | ChangeError::Finished) => (1, Status::Finished, None),
        Err(other) => panic!("{other}"),
    };
    assert_eq!((ran(), handle.status(), scheduler.next_wakeup()), expected);
}
