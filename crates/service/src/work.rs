//! What a job does, whatever it is: a closure that runs once, one that runs again and again, a value to be sent.

use crate::{EventKind, Run};
use crossbeam_channel::{Sender, TrySendError};
use std::any::Any;
use std::sync::Arc;

/// What a job does when it runs.
pub(crate) trait Work: Send + 'static {
    /// Runs it.
    fn call(&mut self, run: &Run<'_>);

    /// Another of the same, for a run beside one that goes on; `None` if there can be but one.
    fn fork(&self) -> Option<Box<dyn Work>> {
        None
    }

    /// Whether it is done in an instant and calls no closure of the user's, so that it may run on the driving thread also where
    /// jobs run on workers. Then no slow job holds it up, and the order of deadlines is that in which it is done.
    fn is_brief(&self) -> bool {
        false
    }

    /// Whether a future waits for it, and hears of it when it is dropped: then it is no job that anybody would want back.
    fn is_awaited(&self) -> bool {
        false
    }
}

/// Where a job keeps its work: [`Option`] of it, whatever it is, so that it can be dropped or given back where it lies.
pub(crate) trait Holder: Send + 'static {
    /// Runs the work, if it is there.
    fn call(&mut self, run: &Run<'_>);

    /// See [`Work::fork`].
    fn fork(&self) -> Option<Box<dyn Work>>;

    /// See [`Work::is_awaited`]; not, if the work is not there.
    fn is_awaited(&self) -> bool;

    /// Drops the work.
    fn clear(&mut self);

    /// For giving it back to a caller who knows what it is.
    fn as_any_mut(&mut self) -> &mut dyn Any;
}

impl<W: Work> Holder for Option<W> {
    fn call(&mut self, run: &Run<'_>) {
        if let Some(work) = self {
            work.call(run);
        }
    }

    fn fork(&self) -> Option<Box<dyn Work>> {
        self.as_ref()?.fork()
    }

    fn is_awaited(&self) -> bool {
        self.as_ref().is_some_and(Work::is_awaited)
    }

    fn clear(&mut self) {
        *self = None;
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

/// Says that it is brief.
macro_rules! brief {
    () => {
        fn is_brief(&self) -> bool {
            true
        }
    };
}

/// A closure that runs once.
pub(crate) struct CallOnce<F>(pub(crate) Option<F>);

impl<F: FnOnce(&Run<'_>) + Send + 'static> Work for CallOnce<F> {
    fn call(&mut self, run: &Run<'_>) {
        if let Some(function) = self.0.take() {
            function(run);
        }
    }
}

/// A closure that runs again and again, one run at a time.
pub(crate) struct CallEach<F>(pub(crate) F);

impl<F: FnMut(&Run<'_>) + Send + 'static> Work for CallEach<F> {
    fn call(&mut self, run: &Run<'_>) {
        (self.0)(run);
    }
}

/// A closure whose runs may go on beside each other.
pub(crate) struct CallShared<F>(pub(crate) Arc<F>);

impl<F: Fn(&Run<'_>) + Send + Sync + 'static> Work for CallShared<F> {
    fn call(&mut self, run: &Run<'_>) {
        (self.0)(run);
    }

    fn fork(&self) -> Option<Box<dyn Work>> {
        Some(Box::new(Self(Arc::clone(&self.0))))
    }
}

/// A value to be sent once.
pub(crate) struct SendOnce<T> {
    pub(crate) sender: Sender<T>,
    pub(crate) value: Option<T>,
}

impl<T: Send + 'static> Work for SendOnce<T> {
    fn call(&mut self, run: &Run<'_>) {
        if let Some(value) = self.value.take() {
            send(&self.sender, value, run);
        }
    }

    brief!();
}

/// A value of which a copy is sent each time.
pub(crate) struct SendEach<T> {
    pub(crate) sender: Sender<T>,
    pub(crate) value: T,
}

impl<T: Clone + Send + 'static> Work for SendEach<T> {
    fn call(&mut self, run: &Run<'_>) {
        send(&self.sender, self.value.clone(), run);
    }

    brief!();
}

/// Sends without waiting: a receiver that is slow must not hold up the jobs of others.
fn send<T>(sender: &Sender<T>, value: T, run: &Run<'_>) {
    match sender.try_send(value) {
        Ok(()) => {}
        Err(TrySendError::Full(_)) => run.undelivered(EventKind::ChannelFull),
        Err(TrySendError::Disconnected(_)) => {
            run.end();
            run.undelivered(EventKind::ChannelClosed);
        }
    }
}
