//! Wakes a driver that sleeps, and only then.
//!
//! The driver stores until when it will sleep, then checks the first ticks of the shards once more,
//! then sleeps. A handle that has made its job the first of a shard stores that tick, then checks
//! whether the driver sleeps beyond it. In any order of these four steps, at least one side sees
//! the store of the other, since each has a fence between its store and its load (as in Dekker's
//! algorithm). So the driver does not sleep past a due job.

use crate::guard::discard;
use crate::sync::{AtomicU64, fence};
use crate::time::{Moment, Waker};
use parking_lot::Mutex;
use std::sync::atomic::Ordering;

/// The driver is awake, and will check the shards before it sleeps. This is how it begins.
const AWAKE: u64 = 0;

#[derive(Default)]
pub(crate) struct Signal {
    /// When the driver will wake up by itself, in nanoseconds. `u64::MAX` is never.
    until: AtomicU64,
    waker: Mutex<Option<Waker>>,
}

impl Signal {
    pub(crate) fn set_waker(&self, waker: Option<Waker>) {
        let former = std::mem::replace(&mut *self.waker.lock(), waker);
        // Without the lock: its destructor is the user's code.
        discard(former);
    }

    /// The driver is about to check the shards.
    pub(crate) fn awake(&self) {
        self.until.store(AWAKE, Ordering::SeqCst);
    }

    /// The driver is about to sleep, unless it finds something to do after this call.
    pub(crate) fn sleep_until(&self, moment: Option<Moment>) {
        // Never `AWAKE`, also for the origin.
        let until = moment.map_or(u64::MAX, Moment::as_nanos).max(AWAKE + 1);
        self.until.store(until, Ordering::SeqCst);
        fence(Ordering::SeqCst);
    }

    /// Something is due earlier than before. Wakes the driver if it would sleep beyond that moment,
    /// with the origin whenever it sleeps.
    pub(crate) fn earlier(&self, due: Moment) {
        fence(Ordering::SeqCst);
        let until = self.until.load(Ordering::SeqCst);
        // The swap: of the threads that see the driver asleep, one wakes it, and those that come
        // later find it awake.
        let is_beyond = until != AWAKE && due.as_nanos() < until;
        if is_beyond && self.until.swap(AWAKE, Ordering::SeqCst) != AWAKE {
            self.wake();
        }
    }

    fn wake(&self) {
        // If a leader stores its sleep time after this, it became the leader before the waker reads
        // who leads: see `Pool::promote`.
        fence(Ordering::SeqCst);
        let waker = self.waker.lock().clone();
        if let Some(wake) = waker {
            wake();
        }
    }
}
