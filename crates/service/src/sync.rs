//! What the protocols between threads are made of: atomics, locks, channels, threads, and how one
//! of them sleeps.
//!
//! With `--cfg wheelhouse_loom` they are those of `loom`, which runs a test once for every order in
//! which threads can meet that makes a difference (`model_tests`). What is only counted or looked
//! up, and not part of a protocol, is not here: for such a lock nobody waits while its holder does
//! something that loom looks at.

#[cfg(not(wheelhouse_loom))]
mod real {
    pub(crate) use crossbeam_channel::{Sender, unbounded};
    pub(crate) use parking_lot::{Condvar, Mutex, MutexGuard};
    pub(crate) use std::sync::atomic::{AtomicBool, AtomicU64, fence};
    pub(crate) use std::{thread, thread_local};

    use std::time::Duration;

    /// Where a thread sleeps until it is woken, also if that happened before.
    #[derive(Clone)]
    pub(crate) struct Parker(thread::Thread);

    impl Parker {
        /// That of this thread, which alone may sleep there.
        pub(crate) fn of_this_thread() -> Self {
            Self(thread::current())
        }

        pub(crate) fn park(&self) {
            thread::park();
        }

        pub(crate) fn park_timeout(&self, time: Duration) {
            thread::park_timeout(time);
        }

        pub(crate) fn unpark(&self) {
            self.0.unpark();
        }
    }
}

#[cfg(not(wheelhouse_loom))]
pub(crate) use real::*;

#[cfg(wheelhouse_loom)]
mod model;

#[cfg(wheelhouse_loom)]
pub(crate) use model::*;
