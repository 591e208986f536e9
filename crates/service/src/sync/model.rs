//! The same names on `loom`.

pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU64, fence};
pub(crate) use loom::{thread, thread_local};

use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A lock that is never poisoned.
#[derive(Default)]
pub(crate) struct Mutex<T: ?Sized>(loom::sync::Mutex<T>);

/// `None` only while its owner waits for a condition.
pub(crate) struct MutexGuard<'a, T: ?Sized>(Option<loom::sync::MutexGuard<'a, T>>);

const POISONED: &str = "no test panics while it holds the lock";
const HELD: &str = "the guard is not used while its owner waits";

impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(loom::sync::Mutex::new(value))
    }
}

impl<T: ?Sized> Mutex<T> {
    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        MutexGuard(Some(self.0.lock().expect(POISONED)))
    }

    /// Always fails, as if another thread had the lock.
    pub(crate) fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        None
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_ref().expect(HELD)
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
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

/// A channel.
struct Channel<T> {
    queue: Mutex<Queue<T>>,
    changed: Condvar,
}

struct Queue<T> {
    messages: VecDeque<T>,
    /// The sender is gone.
    closed: bool,
}

pub(crate) struct Sender<T>(Arc<Channel<T>>);
pub(crate) struct Receiver<T>(Arc<Channel<T>>);

pub(crate) fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
    let queue = Mutex::new(Queue { messages: VecDeque::new(), closed: false });
    let channel = Arc::new(Channel { queue, changed: Condvar::default() });
    (Sender(Arc::clone(&channel)), Receiver(channel))
}

impl<T> Sender<T> {
    /// Never fails: the tests and the workers keep the receiver.
    pub(crate) fn send(&self, message: T) -> Result<(), T> {
        self.0.queue.lock().messages.push_back(message);
        self.0.changed.notify_all();
        Ok(())
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.0.queue.lock().closed = true;
        self.0.changed.notify_all();
    }
}

impl<T> Receiver<T> {
    /// Waits for a message. An error if there is none and the sender is gone.
    pub(crate) fn recv(&self) -> Result<T, ()> {
        let mut queue = self.0.queue.lock();
        self.0.changed.wait_while(&mut queue, |queue| queue.messages.is_empty() && !queue.closed);
        queue.messages.pop_front().ok_or(())
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}
