//! Marks threads that are within a handler: a run that stops its own timers must not wait for
//! itself. The counters stand for the timers.

use crate::observe::Counters;
use std::cell::Cell;
use std::sync::Arc;

thread_local! {
    /// The timers that call the handler; 0 outside.
    static INSIDE: Cell<usize> = const { Cell::new(0) };
}

/// This thread is within a handler until this is dropped.
pub(crate) struct Inside {
    /// A handler may call another one, of other timers.
    before: usize,
}

impl Inside {
    pub(crate) fn of(counters: &Arc<Counters>) -> Self {
        Self { before: INSIDE.replace(name(counters)) }
    }

    /// Returns `true` if this thread is within a handler of these timers.
    pub(crate) fn is_of(counters: &Arc<Counters>) -> bool {
        INSIDE.get() == name(counters)
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        INSIDE.set(self.before);
    }
}

/// All shards of a program have the same counters, and no other has those while it lives.
fn name(counters: &Arc<Counters>) -> usize {
    Arc::as_ptr(counters) as usize
}
