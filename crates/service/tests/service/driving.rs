//! When an event loop polls again and what wakes it, the order of jobs that are behind, and jobs of
//! `execute`, which are due when they are scheduled.

use crate::common::{Log, Rig, arrives, at, ms, returns, start};
use crossbeam_channel::bounded;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use wheelhouse_service::{
    Backoff, Clock, Handle, ManualClock, Missed, Moment, Reason, Run, Service, Stop,
};

/// However often it is asked, before and after a poll. A wheel alone would wake up earlier for the
/// far job, to cascade its timer.
#[test]
fn the_next_wakeup_is_that_of_the_earliest_job_rounded_up_to_the_tick() {
    let mut rig = Rig::with(|builder| builder.tick(ms(10)));
    assert_eq!(rig.scheduler.next_wakeup(), None);
    for (delay, wakeup) in [(25, 30), (300_001, 300_010)] {
        let job = rig.timers.after(ms(delay)).run(|_| ()).unwrap();
        assert_eq!([(); 3].map(|()| rig.scheduler.next_wakeup()), [Some(at(wakeup)); 3]);
        assert_eq!(rig.scheduler.poll(rig.clock.now()), 0);
        assert_eq!(rig.scheduler.next_wakeup(), Some(at(wakeup)));
        drop(job.cancel().unwrap());
        assert_eq!(rig.scheduler.next_wakeup(), None);
    }
}

/// The default slack.
#[test]
fn a_periodic_job_may_be_late_by_a_thousandth_of_its_period_and_a_millisecond_at_most() {
    let micros = Duration::from_micros;
    let wakeup = |period, own: Option<Duration>| {
        let rig = Rig::with(|builder| builder.tick(micros(50)));
        let plan = rig.timers.every(period).first_after(micros(2_020));
        let plan = own.into_iter().fold(plan, |plan, own| plan.slack(own));
        plan.run(|_| ()).unwrap();
        rig.scheduler.next_wakeup().unwrap().saturating_since(at(0))
    };
    assert_eq!(wakeup(ms(3_600_000), None), ms(3));
    assert_eq!(wakeup(ms(300), None), micros(2_100), "to a multiple of 300 us");
    assert_eq!(wakeup(ms(90), None), micros(2_050), "it is less than two ticks");
    assert_eq!(wakeup(ms(3_600_000), Some(ms(0))), micros(2_050));
    assert_eq!(wakeup(ms(3_600_000), Some(ms(5))), ms(5));
}

#[test]
fn a_loop_that_sleeps_is_woken_for_what_is_due_earlier_and_for_nothing_else() {
    let (mut rig, woken) = (Rig::new(), Log::default());
    let log = woken.clone();
    rig.scheduler.set_waker(Arc::new(move || log.push(())));
    let far = rig.timers.after(ms(100)).run(|_| ()).unwrap();
    rig.scheduler.poll(at(0));
    assert_eq!(woken.take().len(), 0, "before it announces its sleep, it need not be woken");

    assert_eq!(rig.scheduler.next_wakeup(), Some(at(100)));
    rig.timers.after(ms(100)).run(|_| ()).unwrap();
    drop(rig.timers.after(ms(200)).run(|_| ()).unwrap().cancel().unwrap());
    far.refresh(ms(300)).unwrap();
    assert_eq!(woken.take().len(), 0);
    rig.timers.after(ms(99)).run(|_| ()).unwrap();
    rig.timers.after(ms(98)).run(|_| ()).unwrap();
    assert_eq!(woken.take().len(), 1, "once for each sleep");

    rig.scheduler.poll(at(0));
    assert_eq!(rig.scheduler.next_wakeup(), Some(at(98)));
    far.refresh(ms(50)).unwrap();
    assert_eq!(woken.take().len(), 1);
    rig.scheduler.poll(at(0));
    assert_eq!(rig.scheduler.next_wakeup(), Some(at(50)));

    // Also if it has found something that is due at the origin.
    rig.timers.after(ms(0)).run(|_| ()).unwrap();
    assert_eq!(rig.scheduler.next_wakeup(), Some(at(0)));
    assert_eq!(woken.take().len(), 1);
    rig.scheduler.poll(at(0));
    assert_eq!(rig.scheduler.next_wakeup(), Some(at(50)));
    rig.timers.execute(|_| ()).unwrap();
    assert_eq!(woken.take().len(), 1);
}

