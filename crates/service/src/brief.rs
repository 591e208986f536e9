//! Work that is done in an instant, by value: it lies in a slab with others of its type, so that
//! scheduling it allocates nothing once the slab has grown.

use crate::handle::{Back, Run, Work};
use crate::shard::{Arena, Held, Lying, Slab, Slabs};
use parking_lot::Mutex;
use std::any::Any;
use std::sync::Arc;

/// After so many types, work of others lies in boxes: slabs are searched one by one.
const MOST_SLABS: usize = 64;

/// Work that is done in an instant, by the thread that leads, and calls no closure of the user's.
pub(crate) trait Brief: Work {
    fn carry_out(self, run: &Run<'_>);
}

/// A slab of brief work, of whatever type.
pub(crate) trait BriefSlab: Slab<dyn Work> {
    /// Carries out what lies at a place, which is free from here on.
    fn carry_out(&self, place: u32, run: &Run<'_>);
}

/// Its lock is held for no longer than it takes to put something in or to take it out: after that
/// of the shard, or without.
struct SlabOf<T>(Mutex<Arena<T>>);

impl<T: Brief> Slab<dyn Work> for SlabOf<T> {
    fn take(&self, place: u32) -> Option<Box<dyn Work>> {
        let work = self.0.lock().remove(place)?;
        Some(Box::new(work))
    }

    fn clear(&self, place: u32) {
        let work = self.0.lock().remove(place);
        // Without the lock: it is the user's.
        drop(work);
    }

    fn shrink(&self) -> Box<dyn Any> {
        Box::new(self.0.lock().shrink())
    }
}

impl<T: Brief> BriefSlab for SlabOf<T> {
    fn carry_out(&self, place: u32, run: &Run<'_>) {
        let work = self.0.lock().remove(place);
        work.into_iter().for_each(|work| work.carry_out(run));
    }
}

/// Puts work into the slab of its type, which is made if there is none; it comes back if there are
/// too many.
pub(crate) fn put<T: Brief>(slabs: &mut Slabs<dyn Work>, work: T) -> Result<(u16, u32), T> {
    let is_its = |slab: &Arc<dyn BriefSlab>| (&**slab as &dyn Any).is::<SlabOf<T>>();
    let known = slabs.iter().position(is_its);
    if known.is_none() && slabs.len() == MOST_SLABS {
        return Err(work);
    }
    let index = known.unwrap_or_else(|| {
        slabs.push(Arc::new(SlabOf::<T>(Mutex::default())));
        slabs.len() - 1
    });
    let slab: &dyn Any = &*slabs[index];
    let Some(SlabOf(arena)) = slab.downcast_ref::<SlabOf<T>>() else { return Err(work) };
    // Below `MOST_SLABS`.
    Ok((index as u16, arena.lock().insert(work)))
}

impl Held<dyn Work> {
    /// Does what is to be done.
    pub(crate) fn call(self, run: &Run<'_>, back: &mut Back) {
        match self {
            Self::Work(work) => work.call(run, back),
            Self::InSlab(lying) => lying.carry_out(run),
            Self::Wake(waker) => waker.wake(),
        }
    }
}

impl Lying<dyn Work> {
    /// Does what is to be done.
    pub(crate) fn carry_out(self, run: &Run<'_>) {
        self.leave().into_iter().for_each(|(slab, place)| slab.carry_out(place, run));
    }
}
