//! Groups of jobs of which at most N runs are in progress at once.

use crate::common::{
    Log, PATIENCE, Rig, at, at_once, carry_out, ms, poll, start_workers, wait_until,
};
use std::future::{pending, ready};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use wheelhouse_service::{AsyncRun, EventKind, Group, Run, Status, Stop};

#[test]
fn no_more_runs_go_on_at_once_and_all_have_their_turn() {
    for workers in [1, 2] {
        let (service, timers) = start_workers(workers);
        let (group, now) = (Group::new(2), Arc::new(AtomicUsize::new(0)));
        let counted = || {
            let now = Arc::clone(&now);
            move |_: &Run<'_>| {
                assert!(now.fetch_add(1, Ordering::SeqCst) < 2, "too many at once");
                thread::sleep(ms(1));
                now.fetch_sub(1, Ordering::SeqCst);
            }
        };
        for _ in 0..20 {
            timers.after(ms(1)).group(&group).run(counted()).unwrap();
        }
        let periodic = timers.every(ms(1)).times(10).group(&group).run(counted()).unwrap();
        let stopped = service.stop(Stop::Drain(PATIENCE));
        let counts = timers.snapshot().counts;
        assert_eq!((stopped.jobs.len(), counts.runs, counts.panicked), (0, 30, 0));
        // A thread frees the place of its run a moment after the end of the run.
        wait_until(|| group.running() == 0);
        assert_eq!((group.waiting(), periodic.status()), (0, Status::Finished));
    }
}

#[test]
fn who_waits_can_be_cancelled_and_moved_and_comes_in_order_however_a_run_ends() {
    let ((mut rig, held, events), log) = (Rig::with_kept_futures(), Log::default());
    let group = Group::new(1);
    let job = |n: u64| {
        let log = log.clone();
        let run = move |_: &Run<'_>| {
            log.push(n);
            assert!(n != 1, "it breaks");
        };
        rig.timers.after(ms(n)).group(&group).run_async(at_once(run)).unwrap()
    };
    let jobs = [1, 2, 3, 4, 5, 6].map(job);
    rig.play(10);
    assert_eq!((group.running(), group.waiting()), (1, 5));
    drop(jobs[1].cancel().unwrap());
    jobs[2].refresh(ms(10)).unwrap();
    // One after the other, including runs whose turn is over, and one that is dropped.
    for n in 1..=6 {
        let run = held.one();
        if n == 5 { drop(run) } else { carry_out(run) }
    }
    assert_eq!((log.take(), group.running(), group.waiting()), (vec![1, 4, 6], 0, 0));
    assert!(matches!(&events.kinds()[..], [EventKind::Panicked(_), EventKind::Abandoned]));
    rig.play(20);
    carry_out(held.one());
    assert_eq!((log.take(), rig.timers.len()), (vec![3], 0));
    assert_eq!(rig.timers.snapshot().in_flight, 0);
}

#[test]
fn an_async_run_has_its_place_until_its_future_is_ready_or_dropped() {
    let (mut rig, runs, _) = Rig::with_kept_futures();
    let group = Group::new(1);
    for n in 1..=3 {
        drop(rig.timers.after(ms(n)).group(&group).run_async(|_| pending()).unwrap());
    }
    let (log, times) = (Log::default(), 4);
    drop(rig.timers.after(ms(times)).group(&group).run(log.times()).unwrap());
    rig.play(10);
    for waiting in [3, 2, 1] {
        let mut run = runs.one();
        assert!(poll(&mut run).is_pending());
        assert_eq!((group.running(), group.waiting(), log.len()), (1, waiting, 0));
    }
    rig.scheduler.poll(at(10));
    assert_eq!((group.running(), group.waiting(), log.take()), (0, 0, vec![10]));
    assert_eq!((rig.timers.len(), rig.timers.snapshot().in_flight), (0, 0));
}

#[test]
fn many_that_wait_take_no_stack() {
    let (mut rig, kept, _) = Rig::with_kept_futures();
    let group = Group::new(1);
    drop(rig.timers.after(ms(0)).group(&group).run_async(|_| pending()).unwrap());
    (0..100_000).for_each(|_| drop(rig.timers.after(ms(1)).group(&group).run(|_| ()).unwrap()));
    rig.play(10);
    assert_eq!(group.waiting(), 100_000);
    kept.take().clear();
    rig.scheduler.poll(at(10));
    assert_eq!((group.waiting(), rig.timers.len()), (0, 0));
}

#[test]
fn a_group_is_one_for_several_services() {
    let [(mut one, held, _), (mut two, held_too, _)] = [(); 2].map(|()| Rig::with_kept_futures());
    let group = Group::new(0);
    one.timers.after(ms(1)).group(&group).run_async(|_| ready(())).unwrap();
    two.timers.after(ms(1)).group(&group.clone()).run_async(|_| ready(())).unwrap();
    one.play(1);
    two.play(1);
    let take = |runs: Vec<AsyncRun>| runs.into_iter().map(carry_out).count();
    assert_eq!([take(held_too.take()), take(held.take()), take(held_too.take())], [0, 1, 1]);
}