/// Netty accepts 100,000 timeouts per tick, and each further part of a burst a tick or more later
/// (example E15 of the articles).
#[test]
fn a_burst_is_taken_in_at_once() {
    let mut rig = Rig::new();
    for n in 0..300_000 {
        rig.timers.after(ms(1 + n % 3)).run(|_| ()).unwrap();
    }
    assert_eq!((rig.stall(1), rig.stall(2), rig.stall(3)), (100_000, 100_000, 100_000));
    assert_eq!(rig.timers.snapshot().lateness.max, ms(0));
}

/// Each thread schedules in one shard, and each new thread in the next one.
#[test]
fn jobs_of_several_shards_run_in_the_order_of_their_deadlines() {
    let (mut rig, log) = (Rig::with(|builder| builder.shards(4)), Log::default());
    for thread in 0..8 {
        let (timers, log) = (rig.timers.clone(), log.clone());
        let schedule = move || {
            for n in 0..100 {
                let plan = timers.after(ms((n * 37 + thread * 13) % 1_000));
                plan.run(log.job(|run| run.deadline())).unwrap();
            }
        };
        std::thread::spawn(schedule).join().unwrap();
    }
    assert_eq!(rig.stall(1_000), 800);
    assert!(log.take().is_sorted());
}

#[test]
fn a_poll_with_a_moment_that_is_past_changes_nothing() {
    let (mut rig, log) = (Rig::new(), Log::default());
    rig.timers.after(ms(5)).run(log.times()).unwrap();
    rig.stall(10);
    rig.timers.after(ms(5)).run(log.times()).unwrap();
    assert_eq!((rig.scheduler.poll(at(3)), log.take()), (0, vec![10]));
    assert_eq!((rig.scheduler.poll(at(15)), rig.scheduler.next_wakeup()), (1, None));
}

/// Schedules a job that schedules the next at once.
fn again(timers: &Handle) {
    timers.after(ms(0)).run(|run| again(&run.timers())).unwrap();
}

/// The same by `execute`.
fn execute_again(timers: &Handle) {
    timers.execute(|run| execute_again(&run.timers())).unwrap();
}

#[test]
fn a_job_that_starts_itself_at_once_keeps_nobody_from_returning() {
    let retries: fn(&Handle) = |timers| {
        let plan = timers.after(ms(0)).retry(Backoff::new(Duration::ZERO));
        plan.try_run(|_| Err::<(), _>("no")).unwrap();
    };
    let future_wakes_itself: fn(&Handle) = |timers| {
        let endless = |context: &mut Context<'_>| {
            context.waker().wake_by_ref();
            Poll::<()>::Pending
        };
        drop(timers.after(ms(0)).run_async(move |_| poll_fn(endless)).unwrap());
    };
    for start in [again, execute_again, retries, future_wakes_itself] {
        let mut rig = Rig::new();
        start(&rig.timers);
        for _ in 0..3 {
            // The future is spawned, and polled once.
            assert!((1..=2).contains(&rig.scheduler.poll(at(0))));
            assert_eq!(rig.scheduler.next_wakeup(), Some(at(0)), "the next run is due");
        }
        assert!(rig.play(3) > 3);
        assert_eq!(rig.clock.now(), at(3));
        rig.scheduler.stop().clear();
        assert_eq!((rig.timers.len(), rig.timers.snapshot().in_flight), (0, 0));
    }
}

