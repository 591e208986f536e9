//! The primitives of the protocols between threads: atomics, locks, threads, and parking.
//!
//! With `--cfg wheelhouse_loom` they are those of `loom`, which runs a test once for every relevant
//! order of its threads (`model_tests`). Locks and counters that are not part of a protocol are not
//! here: their holders do nothing that loom observes, so no thread ever waits for such a lock in a
//! model.

#[cfg(not(wheelhouse_loom))]
mod real {
    /// Not the parking of the standard library: a job that blocks may consume the wake-up there.
    pub(crate) use crossbeam_utils::sync::{Parker, Unparker};
    pub(crate) use parking_lot::{Condvar, Mutex, MutexGuard};
    pub(crate) use std::sync::atomic::{AtomicBool, AtomicU64, fence};
    pub(crate) use std::{thread, thread_local};
}

#[cfg(not(wheelhouse_loom))]
pub(crate) use real::*;

#[cfg(wheelhouse_loom)]
mod model;

#[cfg(wheelhouse_loom)]
pub(crate) use model::*;

/// This thread has the lock of a shard while this exists.
///
/// The order of locks, which debug builds check: a part of the keys, then one shard. A thread that
/// has the lock of a shard takes neither that of another shard nor that of a part. So no two
/// threads wait for each other. The check also finds code of the user that runs under the lock of a
/// shard and calls the service: such a call would wait for its own thread.
pub(crate) struct HoldsShard;

#[cfg(debug_assertions)]
crate::sync::thread_local! {
    static HOLDS_SHARD: std::cell::Cell<bool> = std::cell::Cell::default();
}

impl HoldsShard {
    #[inline]
    pub(crate) fn new() -> Self {
        assert_holds_no_shard();
        #[cfg(debug_assertions)]
        HOLDS_SHARD.with(|holds| holds.set(true));
        Self
    }
}

impl Drop for HoldsShard {
    #[inline]
    fn drop(&mut self) {
        #[cfg(debug_assertions)]
        HOLDS_SHARD.with(|holds| holds.set(false));
    }
}

/// This thread is about to take a lock, and must not have that of a shard.
#[inline]
pub(crate) fn assert_holds_no_shard() {
    #[cfg(debug_assertions)]
    HOLDS_SHARD.with(|holds| assert!(!holds.get(), "this thread has the lock of a shard already"));
}
