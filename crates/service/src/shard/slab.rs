//! Work that is stored in a slab with others of its type, instead of a box.
//!
//! The shard stores only the place of such work. The slab, which knows its type, takes it out and
//! carries it out, without the lock of the shard and without an allocation.

use super::state::Task;
use std::any::Any;
use std::sync::Arc;

/// A slab of work of one type.
pub(crate) trait Slab<W: ?Sized>: Any + Send + Sync {
    /// Takes out the work at a place, into a box.
    fn take(&self, place: u32) -> Box<W>;

    /// Drops the work at a place.
    fn clear(&self, place: u32);

    /// Removes unused memory, and returns it to be dropped without a lock.
    fn shrink(&self) -> Box<dyn Any>;
}

/// The slabs of a shard, one for each type. They are few, so they are searched one by one.
pub(crate) type Slabs<W> = Vec<Arc<<W as Task>::Slab>>;

/// Work that was taken out of a job and is still in its slab. Dropping this drops the work.
pub(crate) struct Lying<W: Task + ?Sized> {
    slab: Option<Arc<W::Slab>>,
    place: u32,
}

impl<W: Task + ?Sized> Lying<W> {
    pub(super) fn new(slabs: &Slabs<W>, slab: u16, place: u32) -> Self {
        Self { slab: Some(Arc::clone(&slabs[usize::from(slab)])), place }
    }

    /// Returns its slab and place. The caller must take it out.
    pub(crate) fn leave(mut self) -> (Arc<W::Slab>, u32) {
        (self.slab.take().expect("only this call takes it"), self.place)
    }
}

impl<W: Task + ?Sized> Drop for Lying<W> {
    fn drop(&mut self) {
        self.slab.iter().for_each(|slab| slab.clear(self.place));
    }
}
