//! The work of jobs: closures that run once or repeatedly, and values to be sent.
//!
//! A value to be sent is *instant work*, which is stored by value: in a slab with others of its
//! type, so scheduling it allocates nothing once the slab has grown.

use crate::event::EventKind;
use crate::shard::{Arena, SlabWork, Slabs, TakenWork, WorkSlab};
use crate::shared::{InstantSlab, Run, RunResult, Work};
use crossbeam_channel::{Sender, TrySendError};
use parking_lot::Mutex;
use std::any::Any;
use std::fmt::Display;
use std::sync::Arc;

/// Puts work back after it was called, also if it panics.
struct PutBack<'a, W: Work> {
    work: Option<Box<W>>,
    result: &'a mut RunResult,
}

impl<W: Work> Drop for PutBack<'_, W> {
    fn drop(&mut self) {
        self.result.work = self.work.take().map(|work| work as Box<dyn Work>);
    }
}

/// Calls work that is called again later.
pub(crate) fn call_again<W: Work>(work: Box<W>, result: &mut RunResult, call: impl FnOnce(&mut W)) {
    let mut work = PutBack { work: Some(work), result };
    call(work.work.as_mut().expect("it is put back at the end of this call"));
}

/// A method of all work.
macro_rules! any {
    () => {
        fn into_any(self: Box<Self>) -> Box<dyn Any> {
            self
        }
    };
}

/// The result of a run.
pub(crate) trait RunOutput {
    /// Returns the error as text, if the run failed.
    fn into_result(self) -> Result<(), String>;
}

impl RunOutput for () {
    fn into_result(self) -> Result<(), String> {
        Ok(())
    }
}

impl<T, E: Display> RunOutput for Result<T, E> {
    fn into_result(self) -> Result<(), String> {
        self.map(drop).map_err(|error| error.to_string())
    }
}

/// A closure that runs once.
pub(crate) struct CallOnce<F>(pub(crate) F);

impl<F: FnOnce(&Run<'_>) + Send + 'static> Work for CallOnce<F> {
    fn call(self: Box<Self>, run: &Run<'_>, _: &mut RunResult) {
        (self.0)(run);
    }

    any!();
}

/// A closure that runs repeatedly, one run at a time, and may fail.
pub(crate) struct CallEach<F>(pub(crate) F);

impl<F, T: RunOutput> Work for CallEach<F>
where
    F: FnMut(&Run<'_>) -> T + Send + 'static,
{
    fn call(self: Box<Self>, run: &Run<'_>, result: &mut RunResult) {
        let mut error = None;
        call_again(self, result, |work| error = (work.0)(run).into_result().err());
        result.error = error;
    }

    any!();
}

/// A closure whose runs may overlap.
pub(crate) struct CallShared<F>(pub(crate) Arc<F>);

impl<F: Fn(&Run<'_>) + Send + Sync + 'static> Work for CallShared<F> {
    fn call(self: Box<Self>, run: &Run<'_>, result: &mut RunResult) {
        call_again(self, result, |work| (work.0)(run));
    }

    fn fork(&self) -> Option<Box<dyn Work>> {
        Some(Box::new(Self(Arc::clone(&self.0))))
    }

    any!();
}

/// A value to be sent once.
pub(crate) struct SendOnce<T> {
    pub(crate) sender: Sender<T>,
    pub(crate) value: T,
}

impl<T> SendOnce<T> {
    fn carry_out(self, run: &Run<'_>) {
        send(&self.sender, self.value, run);
    }
}

/// For a job that has more than a deadline.
impl<T: Send + 'static> Work for SendOnce<T> {
    fn call(self: Box<Self>, run: &Run<'_>, _: &mut RunResult) {
        self.carry_out(run);
    }

    any!();

    fn is_instant(&self) -> bool {
        true
    }
}

/// A value. A copy is sent in each run.
pub(crate) struct SendEach<T> {
    pub(crate) sender: Sender<T>,
    pub(crate) value: T,
}

impl<T: Clone + Send + 'static> Work for SendEach<T> {
    fn call(self: Box<Self>, run: &Run<'_>, result: &mut RunResult) {
        call_again(self, result, |work| send(&work.sender, work.value.clone(), run));
    }

    any!();

    fn is_instant(&self) -> bool {
        true
    }
}

/// Sends without waiting, so that a slow receiver does not delay other jobs.
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

/// The most slabs of a shard, which are searched one by one. Work of further types is stored in
/// boxes.
const MOST_SLABS: usize = 64;

/// The values of one type. Its lock is held only to put a value in or to take one out: with the
/// lock of the shard, which is then taken first, or without it.
struct ValueSlab<T>(Mutex<Arena<SendOnce<T>>>);

impl<T: Send + 'static> WorkSlab<dyn Work> for ValueSlab<T> {
    fn take(&self, index: u32) -> Box<dyn Work> {
        Box::new(self.remove(index))
    }

    fn clear(&self, index: u32) {
        drop(self.remove(index));
    }

    fn shrink(&self) -> Box<dyn Any> {
        Box::new(self.0.lock().shrink())
    }
}

impl<T: Send + 'static> InstantSlab for ValueSlab<T> {
    fn carry_out(&self, index: u32, run: &Run<'_>) {
        self.remove(index).carry_out(run);
    }
}

impl<T> ValueSlab<T> {
    /// Takes out the work at an index. The lock is released before the work is dropped or carried
    /// out, which runs code of the user.
    fn remove(&self, index: u32) -> SendOnce<T> {
        let work = self.0.lock().remove(index);
        work.expect("the work of a job is taken out once, and is in its slab until then")
    }
}

/// Puts a value into the slab of its type, which is created if it does not exist. Returns the value
/// if there are too many slabs.
pub(crate) fn put<T: Send + 'static>(
    slabs: &mut Slabs<dyn Work>,
    work: SendOnce<T>,
) -> Result<(u16, u32), SendOnce<T>> {
    let is_its = |slab: &Arc<dyn InstantSlab>| (&**slab as &dyn Any).is::<ValueSlab<T>>();
    let known = slabs.iter().position(is_its);
    if known.is_none() && slabs.len() == MOST_SLABS {
        return Err(work);
    }
    let index = known.unwrap_or_else(|| {
        slabs.push(Arc::new(ValueSlab::<T>(Mutex::default())));
        slabs.len() - 1
    });
    let slab: &dyn Any = &*slabs[index];
    let ValueSlab(arena) = slab.downcast_ref::<ValueSlab<T>>().expect("it was found by its type");
    // It fits: the index is below `MOST_SLABS`.
    Ok((index as u16, arena.lock().insert(work)))
}

impl TakenWork<dyn Work> {
    /// Runs the work, or wakes the task.
    pub(crate) fn call(self, run: &Run<'_>, result: &mut RunResult) {
        match self {
            Self::Work(work) => work.call(run, result),
            Self::InSlab(work) => work.carry_out(run),
            Self::Wake(waker) => waker.wake(),
        }
    }
}

impl SlabWork<dyn Work> {
    /// Takes the work out of its slab, and runs it.
    pub(crate) fn carry_out(self, run: &Run<'_>) {
        let (slab, index) = self.leave();
        slab.carry_out(index, run);
    }
}
