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
    ChangeError, Clock, DueRun, JobHandle, ManualClock, Moment, Reason, Run, Scheduler, Status,
};
use loom::thread;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
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

/// Runs that were handed out.
type KeptRuns = Arc<Mutex<Vec<DueRun>>>;

fn scheduler() -> (Scheduler, KeptRuns) {
    let held = KeptRuns::default();
    let keep = Arc::clone(&held);
    let executor = move |run: DueRun| keep.lock().unwrap().push(run);
    (Scheduler::builder().clock(ManualClock::new()).executor(executor).build().unwrap(), held)
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

#[test]
fn no_wake_up_is_lost() {
    check(3, || {
        let clock = ManualClock::new();
        let mut scheduler = Scheduler::builder().clock(clock.clone()).build().unwrap();
        let (timers, parker) = (scheduler.handle(), Parker::new());
        let waker = parker.unparker().clone();
        scheduler.set_waker(Arc::new(move || waker.unpark()));
        let (job, ran) = counted();
        let producer = thread::spawn(move || {
            timers.after(Duration::ZERO).run(job).unwrap();
        });
        loop {
            scheduler.poll(clock.now());
            if ran() == 1 {
                break;
            }
            // If it sleeps past the job, no thread can wake it, and loom reports a deadlock.
            if asleep(&scheduler, &clock) {
                parker.park();
            }
        }
        producer.join().unwrap();
    });
}

/// Each producer has its own shard, so the driver learns of either only by the first ticks of the
/// shards.
#[test]
fn no_wake_up_is_lost_whichever_shard_it_is_for() {
    check(2, || {
        let clock = ManualClock::new();
        let builder = Scheduler::builder().clock(clock.clone()).shards(2);
        let mut scheduler = builder.build().unwrap();
        let (timers, parker) = (scheduler.handle(), Parker::new());
        let waker = parker.unparker().clone();
        scheduler.set_waker(Arc::new(move || waker.unpark()));
        let (first, first_ran) = counted();
        let (second, second_ran) = counted();
        let producer = |shard, job| {
            let timers = timers.clone();
            thread::spawn(move || drop(timers.schedule_plain(shard, Moment::ORIGIN, job)))
        };
        let producers = [
            producer(0, CallOnce(Box::new(first) as Boxed)),
            producer(1, CallOnce(Box::new(second))),
        ];
        loop {
            scheduler.poll(clock.now());
            if first_ran() + second_ran() == 2 {
                break;
            }
            if asleep(&scheduler, &clock) {
                parker.park();
            }
        }
        producers.into_iter().for_each(|producer| producer.join().unwrap());
    });
}

/// Returns `true` if the thread of a service would sleep now, until the scheduler's clock is moved
/// or the thread is woken.
fn asleep(scheduler: &Scheduler, clock: &ManualClock) -> bool {
    scheduler.driver().next_wakeup().is_none_or(|wakeup| wakeup > clock.now())
}

type Boxed = Box<dyn FnOnce(&Run<'_>) + Send>;

/// A job that is moved to the present from another thread, while the driver goes to sleep until its
/// former time.
#[test]
fn no_wake_up_is_lost_to_who_moves_a_job() {
    check(3, || {
        let clock = ManualClock::new();
        let mut scheduler = Scheduler::builder().clock(clock.clone()).build().unwrap();
        let parker = Parker::new();
        let waker = parker.unparker().clone();
        scheduler.set_waker(Arc::new(move || waker.unpark()));
        let (job, ran) = counted();
        let handle = scheduler.handle().after(Duration::from_secs(3600)).run(job).unwrap();
        let owner = thread::spawn(move || handle.reschedule(Moment::ORIGIN).unwrap());
        loop {
            scheduler.poll(clock.now());
            if ran() == 1 {
                break;
            }
            // An event loop calls this, which checks the shards once more.
            if scheduler.next_wakeup().is_none_or(|wakeup| wakeup > clock.now()) {
                parker.park();
            }
        }
        owner.join().unwrap();
    });
}

#[test]
fn a_job_that_is_scheduled_while_the_service_stops_is_refused_or_given_back() {
    check(3, || {
        let (scheduler, _held) = scheduler();
        let timers = scheduler.handle();
        let kept = timers.clone();
        let producer = thread::spawn(move || {
            match timers.after(Duration::from_secs(1)).named("job").run(|_| ()) {
                Ok(job) => Some(job),
                Err(rejected) => {
                    assert_eq!(rejected.reason, Reason::Stopped);
                    None
                }
            }
        });
        let mut jobs = scheduler.stop();
        let scheduled = producer.join().unwrap();
        assert_eq!(jobs.len(), usize::from(scheduled.is_some()), "exactly one of the two has it");
        assert!(scheduled.is_none_or(|job| job.status() == Status::Stopped));
        assert!(kept.is_empty());
        jobs.clear();
    });
}

/// A job whose run was handed out, and a function that returns how often it ran.
fn due_job(
    scheduler: &mut Scheduler,
    held: &KeptRuns,
) -> (JobHandle, impl Fn() -> usize + use<>, DueRun) {
    let (job, ran) = counted();
    let handle = scheduler.handle().after(Duration::ZERO).named("job").run(job).unwrap();
    scheduler.poll(Moment::ORIGIN);
    (handle, ran, held.lock().unwrap().pop().unwrap())
}

#[test]
fn of_a_cancellation_and_a_run_one_wins_and_both_know() {
    check(3, || {
        let (mut scheduler, held) = scheduler();
        let (handle, ran, due) = due_job(&mut scheduler, &held);
        let other = handle.clone();
        let canceller = thread::spawn(move || other.cancel().map(drop));
        due.run();
        match canceller.join().unwrap() {
            Ok(()) => assert_eq!((ran(), handle.status()), (0, Status::Cancelled)),
            Err(ChangeError::Running | ChangeError::Finished) => {
                assert_eq!((ran(), handle.status()), (1, Status::Finished))
            }
            Err(other) => panic!("{other}"),
        }
        scheduler.poll(Moment::ORIGIN);
        assert!(scheduler.handle().is_empty() && scheduler.next_wakeup().is_none());
    });
}

#[test]
fn of_a_refresh_and_a_run_one_wins_and_both_know() {
    check(3, || {
        let (mut scheduler, held) = scheduler();
        let (handle, ran, due) = due_job(&mut scheduler, &held);
        let later = Moment::from_nanos(5_000_000);
        let other = handle.clone();
        let refresher = thread::spawn(move || other.reschedule(later));
        due.run();
        let moved = refresher.join().unwrap();
        scheduler.poll(Moment::ORIGIN);
        assert!(held.lock().unwrap().is_empty(), "nothing more is due");
        match moved {
            Ok(()) => assert_eq!(
                (ran(), handle.status(), scheduler.next_wakeup()),
                (0, Status::Pending, Some(later))
            ),
            Err(ChangeError::Running | ChangeError::Finished) => {
                assert_eq!((ran(), scheduler.next_wakeup()), (1, None))
            }
            Err(other) => panic!("{other}"),
        }
    });
}

#[test]
fn a_periodic_job_that_ends_a_run_while_the_service_stops_is_given_back_or_over() {
    check(3, || {
        let (mut scheduler, held) = scheduler();
        let timers = scheduler.handle();
        let handle =
            timers.every(Duration::from_secs(1)).first_after(Duration::ZERO).run(|_| ()).unwrap();
        scheduler.poll(Moment::ORIGIN);
        let due = held.lock().unwrap().pop().unwrap();
        let worker = thread::spawn(move || due.run());
        let jobs = scheduler.stop();
        worker.join().unwrap();
        // The job was returned before the run or between two runs, or the run continued past the
        // stop and was the last.
        assert!(jobs.len() + handle.runs() as usize >= 1);
        assert_eq!((handle.status(), timers.len()), (Status::Stopped, 0));
        let counts = timers.snapshot().counts;
        assert_eq!((counts.scheduled, counts.stopped), (1, 1));
    });
}
