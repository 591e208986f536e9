//! The parts of the protocols between threads: atomics, locks, threads, and parking.
//!
//! With `--cfg wheelhouse_loom` they are those of `loom`, which runs a test once for every order in
//! which threads can meet that makes a difference (`model_tests`). What is only counted or looked
//! up, and not part of a protocol, is not here: for such a lock nobody waits while its holder does
//! something that loom looks at.

#[cfg(not(wheelhouse_loom))]
mod real {
    /// Not the parking of the standard library: a job that blocks may use up the wake-up there.
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
