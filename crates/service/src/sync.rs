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
