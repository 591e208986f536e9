//! Futures: polled by hand on a manual clock, which makes each step visible.

use crate::common::{HOUR, Rig, arrives, at, await_here, ms, poll, returns, start, start_workers};
use crossbeam_channel::unbounded;
use futures_core::Stream;
use std::cell::Cell;
use std::future::{pending, ready};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;
use wheelhouse_service::future::{DelayQueue, Delayed, Sleep, TimeoutError};
use wheelhouse_service::{ChangeError, Clock, Missed, Reason, Run, Service, Stop};

const READY: Poll<Result<(), Reason>> = Poll::Ready(Ok(()));

/// Counts how often a task was woken.
#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// A task that a test polls.
#[derive(Default)]
struct Task(Arc<Woken>);

impl Task {
    fn poll<F: Future>(&self, future: Pin<&mut F>) -> Poll<F::Output> {
        future.poll(&mut Context::from_waker(&Waker::from(Arc::clone(&self.0))))
    }

    fn next<S: Stream + Unpin>(&self, stream: &mut S) -> Poll<Option<S::Item>> {
        Pin::new(stream).poll_next(&mut Context::from_waker(&Waker::from(Arc::clone(&self.0))))
    }

    /// How often it was woken since the last call.
    fn woken(&self) -> usize {
        self.0.0.swap(0, Ordering::SeqCst)
    }
}

#[test]
fn a_sleep_is_ready_at_its_time_and_wakes_the_task_that_polled_last_once() {
    let (mut rig, first, task) = (Rig::new(), Task::default(), Task::default());
    let micros = Duration::from_micros(4_500);
    let mut sleep = pin!(rig.timers.sleep(micros));
    assert_eq!((sleep.deadline(), rig.timers.len()), (Some(at(0).saturating_add(micros)), 0));
    assert!(first.poll(sleep.as_mut()).is_pending() && task.poll(sleep.as_mut()).is_pending());
    rig.play(4);
    assert_eq!((task.woken(), rig.timers.len()), (0, 1));
    rig.play(5);
    assert_eq!((first.woken(), task.woken(), rig.timers.len()), (0, 1, 0));
    assert_eq!([(); 2].map(|()| task.poll(sleep.as_mut())), [READY; 2]);
    // It is reset, before it is ready and afterwards.
    sleep.reset(ms(5));
    assert!(task.poll(sleep.as_mut()).is_pending());
    sleep.reset(ms(8));
    rig.play(12);
    assert_eq!((task.woken(), task.poll(sleep.as_mut())), (0, Poll::Pending));
    rig.play(13);
    assert_eq!((task.woken(), task.poll(sleep.as_mut())), (1, READY));
}

/// Moments that have passed are due at once: when the service has polled, and not at the first poll
/// of the future.
#[test]
fn what_waits_for_a_moment_is_ready_then_or_at_once() {
    let (mut rig, task) = (Rig::new(), Task::default());
    rig.play(10);
    let [mut future, mut past] = [15, 5].map(|time| Box::pin(rig.timers.sleep_until(at(time))));
    let left = at(5).saturating_since(rig.timers.now());
    let mut timeout = pin!(rig.timers.timeout(left, pending::<()>()));
    let every = rig.timers.every(ms(10));
    let mut interval = every.first_at(at(5)).missed(Missed::Burst).interval().unwrap();
    assert!(task.poll(past.as_mut()).is_pending() && task.poll(future.as_mut()).is_pending());
    assert!(task.poll(timeout.as_mut()).is_pending() && task.next(&mut interval).is_pending());
    rig.play(10);
    assert_eq!((task.poll(past.as_mut()), task.poll(future.as_mut())), (READY, Poll::Pending));
    assert_eq!(task.poll(timeout.as_mut()), Poll::Ready(Err(TimeoutError::Elapsed)));
    let mut beats = Vec::new();
    for now in 10..=30 {
        rig.play(now);
        while let Poll::Ready(Some(Ok(beat))) = task.next(&mut interval) {
            beats.push((now, beat.deadline));
        }
        assert_eq!(task.poll(future.as_mut()).is_ready(), now >= 15);
    }
    assert_eq!(beats, [(10, at(5)), (15, at(15)), (25, at(25))]);
    // A beat is late from a tick on, whatever the slack.
    let plan = rig.timers.every(ms(10)).missed(Missed::Delay).slack(ms(50));
    let mut interval = plan.first_at(at(31)).interval().unwrap();
    assert!(task.next(&mut interval).is_pending());
    rig.play(34);
    let mut beat = || match task.next(&mut interval) {
        Poll::Ready(Some(Ok(beat))) => Some(beat.deadline),
        _ => None,
    };
    assert_eq!((beat(), beat()), (Some(at(31)), None));
    rig.play(44);
    assert_eq!(beat(), Some(at(44)));
    let refused = |period| rig.timers.every(period).interval().err();
    assert_eq!(refused(ms(0)), Some(Reason::ZeroPeriod));
    assert_eq!(refused(Duration::from_micros(999)), Some(Reason::PeriodBelowTick(ms(1))));
}

