//! The same names on `loom`.

pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU64, fence};
pub(crate) use loom::{thread, thread_local};

use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A lock that is never poisoned.
#[derive(Default)]
pub(crate) struct Mutex<T>(loom::sync::Mutex<T>);

/// `None` only while its owner waits for a condition.
pub(crate) struct MutexGuard<'a, T>(Option<loom::sync::MutexGuard<'a, T>>);

const POISONED: &str = "no test panics while it holds the lock";
const HELD: &str = "the guard is not used while its owner waits";

impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(loom::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        MutexGuard(Some(self.0.lock().expect(POISONED)))
    }

    /// Always fails, as if another thread had the lock.
    pub(crate) fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        None
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_ref().expect(HELD)
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.as_mut().expect(HELD)
    }
}

#[derive(Default)]
pub(crate) struct Condvar(loom::sync::Condvar);

impl Condvar {
    pub(crate) fn wait_while<T>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        mut condition: impl FnMut(&mut T) -> bool,
    ) {
        while condition(guard) {
            guard.0 = guard.0.take().map(|held| self.0.wait(held).expect(POISONED));
        }
    }

    /// In a model no time passes: a past moment ends the wait at once, and a future one never
    /// comes.
    pub(crate) fn wait_while_until<T>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        condition: impl FnMut(&mut T) -> bool,
        until: Instant,
    ) {
        if until > Instant::now() {
            self.wait_while(guard, condition);
        }
    }

    pub(crate) fn notify_all(&self) {
        self.0.notify_all();
    }
}

/// Not built on loom's `park`, which loom's `join` uses itself.
pub(crate) struct Parker(Unparker);

#[derive(Clone)]
pub(crate) struct Unparker(Arc<(Mutex<bool>, Condvar)>);

impl Parker {
    pub(crate) fn new() -> Self {
        Self(Unparker(Arc::new((Mutex::new(false), Condvar::default()))))
    }

    pub(crate) fn unparker(&self) -> &Unparker {
        &self.0
    }

    pub(crate) fn park(&self) {
        let (token, changed) = &*self.0.0;
        let mut token = token.lock();
        changed.wait_while(&mut token, |token| !*token);
        *token = false;
    }

    /// In a model no time passes.
    pub(crate) fn park_timeout(&self, _: Duration) {
        self.park();
    }
}

impl Unparker {
    pub(crate) fn unpark(&self) {
        let (token, changed) = &*self.0;
        *token.lock() = true;
        changed.notify_all();
    }
}
