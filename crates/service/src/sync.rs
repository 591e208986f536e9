//! What the protocols between threads are made of: atomics, the lock of a record, the intake.
//!
//! With `--cfg wheelhouse_loom` they are those of `loom`, which runs a test once for every order in which threads can
//! meet that makes a difference (`model_tests`). What is only counted or looked up, and not part of a protocol, is not
//! here.

#[cfg(not(wheelhouse_loom))]
mod real {
    pub(crate) use crossbeam_channel::{Receiver, Sender, unbounded};
    pub(crate) use parking_lot::{Mutex, MutexGuard};
    pub(crate) use std::sync::atomic::{AtomicBool, AtomicU64, fence};
}

#[cfg(not(wheelhouse_loom))]
pub(crate) use real::*;

#[cfg(wheelhouse_loom)]
mod model {
    use loom::sync::Arc;
    pub(crate) use loom::sync::MutexGuard;
    pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU64, fence};
    use loom::sync::atomic::{AtomicUsize, Ordering};
    use std::collections::VecDeque;

    /// A lock that is never poisoned.
    pub(crate) struct Mutex<T>(loom::sync::Mutex<T>);

    impl<T> Mutex<T> {
        pub(crate) fn new(value: T) -> Self {
            Self(loom::sync::Mutex::new(value))
        }

        pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
            self.0.lock().expect("no test panics with the lock")
        }
    }

    /// A channel that promises less than the real one does: a message can be received once it was sent, and the length
    /// is some number that was true once, unless a fence says otherwise.
    struct Channel<T> {
        messages: Mutex<VecDeque<T>>,
        len: AtomicUsize,
    }

    pub(crate) struct Sender<T>(Arc<Channel<T>>);
    pub(crate) struct Receiver<T>(Arc<Channel<T>>);

    pub(crate) fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
        let channel = Arc::new(Channel { messages: Mutex::new(VecDeque::new()), len: AtomicUsize::new(0) });
        (Sender(Arc::clone(&channel)), Receiver(channel))
    }

    impl<T> Sender<T> {
        /// There always is a receiver: the tests keep it.
        pub(crate) fn send(&self, message: T) -> Result<(), T> {
            self.0.messages.lock().push_back(message);
            self.0.len.fetch_add(1, Ordering::Relaxed);
            Ok(())
        }

        pub(crate) fn len(&self) -> usize {
            self.0.len.load(Ordering::Relaxed)
        }
    }

    impl<T> Receiver<T> {
        pub(crate) fn try_recv(&self) -> Result<T, ()> {
            let message = self.0.messages.lock().pop_front().ok_or(())?;
            self.0.len.fetch_sub(1, Ordering::Relaxed);
            Ok(message)
        }

        pub(crate) fn len(&self) -> usize {
            self.0.len.load(Ordering::Relaxed)
        }

        pub(crate) fn is_empty(&self) -> bool {
            self.len() == 0
        }
    }
}

#[cfg(wheelhouse_loom)]
pub(crate) use model::*;
