//! Futures: polled by hand on a manual clock, which makes each step visible; under tokio; and on a
//! minimal executor.

use crate::common::{HOUR, Rig, at, ms, returns};
use futures_core::Stream;
use std::future::{pending, ready};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;
use wheelhouse_service::future::{DelayQueue, Sleep, TimeoutError};
use wheelhouse_service::{ChangeError, Missed, Reason, Run, Service, Stop};

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

/// An executor.
fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let (waker, mut future) = (Waker::from(Arc::new(Unpark(thread::current()))), pin!(future));
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park_timeout(Duration::from_secs(60)),
        }
    }
}

#[test]
fn a_sleep_is_ready_at_its_time_and_wakes_its_task_once() {
    let (mut rig, task) = (Rig::new(), Task::default());
    let mut sleep = pin!(rig.timers.sleep(Duration::from_micros(4_500)));
    assert_eq!(
        (sleep.deadline(), rig.timers.len()),
        (Some(at(0).saturating_add(Duration::from_micros(4_500))), 0)
    );
    assert_eq!(task.poll(sleep.as_mut()), Poll::Pending);
    assert_eq!(task.poll(sleep.as_mut()), Poll::Pending);
    rig.play(4);
    assert_eq!((task.woken(), rig.timers.len()), (0, 1));
    rig.play(5);
    assert_eq!((task.woken(), rig.timers.len()), (1, 0));
    assert_eq!(task.poll(sleep.as_mut()), Poll::Ready(Ok(())));
    assert_eq!(task.poll(sleep.as_mut()), Poll::Ready(Ok(())));
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

#[test]
fn a_sleep_is_reset_before_and_after_it_is_ready() {
    let (mut rig, task) = (Rig::new(), Task::default());
    let mut sleep = pin!(rig.timers.sleep(ms(5)));
    assert_eq!(task.poll(sleep.as_mut()), Poll::Pending);
    sleep.reset(ms(8));
    rig.play(7);
    assert_eq!((task.woken(), task.poll(sleep.as_mut())), (0, Poll::Pending));
    rig.play(8);
    assert_eq!((task.woken(), task.poll(sleep.as_mut())), (1, Poll::Ready(Ok(()))));
    sleep.reset(ms(2));
    assert_eq!(task.poll(sleep.as_mut()), Poll::Pending);
    rig.play(10);
    assert_eq!((task.woken(), task.poll(sleep.as_mut())), (1, Poll::Ready(Ok(()))));
}

#[test]
fn it_is_the_last_task_that_polled_which_is_woken() {
    let (mut rig, first, second) = (Rig::new(), Task::default(), Task::default());
    let mut sleep = pin!(rig.timers.sleep(ms(5)));
    assert!(first.poll(sleep.as_mut()).is_pending() && second.poll(sleep.as_mut()).is_pending());
    rig.play(5);
    assert_eq!((first.woken(), second.woken()), (0, 1));
}

/// A waker owns a sleep, and another sleep stores that waker. Replacing the waker drops the first
/// sleep, which takes the lock of the shard.
#[test]
fn a_task_that_goes_with_its_waker_may_hold_another_sleep() {
    struct Owner(
        #[expect(dead_code, reason = "dropped with it")] std::sync::Mutex<Option<Pin<Box<Sleep>>>>,
    );
    impl Wake for Owner {
        fn wake(self: Arc<Self>) {}
    }
    let rig = Rig::new();
    let timers = rig.timers.clone();
    returns(move || {
        let mut held = Box::pin(timers.sleep(ms(100)));
        let polled = |sleep: &mut Pin<Box<Sleep>>, waker: &Waker| {
            assert!(sleep.as_mut().poll(&mut Context::from_waker(waker)).is_pending());
        };
        polled(&mut held, Waker::noop());
        let owner = Waker::from(Arc::new(Owner(Some(held).into())));
        let mut handed_on = Box::pin(timers.sleep(ms(100)));
        polled(&mut handed_on, &owner);
        drop(owner);
        polled(&mut handed_on, Waker::noop());
        assert_eq!(timers.len(), 1);
    });
}

#[test]
fn what_cannot_be_waited_for_is_an_error_and_not_a_wait_for_ever() {
    let (rig, task) = (Rig::with(|builder| builder.max_jobs(1)), Task::default());
    assert_eq!(
        task.poll(pin!(rig.timers.sleep(Duration::MAX))),
        Poll::Ready(Err(Reason::Overflow))
    );
    let mut waits = pin!(rig.timers.sleep(ms(5)));
    assert_eq!(task.poll(waits.as_mut()), Poll::Pending);
    assert_eq!(task.poll(pin!(rig.timers.sleep(ms(5)))), Poll::Ready(Err(Reason::LimitReached(1))));
    let Rig { scheduler, timers, .. } = rig;
    drop(scheduler);
    assert_eq!((task.woken(), task.poll(waits.as_mut())), (1, Poll::Ready(Err(Reason::Stopped))));
    assert_eq!(task.poll(pin!(timers.sleep(ms(5)))), Poll::Ready(Err(Reason::Stopped)));
    let refused = timers.timeout(ms(5), pending::<()>());
    assert_eq!(task.poll(pin!(refused)), Poll::Ready(Err(TimeoutError::Refused(Reason::Stopped))));
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
    assert_eq!(
        task.poll(both.as_mut()),
        Poll::Ready(Ok(Ok(()))),
        "a future that is ready in time is not dropped"
    );
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
    assert_eq!(
        beats,
        [(10, 1, at(10), 0), (25, 2, at(20), 0), (52, 3, at(30), 0), (60, 4, at(60), 2)]
    );
    assert_eq!(task.next(&mut interval), Poll::Ready(None));
    assert!(rig.timers.is_empty());
    assert_eq!(rig.timers.every(ms(0)).interval().unwrap_err(), Reason::ZeroPeriod);
}

#[test]
fn an_interval_ends_with_the_service() {
    let (rig, task) = (Rig::new(), Task::default());
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
    assert_eq!(again.job().deadline(), Some(at(36)));
    rig.play(40);
    // Its time has come, and it was not taken yet.
    assert_eq!((again.job().deadline(), queue.len()), (None, 1));
    assert_eq!((again.remove(), again.refresh(ms(1))), over);
    assert_eq!(task.next(&mut queue), Poll::Ready(Some("again")));
}

#[test]
fn who_waits_for_a_queue_hears_when_nothing_is_left() {
    let (mut rig, task) = (Rig::new(), Task::default());
    let mut queue = DelayQueue::new(&rig.timers);
    let only = queue.insert(ms(10), "only").unwrap();
    assert!(task.next(&mut queue).is_pending());
    only.remove().unwrap();
    assert_eq!((task.woken(), task.next(&mut queue)), (1, Poll::Ready(None)));

    queue.insert(ms(10), "dropped with the queue").unwrap();
    drop(queue);
    assert!(rig.timers.is_empty());
    assert_eq!(rig.play(100), 0);

    let mut queue = DelayQueue::new(&rig.timers);
    let stranded = queue.insert(ms(10), "stranded").unwrap();
    queue.insert(ms(20), "too").unwrap();
    assert!(task.next(&mut queue).is_pending());
    let Rig { scheduler, timers, .. } = rig;
    let jobs = scheduler.stop();
    assert_eq!((jobs.len(), task.woken(), queue.len()), (0, 1, 2), "they are not jobs of the user");
    assert_eq!(
        (stranded.remove(), stranded.refresh(ms(1))),
        (Err(ChangeError::Stopped), Err(ChangeError::Stopped))
    );
    assert_eq!(task.next(&mut queue), Poll::Ready(None));
    assert_eq!(queue.into_values(), ["stranded", "too"]);
    let rejected = DelayQueue::new(&timers).insert(ms(1), "back").unwrap_err();
    assert_eq!((rejected.reason, rejected.job), (Reason::Stopped, "back"));
}

#[test]
fn all_values_come_out_of_a_queue_that_is_given_up() {
    let mut rig = Rig::new();
    let queue = DelayQueue::new(&rig.timers);
    for (delay, value) in [(30, "c"), (1, "a"), (2, "b"), (20, "d")] {
        queue.insert(ms(delay), value).unwrap();
    }
    let cancelled = queue.insert(ms(5), "e").unwrap();
    drop(cancelled.job().cancel().unwrap());
    rig.play(2);
    assert_eq!((queue.len(), rig.timers.len()), (4, 2));
    assert_eq!(queue.into_values(), ["a", "b", "c", "d"]);
    assert!(rig.timers.is_empty());
}

/// Even while the jobs that the stop returned are not dropped.
#[test]
fn who_waits_hears_of_the_stop_before_it_returns() {
    for how in [Stop::Now, Stop::Wait] {
        let (service, task) = (Service::start().unwrap(), Task::default());
        let timers = service.handle();
        let mut sleep = Box::pin(timers.sleep(HOUR));
        let mut timeout = Box::pin(timers.timeout(HOUR, pending::<()>()));
        let kept = timers.after(HOUR).run(|_| ()).unwrap();
        assert!(task.poll(sleep.as_mut()).is_pending() && task.poll(timeout.as_mut()).is_pending());
        let stopped = service.stop(how);
        assert_eq!(task.woken(), 2);
        assert_eq!(task.poll(sleep.as_mut()), Poll::Ready(Err(Reason::Stopped)));
        assert_eq!(
            task.poll(timeout.as_mut()),
            Poll::Ready(Err(TimeoutError::Refused(Reason::Stopped)))
        );
        assert_eq!(
            stopped.jobs.iter().map(|job| job.handle().number()).collect::<Vec<_>>(),
            [kept.number()]
        );
    }
}

/// Without a notification, a job that waits for a future would wait for ever, and so would the stop
/// that waits for the job.
#[test]
fn a_job_that_waits_for_a_future_hears_of_the_stop_that_waits_for_it() {
    let service = Service::builder().workers(1).start().unwrap();
    let (timers, (begins, begun)) = (service.handle(), crossbeam_channel::bounded(1));
    let (answers, answer) = crossbeam_channel::bounded(1);
    let job = move |run: &Run<'_>| {
        let sleep = run.timers().sleep(HOUR);
        begins.send(()).unwrap();
        answers.send(block_on(sleep)).unwrap();
    };
    timers.after(ms(0)).run(job).unwrap();
    begun.recv().unwrap();
    assert_eq!(service.stop(Stop::Wait).jobs.len(), 0);
    assert_eq!(answer.recv().unwrap(), Err(Reason::Stopped));
}

