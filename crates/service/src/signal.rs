//! How handles wake a driver that sleeps, and only then.
//!
//! The driver says until when it is going to sleep, then looks at the intake once more, then sleeps. A handle puts its
//! message in the intake, then looks whether the driver sleeps. Whatever the order of these four steps, at least one of
//! the two sees the other: there is a fence between the two steps of each (the pattern of Dekker's algorithm). So no
//! message is slept over.

use crate::sync::{AtomicU64, fence};
use crate::{Moment, Waker};
use parking_lot::Mutex;
use std::sync::atomic::Ordering;

/// The driver is awake and will look at the intake before it sleeps.
const AWAKE: u64 = 0;

/// A driver that sleeps is left alone by messages that can wait, such as cancellations, until there are this many: so it wakes
/// once for a batch of them, and what they stand for does not pile up.
const BACKLOG: usize = 256;

pub(crate) struct Signal {
    /// When the driver is going to wake up by itself, in nanoseconds; `u64::MAX` is never.
    until: AtomicU64,
    waker: Mutex<Option<Waker>>,
}

impl Signal {
    pub(crate) fn new() -> Self {
        Self { until: AtomicU64::new(AWAKE), waker: Mutex::new(None) }
    }

    pub(crate) fn set_waker(&self, waker: Waker) {
        *self.waker.lock() = Some(waker);
    }

    /// The driver is going to look at the intake.
    pub(crate) fn awake(&self) {
        self.until.store(AWAKE, Ordering::SeqCst);
    }

    /// The driver is going to sleep, unless it finds something in the intake after this.
    pub(crate) fn sleep_until(&self, moment: Option<Moment>) {
        let until = moment.map_or(u64::MAX, Moment::as_nanos).max(AWAKE + 1);
        self.until.store(until, Ordering::SeqCst);
        fence(Ordering::SeqCst);
    }

    /// A message was put in the intake, which has `backlog()` of them: wakes the driver if it would sleep beyond
    /// `deadline`, or if there are many.
    pub(crate) fn sent(&self, deadline: Option<Moment>, backlog: impl FnOnce() -> usize) {
        fence(Ordering::SeqCst);
        let until = self.until.load(Ordering::SeqCst);
        if until == AWAKE {
            return;
        }
        if deadline.is_some_and(|deadline| deadline.as_nanos() < until) || backlog() >= BACKLOG {
            self.wake();
        }
    }

    /// Wakes the driver whatever it does. Of many who want to wake it while it sleeps, one does.
    pub(crate) fn wake(&self) {
        self.awake();
        let waker = self.waker.lock().clone();
        if let Some(wake) = waker {
            wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;

    /// How often the driver is woken by these messages, each with its deadline and the backlog, while it sleeps until 100.
    fn wakeups(messages: &[(Option<u64>, usize)]) -> usize {
        let (signal, count) = (Signal::new(), Arc::new(AtomicUsize::new(0)));
        let counter = Arc::clone(&count);
        signal.set_waker(Arc::new(move || {
            counter.fetch_add(1, Ordering::Relaxed);
        }));
        signal.sleep_until(Some(Moment::from_nanos(100)));
        for &(deadline, backlog) in messages {
            signal.sent(deadline.map(Moment::from_nanos), || backlog);
        }
        count.load(Ordering::Relaxed)
    }

    #[test]
    fn only_what_cannot_wait_wakes_and_only_once() {
        assert_eq!(wakeups(&[(None, 1), (Some(100), 2), (Some(101), BACKLOG - 1)]), 0);
        assert_eq!(wakeups(&[(Some(99), 1)]), 1);
        assert_eq!(wakeups(&[(None, BACKLOG)]), 1);
        assert_eq!(wakeups(&[(Some(99), 1), (Some(98), 2), (None, BACKLOG)]), 1);
    }

    #[test]
    fn a_driver_that_is_awake_is_not_disturbed() {
        let signal = Signal::new();
        signal.set_waker(Arc::new(|| unreachable!("it is awake")));
        signal.sent(Some(Moment::ORIGIN), || BACKLOG);
    }

    #[test]
    fn a_driver_without_a_waker_may_be_woken() {
        let signal = Signal::new();
        signal.sleep_until(None);
        signal.sent(Some(Moment::ORIGIN), || 1);
        assert_eq!(signal.until.load(Ordering::Relaxed), AWAKE);
        signal.sleep_until(Some(Moment::ORIGIN));
        assert_ne!(signal.until.load(Ordering::Relaxed), AWAKE);
    }
}