/// A job that makes up for a hundred thousand periods does not delay jobs that are due before them.
#[test]
fn what_is_scheduled_while_a_stall_is_made_up_for_is_taken_in_meanwhile() {
    let (clock, log) = (ManualClock::new(), Log::default());
    let (_service, timers) = start(Service::builder().workers(1).clock(clock.clone()));
    let (sender, seen) = bounded(1);
    let inner = timers.clone();
    let runs = log.clone();
    let burst = move |run: &Run<'_>| {
        runs.push(run.number());
        if run.number() == 10 {
            let (sender, runs) = (sender.clone(), runs.clone());
            inner.at(Moment::ORIGIN).run(move |_| sender.send(runs.len()).unwrap()).unwrap();
        }
    };
    timers.every(ms(1)).missed(Missed::Burst).times(100_000).run(burst).unwrap();
    clock.advance(Duration::from_secs(100));
    let seen = arrives(&seen);
    assert!((10..1_000).contains(&seen), "after {seen} runs");
}

/// The number of runs of a job each 10 ms, on the same thread as a job with a period of 50 us whose
/// 300 runs take 2 ms each.
fn runs_beside_overload(missed: Missed) -> u64 {
    let (clock, (sender, over)) = (ManualClock::new(), bounded(1));
    let (service, timers) = start(Service::builder().workers(1).clock(clock.clone()));
    let other = timers.every(ms(10)).run(|_| ()).unwrap();
    let time = clock.clone();
    let slow = move |run: &Run<'_>| {
        time.advance(ms(2));
        if run.is_last() {
            sender.send(time.now()).unwrap();
        }
    };
    let plan = timers.every(Duration::from_micros(50)).missed(missed).times(300);
    plan.run(slow).unwrap();
    clock.advance(Duration::from_micros(50));
    assert_eq!(arrives(&over), Moment::from_nanos(600_050_000));
    drop(service.stop(Stop::Wait));
    other.runs()
}

#[test]
fn a_periodic_job_in_overload_starves_no_other_job() {
    for missed in [Missed::Once, Missed::Burst, Missed::Skip, Missed::Delay] {
        let runs = runs_beside_overload(missed);
        assert!((58..=60).contains(&runs), "{missed:?}: {runs} runs in 600 ms");
    }
}

/// Fault: the waker was called with the lock of a key.
#[test]
fn a_waker_may_ask_the_service() {
    let mut rig = Rig::new();
    let timers = rig.timers.clone();
    let log = Log::default();
    let keys = log.clone();
    rig.scheduler.set_waker(Arc::new(move || keys.push(timers.snapshot().keys)));
    assert_eq!(rig.scheduler.next_wakeup(), None);
    let timers = rig.timers;
    returns(move || drop(timers.after(ms(1)).key("key").run(|_| ()).unwrap()));
    assert_eq!(log.take(), [1]);
}

/// Jobs run at the moment of the call and in order, whatever the tick.
#[test]
fn what_is_handed_over_waits_for_no_tick() {
    let (mut rig, log) = (Rig::with(|builder| builder.tick(ms(1_000))), Log::default());
    rig.stall(2_300);
    for name in ["first", "second"] {
        rig.timers.execute(log.named(name)).unwrap();
    }
    assert_eq!(rig.scheduler.next_wakeup(), Some(at(2_000)));
    assert_eq!(rig.scheduler.poll(at(2_300)), 2);
    assert_eq!(log.take(), [(2_300, "first"), (2_300, "second")]);
    assert_eq!((rig.timers.len(), rig.scheduler.next_wakeup()), (0, None));
    let snapshot = rig.timers.snapshot();
    assert_eq!((snapshot.counts.runs, snapshot.counts.finished, snapshot.in_flight), (2, 2, 0));
}

#[test]
fn a_stop_returns_what_has_not_begun() {
    for paused in [false, true] {
        let mut rig = Rig::new();
        if paused {
            rig.timers.pause();
        }
        rig.timers.execute(|_| unreachable!("it is stopped before")).unwrap();
        rig.timers.execute_async(|_| async { unreachable!("it is stopped before") }).unwrap();
        if paused {
            rig.play(10);
        }
        let timers = rig.timers;
        assert_eq!((rig.scheduler.stop().len(), timers.len()), (2, 0), "paused: {paused}");
        assert_eq!(timers.snapshot().counts.abandoned, 0, "paused: {paused}");
        assert_eq!(timers.execute(|_| ()).unwrap_err().reason, Reason::Stopped);
    }
}