/// The task that is woken may start the next wait at once.
#[test]
fn a_future_that_is_ready_no_longer_counts_for_the_limit() {
    let service = Service::builder().max_jobs(1).tick(Duration::from_micros(100)).start().unwrap();
    let timers = service.handle();
    block_on(async {
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

/// `Duration::MAX`, by which callers mean no limit.
#[test]
fn a_limit_too_far_away_to_be_named_is_none() {
    let (rig, task) = (Rig::new(), Task::default());
    let mut waits = Box::pin(rig.timers.timeout(Duration::MAX, pending::<()>()));
    assert!(task.poll(waits.as_mut()).is_pending());
    assert_eq!(task.poll(pin!(rig.timers.timeout(Duration::MAX, ready(7)))), Poll::Ready(Ok(7)));
}

/// The program that both executors run.
async fn program(service: &Service) -> Vec<&'static str> {
    let timers = service.handle();
    let before = timers.now();
    timers.sleep(ms(3)).await.unwrap();
    assert!(timers.now() >= before.saturating_add(ms(3)));
    assert_eq!(timers.timeout(ms(3), pending::<()>()).await, Err(TimeoutError::Elapsed));
    let quick = async {
        timers.sleep(ms(1)).await.unwrap();
        "answer"
    };
    assert_eq!(timers.timeout(Duration::from_secs(60), quick).await, Ok("answer"));
    let mut interval = timers.every(ms(1)).times(5).interval().unwrap();
    let mut beats = 0;
    while let Some(beat) = interval.tick().await {
        beats += 1;
        assert_eq!(beat.unwrap().number, beats);
    }
    assert_eq!(beats, 5);
    let mut queue = DelayQueue::new(&timers);
    let removed = queue.insert(Duration::from_secs(3600), "removed").unwrap();
    queue.insert(ms(40), "second").unwrap();
    queue.insert(ms(1), "first").unwrap();
    removed.remove().unwrap();
    let mut out = Vec::new();
    while let Some(value) = queue.next().await {
        out.push(value);
    }
    out
}

#[test]
fn it_works_on_any_executor() {
    let service = Service::start().unwrap();
    assert_eq!(block_on(program(&service)), ["first", "second"]);
    assert_eq!(service.stop(Stop::Wait).jobs.len(), 0);
}

#[test]
fn it_works_on_tokio() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let service = Service::builder().workers(2).start().unwrap();
    assert_eq!(runtime.block_on(program(&service)), ["first", "second"]);
    assert_eq!(service.stop(Stop::Wait).jobs.len(), 0);
}
