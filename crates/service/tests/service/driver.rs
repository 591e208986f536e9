//! Brief work of the leader, and work between runs.

use crate::common::{Log, arrives, await_here, ms, returns};
use crossbeam_channel::bounded;
use std::time::Duration;
use wheelhouse_service::future::DelayQueue;
use wheelhouse_service::{Clock, ManualClock, Missed, Moment, Run, Service, Stop};

#[test]
fn values_come_out_of_a_delay_queue_in_order_whatever_the_workers() {
    let clock = ManualClock::new();
    let service = Service::builder().clock(clock.clone()).workers(4).start().unwrap();
    let mut queue = DelayQueue::new(&service.handle());
    for n in 0..10_000_u64 {
        let delay = n * 7919 % 10_000;
        queue.insert(ms(delay), delay).unwrap();
    }
    clock.advance(Duration::from_secs(10));
    returns(move || {
        await_here(async {
            for n in 0..10_000 {
                assert_eq!(queue.next().await, Some(n));
            }
        });
    });
}

/// A job that makes up for a hundred thousand periods does not delay jobs that are due before them.
#[test]
fn what_is_scheduled_while_a_stall_is_made_up_for_is_taken_in_meanwhile() {
    let clock = ManualClock::new();
    let service = Service::builder().workers(1).clock(clock.clone()).start().unwrap();
    let (timers, log) = (service.handle(), Log::default());
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
fn runs_beside_overload(missed: Missed, overlapping: bool) -> u64 {
    let clock = ManualClock::new();
    let service = Service::builder().workers(1).clock(clock.clone()).start().unwrap();
    let (timers, (sender, over)) = (service.handle(), bounded(1));
    let other = timers.every(ms(10)).run(|_| ()).unwrap();
    let time = clock.clone();
    let slow = move |run: &Run<'_>| {
        time.advance(ms(2));
        if run.is_last() {
            sender.send(time.now()).unwrap();
        }
    };
    let plan = timers.every(Duration::from_micros(50)).missed(missed).times(300);
    if overlapping { plan.run_overlapping(slow) } else { plan.run(slow) }.unwrap();
    clock.advance(Duration::from_micros(50));
    assert_eq!(arrives(&over), Moment::from_nanos(600_050_000));
    drop(service.stop(Stop::Wait));
    other.runs()
}

#[test]
fn a_periodic_job_in_overload_starves_no_other_job() {
    for missed in [Missed::Once, Missed::Burst, Missed::Skip, Missed::Delay] {
        for overlapping in [false, true] {
            let runs = runs_beside_overload(missed, overlapping);
            assert!((58..=60).contains(&runs), "{missed:?}, {overlapping}: {runs} runs in 600 ms");
        }
    }
}
