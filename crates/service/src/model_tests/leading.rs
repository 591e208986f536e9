//! Tests of the lead in every order: leading, standing by, and taking over. In a model the patience
//! is over whenever the standby checks, so the lead is taken at each possible point. If a thread
//! sleeps while something is due, loom reports a deadlock.

use super::stopping::all_over;
use super::{check, check_service, counted};
use crate::drive::{Member, Pool, Role};
use crate::sync::{AtomicBool, Parker};
use crate::{Group, Handle, Run, Service, Stop};
use loom::thread;
use std::future::poll_fn;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::Duration;

/// Runs the threads of a pool without jobs: the lead alone. Each has a member, its number, and its
/// parker.
fn pool_of<const N: usize>(body: impl Fn(&Pool, &Member, usize, &Parker) + Send + Sync + 'static) {
    let (body, parkers) = (Arc::new(body), [(); N].map(|()| Parker::new()));
    let pool = Arc::new(Pool::new(&parkers, 0, &Arc::default()));
    let threads = (0..).zip(parkers).map(|(me, parker)| {
        let (pool, body) = (Arc::clone(&pool), Arc::clone(&body));
        thread::spawn(move || body(&pool, &Member::new(&pool, me, true), me, &parker))
    });
    let threads: Vec<_> = threads.collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// Between two runs a thread stays the leader, and no other leads. A thread that still leads after
/// its run ends the pool.
#[test]
fn between_two_runs_one_thread_leads() {
    check(3, || {
        let between = AtomicBool::new(false);
        pool_of::<2>(move |pool, member, _, parker| {
            while !pool.is_over() {
                match member.role() {
                    Role::Lead => {
                        member.lead();
                        assert!(!between.swap(true, Ordering::SeqCst), "two threads lead");
                        between.store(false, Ordering::SeqCst);
                        member.begin(0, Duration::ZERO, false);
                        member.ended(Duration::ZERO);
                        if member.leads() { pool.end() } else { member.come_back(0) }
                    }
                    Role::StandBy => member.stand_by(parker, || pool.is_over(), || None, || 0),
                    Role::Idle => parker.park(),
                }
            }
        });
    });
}

/// The next standby takes the lead from a thread that has just taken it.
#[test]
fn a_third_thread_leads_while_two_are_in_runs() {
    check(2, || {
        let third_leads = [(); 2].map(|()| Parker::new());
        pool_of::<3>(move |_, member, me, parker| {
            while member.role() != Role::Lead {
                match member.role() {
                    Role::StandBy => member.stand_by(parker, || false, || None, || 0),
                    _ => parker.park(),
                }
            }
            member.lead();
            member.begin(0, Duration::ZERO, false);
            match me {
                2 => third_leads.iter().for_each(|waits| waits.unparker().unpark()),
                _ => third_leads[me].park(),
            }
            member.ended(Duration::ZERO);
        });
    });
}

/// Drains the service: all jobs finish, and nothing is left.
fn drain(service: Service, timers: &Handle) {
    let stopped = service.stop(Stop::Drain(Duration::MAX));
    all_over(timers, &stopped);
    let counts = timers.snapshot().counts;
    assert_eq!(counts.finished, counts.scheduled);
}

/// A job waits for another job, which must run on another thread. That thread has taken the lead,
/// or was given it if the first job is declared as blocking.
#[test]
fn a_job_that_waits_for_another_gets_it() {
    for blocks in [false, true] {
        check_service(1, 2, move |service, timers| {
            let waits = Parker::new();
            let runs = waits.unparker().clone();
            let plan = timers.after(Duration::ZERO);
            let plan = if blocks { plan.blocking() } else { plan };
            plan.run(move |_| waits.park()).unwrap();
            timers.after(Duration::ZERO).run(move |_| runs.unpark()).unwrap();
            drain(service, &timers);
        });
    }
}

/// The same with a job that another thread schedules while the lead changes.
#[test]
fn a_job_that_is_scheduled_while_the_leader_is_stuck_runs() {
    check_service(1, 2, |service, timers| {
        let waits = Parker::new();
        let (runs, its) = (waits.unparker().clone(), timers.clone());
        timers.after(Duration::ZERO).run(move |_| waits.park()).unwrap();
        let schedule = move || drop(its.after(Duration::ZERO).run(move |_| runs.unpark()).unwrap());
        thread::spawn(schedule).join().unwrap();
        drain(service, &timers);
    });
}

/// The lead is never taken while a value is sent.
#[test]
fn values_come_in_order_whoever_leads() {
    check_service(1, 2, |service, timers| {
        let (job, _) = counted();
        let (sender, values) = crossbeam_channel::unbounded();
        timers.after(Duration::ZERO).run(job).unwrap();
        timers.after(Duration::ZERO).send(&sender, 1).unwrap();
        timers.after(Duration::ZERO).send(&sender, 2).unwrap();
        drain(service, &timers);
        assert_eq!(values.try_iter().collect::<Vec<_>>(), [1, 2]);
    });
}

/// Schedules a future that is due at once. Returns a function that makes it ready and wakes it.
fn future(timers: &Handle) -> impl FnOnce() + Send + use<> {
    let shared = Arc::new(Mutex::new((false, None::<Waker>)));
    let its = Arc::clone(&shared);
    let future = move |_: &Run<'_>| {
        poll_fn(move |context| {
            let mut shared = its.lock().unwrap();
            shared.1 = Some(context.waker().clone());
            if shared.0 { Poll::Ready(()) } else { Poll::Pending }
        })
    };
    timers.after(Duration::ZERO).run_async(future).unwrap();
    move || {
        let mut shared = shared.lock().unwrap();
        shared.0 = true;
        let waker = shared.1.take();
        drop(shared);
        waker.into_iter().for_each(Waker::wake);
    }
}

/// Another thread wakes a future while the leader goes to sleep.
#[test]
fn a_future_that_is_woken_is_polled() {
    check_service(2, 1, |service, timers| {
        let waker = thread::spawn(future(&timers));
        drain(service, &timers);
        waker.join().unwrap();
    });
}

/// A future may outlive the stop. The thread that polls it last wakes the others, which wait for
/// its end.
#[test]
fn all_threads_end_when_the_last_future_ends() {
    check_service(2, 2, |service, timers| {
        let wake = future(&timers);
        drop(service.stop(Stop::Now));
        wake();
    });
}

/// When an async run ends at its first poll, the next run of its group begins.
#[test]
fn of_a_group_the_next_run_begins_where_a_future_ends() {
    check_service(2, 1, |service, timers| {
        let ((job, ran), group) = (counted(), Group::new(1));
        let plan = timers.after(Duration::ZERO).group(&group);
        plan.run_async(|_| std::future::ready(())).unwrap();
        timers.after(Duration::ZERO).group(&group).run(job).unwrap();
        drain(service, &timers);
        assert_eq!((ran(), group.running(), group.waiting()), (1, 0, 0));
    });
}