/// Fault: the first beat came early if the wall clock was set back, and late if it was set forward.
#[test]
fn the_first_beat_of_an_interval_follows_the_wall_clock() {
    let minute = Duration::from_secs(60);
    for set_back in [true, false] {
        let mut rig = Rig::new();
        let first = rig.clock.wall() + 10 * minute;
        let mut interval = rig.timers.every(HOUR).first_at(first).interval().unwrap();
        let task = Task::default();
        assert!(task.next(&mut interval).is_pending());
        rig.clock.set_wall(if set_back { first - 20 * minute } else { first - minute / 2 });
        let mut minutes = 0;
        let beat = loop {
            match task.next(&mut interval) {
                Poll::Ready(beat) => break beat.unwrap().unwrap(),
                Poll::Pending => rig.pass(minute),
            };
            minutes += 1;
        };
        assert_eq!((minutes, beat.number), (if set_back { 20 } else { 1 }, 1));
        assert!(rig.clock.wall() >= first);
        assert!(task.next(&mut interval).is_pending());
        rig.pass(HOUR);
        assert!(task.next(&mut interval).is_ready());
    }
}

/// A waker owns a sleep, and another sleep stores that waker. Replacing the waker drops the first
/// sleep, which takes the lock of the shard.
#[test]
fn a_task_that_goes_with_its_waker_may_hold_another_sleep() {
    struct Owner(#[expect(dead_code, reason = "dropped with it")] Mutex<Pin<Box<Sleep>>>);
    impl Wake for Owner {
        fn wake(self: Arc<Self>) {}
    }
    let rig = Rig::new();
    let timers = rig.timers.clone();
    returns(move || {
        let [mut held, mut handed_on] = [(); 2].map(|()| Box::pin(timers.sleep(ms(100))));
        assert!(poll(&mut held).is_pending());
        let owner = Waker::from(Arc::new(Owner(Mutex::new(held))));
        assert!(handed_on.as_mut().poll(&mut Context::from_waker(&owner)).is_pending());
        drop(owner);
        assert!(poll(&mut handed_on).is_pending());
        assert_eq!(timers.len(), 1);
    });
}

#[test]
fn what_cannot_be_waited_for_is_an_error_and_not_a_wait_for_ever() {
    let (rig, task) = (Rig::with(|builder| builder.max_jobs(1)), Task::default());
    let sleep = |time| task.poll(pin!(rig.timers.sleep(time)));
    assert_eq!(sleep(Duration::MAX), Poll::Ready(Err(Reason::Overflow)));
    let mut waits = pin!(rig.timers.sleep(ms(5)));
    assert_eq!(task.poll(waits.as_mut()), Poll::Pending);
    assert_eq!(sleep(ms(5)), Poll::Ready(Err(Reason::LimitReached(1))));
    drop(rig.scheduler);
    let stopped = Poll::Ready(Err(Reason::Stopped));
    assert_eq!((task.woken(), task.poll(waits.as_mut()), sleep(ms(5))), (1, stopped, stopped));
    let refused = task.poll(pin!(rig.timers.timeout(ms(5), pending::<()>())));
    assert_eq!(refused, Poll::Ready(Err(TimeoutError::Refused(Reason::Stopped))));
    // Not one whose limit is out of range, which callers use for no limit.
    assert_eq!(rig.timers.snapshot().counts.rejected, 3);
}

#[test]
fn a_timeout_gives_up_in_time_and_not_before() {
    let (mut rig, task) = (Rig::new(), Task::default());
    assert_eq!(task.poll(pin!(rig.timers.timeout(ms(0), ready(1)))), Poll::Ready(Ok(1)));
    assert_eq!(rig.timers.snapshot().counts.scheduled, 0);
    let mut never = pin!(rig.timers.timeout(ms(10), pending::<()>()));
    assert_eq!(task.poll(never.as_mut()), Poll::Pending);
    let inner = rig.timers.sleep(ms(10));
    let mut both = pin!(rig.timers.timeout(ms(10), inner));
    assert_eq!(task.poll(both.as_mut()), Poll::Pending);
    rig.play(9);
    assert_eq!(task.woken(), 0);
    rig.play(10);
    assert_eq!(task.poll(never.as_mut()), Poll::Ready(Err(TimeoutError::Elapsed)));
    let both = task.poll(both.as_mut());
    assert_eq!(both, Poll::Ready(Ok(Ok(()))), "a future that is ready in time is not dropped");
    // `Duration::MAX`, by which callers mean no limit.
    assert!(task.poll(pin!(rig.timers.timeout(Duration::MAX, pending::<()>()))).is_pending());
}

#[test]
fn an_interval_beats_without_drift_and_ends() {
    let (mut rig, task) = (Rig::new(), Task::default());
    let mut interval = rig.timers.every(ms(10)).missed(Missed::Skip).times(4).interval().unwrap();
    let mut beats = Vec::new();
    for now in [5, 10, 25, 52, 60, 61] {
        rig.play(now);
        while let Poll::Ready(Some(beat)) = task.next(&mut interval) {
            let beat = beat.unwrap();
            beats.push((now, beat.number, beat.deadline, beat.missed));
        }
    }
    let expected = [(10, 1, at(10), 0), (25, 2, at(20), 0), (52, 3, at(30), 0), (60, 4, at(60), 2)];
    assert_eq!((beats, task.next(&mut interval)), (expected.to_vec(), Poll::Ready(None)));
    assert!(rig.timers.is_empty());
    // It ends with the service too.
    let mut interval = rig.timers.every(ms(10)).interval().unwrap();
    assert!(task.next(&mut interval).is_pending());
    drop(rig.scheduler);
    assert_eq!(task.next(&mut interval), Poll::Ready(Some(Err(Reason::Stopped))));
    assert_eq!(task.next(&mut interval), Poll::Ready(None));
}

#[test]
fn values_come_out_of_a_delay_queue_at_their_times() {
    let (mut rig, task) = (Rig::new(), Task::default());
    let mut queue = DelayQueue::new(&rig.timers);
    assert_eq!(task.next(&mut queue), Poll::Ready(None));
    let late = queue.insert(ms(30), "late").unwrap();
    let removed = queue.insert(ms(10), "removed").unwrap();
    let refreshed = queue.insert(ms(10), "refreshed").unwrap();
    queue.insert(ms(15), "in time").unwrap();
    assert_eq!((task.next(&mut queue), queue.len()), (Poll::Pending, 4));
    assert_eq!((removed.remove(), removed.remove()), (Ok("removed"), Err(ChangeError::Over)));
    refreshed.refresh(ms(20)).unwrap();
    let mut out = Vec::new();
    for now in (0..=35).step_by(5) {
        rig.play(now);
        while let Poll::Ready(Some(value)) = task.next(&mut queue) {
            out.push((now, value));
        }
    }
    assert_eq!(out, [(15, "in time"), (20, "refreshed"), (30, "late")]);
    let over = (Err(ChangeError::Over), Err(ChangeError::Over));
    assert_eq!((late.remove(), late.refresh(ms(1))), over);
    assert_eq!(task.next(&mut queue), Poll::Ready(None));
    let again = queue.insert(ms(1), "again").unwrap();
    assert_eq!(again.deadline(), Some(at(36)));
    rig.play(40);
    // Its time has come, and it was not taken yet.
    assert_eq!((again.deadline(), queue.len()), (None, 1));
    assert_eq!((again.remove(), again.refresh(ms(1))), over);
    queue.insert(ms(500), "in time").unwrap();
    assert_eq!((queue.into_values(), rig.timers.len()), (vec!["again", "in time"], 0));
}

#[test]
fn who_waits_for_a_queue_hears_when_nothing_is_left() {
    let (mut rig, task) = (Rig::new(), Task::default());
    let mut queue = DelayQueue::new(&rig.timers);
    let only = queue.insert(ms(10), "only").unwrap();
    assert!(task.next(&mut queue).is_pending());
    only.remove().unwrap();
    assert_eq!((task.woken(), task.next(&mut queue)), (1, Poll::Ready(None)));

    // Also of a value that comes sooner, and of no other.
    let moved = queue.insert(ms(10), "moved").unwrap();
    assert!(task.next(&mut queue).is_pending());
    queue.insert(ms(20), "later").unwrap();
    assert_eq!(task.woken(), 0);
    queue.insert(ms(5), "sooner").unwrap();
    assert_eq!((task.woken(), task.next(&mut queue)), (1, Poll::Pending));
    moved.refresh(ms(1)).unwrap();
    assert_eq!((task.woken(), task.next(&mut queue)), (1, Poll::Pending));
    // The clock stands still, and the scheduler polls at a later time.
    rig.scheduler.poll(at(1));
    assert_eq!((task.woken(), task.next(&mut queue)), (1, Poll::Ready(Some("moved"))));
    drop(queue);
    assert!(rig.timers.is_empty());
    assert_eq!(rig.play(100), 0);

    let mut queue = DelayQueue::new(&rig.timers);
    let stranded = queue.insert(ms(10), "stranded").unwrap();
    queue.insert(ms(20), "too").unwrap();
    assert!(task.next(&mut queue).is_pending());
    let jobs = rig.scheduler.stop();
    assert_eq!((jobs.len(), task.woken(), queue.len()), (0, 1, 2), "they are not jobs of the user");
    assert_eq!(stranded.refresh(ms(1)), Err(ChangeError::Stopped));
    assert_eq!(task.next(&mut queue), Poll::Ready(None));
    assert_eq!(queue.into_values(), ["stranded", "too"]);
    let rejected = DelayQueue::new(&rig.timers).insert(ms(1), "back").unwrap_err();
    assert_eq!((rejected.reason, rejected.job), (Reason::Stopped, "back"));
}

#[test]
fn a_queue_wakes_the_task_that_polled_last_and_forgets_it_when_it_is_dropped() {
    let (mut rig, first, task) = (Rig::new(), Task::default(), Task::default());
    let mut queue = DelayQueue::new(&rig.timers);
    let value = Arc::new(());
    let delayed = queue.insert(ms(10), Arc::clone(&value)).unwrap();
    assert!(first.next(&mut queue).is_pending() && task.next(&mut queue).is_pending());
    queue.insert(ms(5), Arc::clone(&value)).unwrap();
    assert_eq!((first.woken(), task.woken()), (0, 1));
    assert!(first.next(&mut queue).is_pending() && task.next(&mut queue).is_pending());
    rig.play(5);
    assert_eq!((first.woken(), task.woken()), (0, 1));
    assert!(task.next(&mut queue).is_ready() && task.next(&mut queue).is_pending());
    drop(queue);
    assert_eq!((Arc::strong_count(&task.0), Arc::strong_count(&value)), (1, 1));
    let over = (None, Err(ChangeError::Over), Err(ChangeError::Over));
    assert_eq!((delayed.deadline(), delayed.refresh(ms(1)), delayed.remove()), over);
}

const _: () = {
    const fn is_send_and_sync<T: Send + Sync>() {}
    is_send_and_sync::<DelayQueue<Cell<u8>>>();
    is_send_and_sync::<Delayed<Cell<u8>>>();
};

/// One thread awaits a value that is an hour away. Another moves it to the present, or removes it.
#[test]
fn a_queue_is_awaited_on_one_thread_and_changed_on_another() {
    let (service, timers) = start_workers(3);
    let ((give, given), (sender, came)) = (unbounded(), unbounded());
    let job = move |_: &Run<'_>| async move {
        let mut queue = DelayQueue::new(&timers);
        for value in 0..200 {
            give.send(queue.insert(HOUR, value).unwrap()).unwrap();
            sender.send(queue.next().await).unwrap();
        }
    };
    service.handle().after(ms(0)).run_async(job).unwrap();
    for value in 0..200 {
        let delayed: Delayed<u32> = arrives(&given);
        // In some rounds, the other thread waits already.
        if value % 4 < 2 {
            thread::sleep(ms(1));
        }
        let expected = if value % 2 == 0 {
            delayed.refresh(ms(1)).unwrap();
            Some(value)
        } else {
            assert_eq!(delayed.remove(), Ok(value));
            None
        };
        assert_eq!(arrives(&came), expected, "{value}");
    }
}

