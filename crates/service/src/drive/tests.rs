use super::*;
use crate::{Clock, ManualClock};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The steps of a thread from its wake-up to its next sleep.
fn wake_and_sleep(driver: &Driver) {
    driver.timers.shards().signal.awake();
    while driver.portion().is_some() {}
    driver.next_wakeup();
}

/// The leader may take out what is due between two portions.
#[test]
fn the_jobs_that_came_due_first_are_resumed_first() {
    let clock = ManualClock::new();
    let mut scheduler = Scheduler::builder().clock(clock.clone()).build().unwrap();
    let (timers, (sender, sent)) = (scheduler.handle(), crossbeam_channel::unbounded());
    for n in 0..1_000 {
        timers.after(Duration::from_millis(n)).send(&sender, n).unwrap();
    }
    timers.pause();
    clock.advance(Duration::from_secs(1));
    scheduler.poll(clock.now());
    timers.shards().set_paused(false);
    assert!(timers.shards().with(0, |state| state.resume_deferred(clock.now())), "more are left");
    scheduler.poll(clock.now());
    assert!(sent.try_iter().eq(0..64));
    timers.resume();
    scheduler.poll(clock.now());
    assert!(sent.try_iter().eq(64..1_000));
}

#[test]
fn timeouts_that_are_set_and_cancelled_in_turn_wake_the_driver_once() {
    let (minute, woken) = (Duration::from_secs(60), Arc::new(AtomicUsize::new(0)));
    let clock = ManualClock::new();
    let mut scheduler = Scheduler::builder().clock(clock.clone()).build().unwrap();
    let count = Arc::clone(&woken);
    scheduler.set_waker(Arc::new(move || {
        count.fetch_add(1, Ordering::Relaxed);
    }));
    let timers = scheduler.handle();
    timers.after(60 * minute).run(|_| ()).unwrap();
    wake_and_sleep(scheduler.driver());
    for _ in 0..100 {
        clock.advance(Duration::from_millis(100));
        let request = timers.after(minute).run(|_| ()).unwrap();
        wake_and_sleep(scheduler.driver());
        drop(request.cancel().unwrap());
        wake_and_sleep(scheduler.driver());
    }
    assert_eq!(woken.load(Ordering::Relaxed), 1);
    clock.advance(minute);
    assert_eq!(scheduler.poll(clock.now()), 0, "it wakes up for the first once");
    let next = scheduler.driver().next_wakeup().map(|next| next.saturating_since(clock.now()));
    assert!(next.is_some_and(|next| next > 50 * minute), "{next:?}");
}
