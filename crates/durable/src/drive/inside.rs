//! Marks threads that are in a handler: a run that stops its own timers must not wait for itself.

use crate::observe::Counters;
use std::cell::Cell;
use std::sync::Arc;

thread_local! {
    /// The timers whose handler this thread is in. 0: in no handler.
    static INSIDE: Cell<usize> = const { Cell::new(0) };
}

/// This thread is in a handler until this is dropped.
pub(crate) struct Inside {
    /// The previous value: a handler may call a handler of other timers.
    before: usize,
}

impl Inside {
    pub(crate) fn of(counters: &Arc<Counters>) -> Self {
        Self { before: INSIDE.replace(name(counters)) }
    }

    /// Returns `true` if this thread is in a handler of these timers.
    pub(crate) fn is_of(counters: &Arc<Counters>) -> bool {
        INSIDE.get() == name(counters)
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        INSIDE.set(self.before);
    }
}

/// Identifies timers by the address of their counters, which all their shards share.
fn name(counters: &Arc<Counters>) -> usize {
    Arc::as_ptr(counters) as usize
}