/// Even while the jobs that the stop returned are not dropped.
#[test]
fn who_waits_hears_of_the_stop_before_it_returns() {
    for how in [Stop::Now, Stop::Wait] {
        let (service, task) = (Service::start().unwrap(), Task::default());
        let timers = service.handle();
        let mut sleep = pin!(timers.sleep(HOUR));
        let mut timeout = pin!(timers.timeout(HOUR, pending::<()>()));
        timers.after(HOUR).run(|_| ()).unwrap();
        assert!(task.poll(sleep.as_mut()).is_pending() && task.poll(timeout.as_mut()).is_pending());
        let stopped = service.stop(how);
        assert_eq!((task.woken(), stopped.jobs.len()), (2, 1), "{how:?}");
        assert_eq!(task.poll(sleep.as_mut()), Poll::Ready(Err(Reason::Stopped)));
        let refused = TimeoutError::Refused(Reason::Stopped);
        assert_eq!(task.poll(timeout.as_mut()), Poll::Ready(Err(refused)));
    }
}

/// The task that is woken may start the next wait at once.
#[test]
fn a_future_that_is_ready_no_longer_counts_for_the_limit() {
    let (_service, timers) = start(Service::builder().max_jobs(1).tick(Duration::from_micros(100)));
    await_here(async {
        for _ in 0..200 {
            timers.sleep(Duration::from_micros(50)).await.unwrap();
        }
        let mut interval = timers.every(ms(1)).times(5).interval().unwrap();
        while let Some(beat) = interval.tick().await {
            beat.unwrap();
        }
        let mut queue = DelayQueue::new(&timers);
        for value in 0..50 {
            queue.insert(Duration::from_micros(50), value).unwrap();
            assert_eq!(queue.next().await, Some(value));
        }
    });
}
