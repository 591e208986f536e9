//! Tests of stopping a service with threads, in every order of its threads, producers and the
//! stopping thread. In each model loom also checks that all threads end: a thread that waits for
//! ever is a deadlock, which loom reports.

use super::{carry_out, check, check_service, counted};
use crate::sync::Parker;
use crate::{
    AsyncRun, ChangeError, Group, Handle, JobHandle, ManualClock, Reason, Run, Service, Status,
    Stop, Stopped,
};
use loom::sync::mpsc::{Sender, channel};
use loom::thread;
use std::future::ready;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(3600);

/// Schedules a one-shot job that is due at once.
fn due_at_once(timers: &Handle) -> (JobHandle, impl Fn() -> usize + use<>) {
    let (job, ran) = counted();
    (timers.after(Duration::ZERO).named("job").run(job).unwrap(), ran)
}

/// After a stop that waits: the job has run, or it was returned, and its handle says which.
fn ran_or_came_back(stopped: &Stopped, job: &JobHandle, runs: usize) {
    let given_back = stopped.jobs.iter().filter(|it| it.handle().number() == job.number()).count();
    assert_eq!(runs + given_back, 1, "{job:?}: {runs} runs, given back {given_back} times");
    assert_eq!(job.status(), if runs == 1 { Status::Finished } else { Status::Stopped });
    assert_eq!(job.runs(), runs as u64);
}

/// No job or run is left in the service.
pub(super) fn all_over(timers: &Handle, stopped: &Stopped) {
    let it = timers.snapshot();
    assert_eq!((stopped.running, it.in_flight, it.running, it.jobs), (0, 0, 0, 0));
    let counts = it.counts;
    assert_eq!(counts.scheduled, counts.finished + counts.cancelled + counts.stopped);
    assert_eq!((counts.stopped, counts.abandoned), (stopped.jobs.len() as u64, 0));
}

/// With two threads, the lead may also be taken from a run that ends while the service stops.
#[test]
fn each_job_runs_or_comes_back_when_stopping_waits() {
    for (workers, interruptions) in [(1, 3), (2, 2)] {
        check_service(interruptions, workers, |service, timers| {
            let (first, first_ran) = due_at_once(&timers);
            let (second, second_ran) = due_at_once(&timers);
            let stopped = service.stop(Stop::Wait);
            // The stop has waited: a job that has not run by now never does.
            ran_or_came_back(&stopped, &first, first_ran());
            ran_or_came_back(&stopped, &second, second_ran());
            all_over(&timers, &stopped);
        });
    }
}

#[test]
fn a_job_that_is_scheduled_meanwhile_runs_or_comes_back_or_is_refused() {
    check_service(3, 1, |service, timers| {
        let its = timers.clone();
        let producer = thread::spawn(move || {
            let (job, ran) = counted();
            (its.after(Duration::ZERO).named("job").run(job).map_err(Reason::from), ran)
        });
        let stopped = service.stop(Stop::Wait);
        let (scheduled, ran) = producer.join().unwrap();
        match scheduled {
            Ok(job) => ran_or_came_back(&stopped, &job, ran()),
            Err(reason) => assert_eq!((reason, ran(), stopped.jobs.len()), (Reason::Stopped, 0, 0)),
        }
        let snapshot = timers.snapshot();
        assert_eq!((snapshot.in_flight, snapshot.jobs), (0, 0));
    });
}

#[test]
fn a_job_that_is_cancelled_or_moved_meanwhile_has_one_end() {
    for refresh in [false, true] {
        check_service(2, 1, move |service, timers| {
            let (job, ran) = due_at_once(&timers);
            let other = job.clone();
            let change =
                move || if refresh { other.refresh(HOUR) } else { other.cancel().map(drop) };
            let owner = thread::spawn(change);
            let stopped = service.stop(Stop::Wait);
            let runs_and_returned = match owner.join().unwrap() {
                // Moved, and then given back.
                Ok(()) if refresh => (0, 1),
                Ok(()) => {
                    assert_eq!(job.status(), Status::Cancelled);
                    (0, 0)
                }
                Err(ChangeError::Running | ChangeError::Finished) => (1, 0),
                Err(ChangeError::Stopped) => (0, 1),
                Err(other) => panic!("{other}"),
            };
            assert_eq!((ran(), stopped.jobs.len()), runs_and_returned);
            all_over(&timers, &stopped);
        });
    }
}

