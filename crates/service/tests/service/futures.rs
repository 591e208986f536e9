//! Futures: polled by hand on a manual clock, which makes each step visible.

use crate::common::{HOUR, Rig, at, await_here, ms, poll, returns};
use futures_core::Stream;
use std::future::{pending, ready};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;
use wheelhouse_service::future::{DelayQueue, Sleep, TimeoutError};
use wheelhouse_service::{ChangeError, Missed, Reason, Service, Stop};

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
    let ready = Poll::Ready(Ok(()));
    assert_eq!([(); 2].map(|()| task.poll(sleep.as_mut())), [ready; 2]);
    // It is reset, before it is ready and afterwards.
    sleep.reset(ms(5));
    assert!(task.poll(sleep.as_mut()).is_pending());
    sleep.reset(ms(8));
    rig.play(12);
    assert_eq!((task.woken(), task.poll(sleep.as_mut())), (0, Poll::Pending));
    rig.play(13);
    assert_eq!((task.woken(), task.poll(sleep.as_mut())), (1, ready));
}

#[test]
fn a_sleep_that_is_dropped_is_cancelled_and_wakes_nobody() {
    let (mut rig, task) = (Rig::new(), Task::default());
    let mut sleep = Box::pin(rig.timers.sleep(ms(5)));
    assert_eq!(task.poll(sleep.as_mut()), Poll::Pending);
    drop(sleep);
    assert_eq!((rig.timers.len(), rig.timers.snapshot().counts.cancelled), (0, 1));
    assert_eq!((rig.play(10), task.woken()), (0, 0));
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
    let service = Service::builder().max_jobs(1).tick(Duration::from_micros(100)).start().unwrap();
    let timers = service.handle();
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
