//! Instant work, stored by value: it is in a slab with others of its type, so scheduling it
//! allocates nothing once the slab has grown.

use crate::shard::{Arena, SlabWork, Slabs, TakenWork, WorkSlab};
use crate::shared::{InstantSlab, Run, RunResult, Work};
use parking_lot::Mutex;
use std::any::Any;
use std::sync::Arc;

/// The most slabs of a shard, which are searched one by one. Work of further types is stored in
/// boxes.
const MOST_SLABS: usize = 64;

/// Work that takes only an instant and calls no closure of the user, so the leading thread does it.
pub(crate) trait InstantWork: Work {
    fn carry_out(self, run: &Run<'_>);
}

/// Its lock is held only to put a value in or to take one out: with the lock of the shard, which is
/// then taken first, or without it.
struct SlabOf<T>(Mutex<Arena<T>>);

impl<T: InstantWork> WorkSlab<dyn Work> for SlabOf<T> {
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

impl<T: InstantWork> InstantSlab for SlabOf<T> {
    fn carry_out(&self, index: u32, run: &Run<'_>) {
        self.remove(index).carry_out(run);
    }
}

impl<T> SlabOf<T> {
    /// Takes out the work at an index. The lock is released before the work is dropped or carried
    /// out, which runs code of the user.
    fn remove(&self, index: u32) -> T {
        let work = self.0.lock().remove(index);
        work.expect("the work of a job is taken out once, and is in its slab until then")
    }
}

/// Puts work into the slab of its type, which is created if it does not exist. Returns the work if
/// there are too many slabs.
pub(crate) fn put<T: InstantWork>(slabs: &mut Slabs<dyn Work>, work: T) -> Result<(u16, u32), T> {
    let is_its = |slab: &Arc<dyn InstantSlab>| (&**slab as &dyn Any).is::<SlabOf<T>>();
    let known = slabs.iter().position(is_its);
    if known.is_none() && slabs.len() == MOST_SLABS {
        return Err(work);
    }
    let index = known.unwrap_or_else(|| {
        slabs.push(Arc::new(SlabOf::<T>(Mutex::default())));
        slabs.len() - 1
    });
    let slab: &dyn Any = &*slabs[index];
    let SlabOf(arena) = slab.downcast_ref::<SlabOf<T>>().expect("it was found by its type");
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