#[test]
fn a_periodic_job_has_no_run_after_the_stop_and_comes_back() {
    check_service(2, 1, |service, timers| {
        let job = timers.every(HOUR).first_after(Duration::ZERO).run(|_| ()).unwrap();
        let stopped = service.stop(Stop::Wait);
        assert!(job.runs() <= 1, "{} runs", job.runs());
        assert_eq!(stopped.jobs.len(), 1, "whether or not it ran meanwhile");
        let left = (job.status(), timers.len(), timers.snapshot().in_flight);
        assert_eq!(left, (Status::Stopped, 0, 0));
    });
}

/// Sends the number of its runs when it is dropped.
struct SendsRunsWhenDropped(usize, Sender<usize>);

impl Drop for SendsRunsWhenDropped {
    fn drop(&mut self) {
        self.1.send(self.0).unwrap();
    }
}

/// A job that is neither returned nor over would keep its closure for as long as there is a handle:
/// here, for ever.
#[test]
fn a_job_comes_back_or_is_over_when_stopping_does_not_wait_for_its_run() {
    let (now, soon) = (Stop::Now, Stop::WaitFor(Duration::ZERO));
    let cases = [(1, false, now), (2, false, now), (1, true, now), (1, true, soon)];
    for (workers, repeats, how) in cases {
        check_service(2, workers, move |service, timers| {
            let (sender, runs) = channel();
            let mut told = SendsRunsWhenDropped(0, sender);
            let job = move |_: &Run<'_>| {
                let SendsRunsWhenDropped(runs, _) = &mut told;
                *runs += 1;
            };
            let first = Duration::ZERO;
            let job = match repeats {
                true => timers.every(HOUR).first_after(first).run(job).unwrap(),
                false => timers.after(first).named("job").run(job).unwrap(),
            };
            let given_back = service.stop(how).jobs.len();
            let its_runs = job.runs() as usize;
            assert_eq!(runs.recv(), Ok(its_runs));
            assert!(given_back + its_runs == 1 || repeats && given_back + its_runs == 2);
            assert!(!repeats || job.status() == Status::Stopped && timers.is_empty());
        });
    }
}

#[test]
fn a_job_may_stop_the_service_that_runs_it() {
    check_service(2, 1, |service, timers| {
        timers.after(HOUR).run(|_| ()).unwrap();
        let (sender, given_back) = channel();
        let service = Mutex::new(Some(service));
        let stop = move |_: &Run<'_>| {
            let service = service.lock().unwrap().take();
            sender.send(service.map(|service| service.stop(Stop::Wait).jobs.len())).unwrap();
        };
        timers.after(Duration::ZERO).run(stop).unwrap();
        assert_eq!(given_back.recv(), Ok(Some(1)));
    });
}

#[test]
fn dropping_joins_all_threads_and_drops_all_jobs() {
    check_service(2, 1, |service, timers| {
        let witness = Arc::new(());
        let (held, held_too) = (Arc::clone(&witness), Arc::clone(&witness));
        timers.after(Duration::ZERO).run(move |_| drop(held)).unwrap();
        timers.after(HOUR).run(move |_| drop(held_too)).unwrap();
        drop(service);
        assert_eq!(Arc::strong_count(&witness), 1);
        assert!(timers.is_stopped() && timers.is_empty());
    });
}

/// Two runs of a group with one place, on two workers: when one ends, the other begins, and they
/// never overlap.
#[test]
fn of_a_group_with_one_place_one_run_begins_when_the_other_ends() {
    check_service(2, 2, |service, timers| {
        let (group, running) = (Group::new(1), Arc::new(AtomicUsize::new(0)));
        let runs = [(); 2].map(|()| {
            let ((counts, ran), running) = (counted(), Arc::clone(&running));
            let job = move |run: &Run<'_>| {
                assert_eq!(running.fetch_add(1, Ordering::SeqCst), 0);
                // Lets the other thread check here.
                loom::thread::yield_now();
                counts(run);
                running.fetch_sub(1, Ordering::SeqCst);
            };
            drop(timers.after(Duration::ZERO).group(&group).run(job).unwrap());
            ran
        });
        let stopped = service.stop(Stop::Wait);
        let [first, second] = runs.map(|ran| ran());
        assert_eq!(first + second + stopped.jobs.len(), 2);
        all_over(&timers, &stopped);
        assert_eq!((group.running(), group.waiting()), (0, 0));
    });
}

/// One thread is in a run of the group when the other finds that the service has ended. The run
/// that waits for the place is then dropped, and does not stay in the queue of the threads.
#[test]
fn dropping_joins_all_threads_while_a_run_waits_in_its_group() {
    check_service(1, 2, |service, timers| {
        let (group, begun, held) = (Group::new(1), Parker::new(), Parker::new());
        let (begins, release) = (begun.unparker().clone(), held.unparker().clone());
        let first = move |_: &Run<'_>| {
            begins.unpark();
            held.park();
        };
        timers.after(Duration::ZERO).group(&group).run(first).unwrap();
        timers.after(Duration::ZERO).group(&group).run(|_| ()).unwrap();
        begun.park();
        release.unpark();
        drop(service);
        assert_eq!((timers.len(), timers.snapshot().in_flight), (0, 0));
        assert_eq!((group.running(), group.waiting()), (0, 0));
    });
}

/// Due jobs run before a drain is over, and the end of the last one ends the drain.
#[test]
fn a_drain_hears_of_the_end_of_the_last_job() {
    check_service(2, 1, |service, timers| {
        let (first, first_ran) = due_at_once(&timers);
        let (second, second_ran) = due_at_once(&timers);
        let stopped = service.stop(Stop::Drain(HOUR));
        assert_eq!((first_ran(), second_ran(), stopped.jobs.len()), (1, 1, 0));
        assert_eq!([first.status(), second.status()], [Status::Finished; 2]);
        all_over(&timers, &stopped);
    });
}

/// An async run on an executor with its own thread, which polls it or drops it: the stop waits for
/// it, and is notified of its end.
#[test]
fn a_future_runs_or_comes_back_wherever_it_is_polled() {
    for polls in [true, false] {
        check(2, move || future_runs_or_comes_back(polls));
    }
}

fn future_runs_or_comes_back(polls: bool) {
    let (sender, runs) = channel::<Option<AsyncRun>>();
    let end = sender.clone();
    let builder = Service::builder().workers(1).shards(1).clock(ManualClock::new());
    let service = builder.spawn_on(move |run| drop(sender.send(Some(run)))).start().unwrap();
    let executor = thread::spawn(move || {
        while let Ok(Some(run)) = runs.recv() {
            if polls { carry_out(run) } else { drop(run) }
        }
    });
    let timers = service.handle();
    let (job, ran) = counted();
    let plan = timers.after(Duration::ZERO).named("job");
    let job = plan.run_async(|run: &Run<'_>| ready(job(run))).unwrap();
    let stopped = service.stop(Stop::Wait);
    if polls {
        ran_or_came_back(&stopped, &job, ran());
        all_over(&timers, &stopped);
    }
    let snapshot = timers.snapshot();
    let ends = ran() + stopped.jobs.len() + snapshot.counts.abandoned as usize;
    assert_eq!((ends, snapshot.in_flight, snapshot.jobs), (1, 0, 0));
    drop(end.send(None));
    executor.join().unwrap();
}
