//! The work of jobs, as a shard sees it: in a box, or in a slab with others of its type.
//!
//! For work in a slab, the shard stores only an index. The slab, which has the type, takes the work
//! out and carries it out, without the lock of the shard and without an allocation.

use std::any::Any;
use std::sync::Arc;

/// The properties of work that a shard needs.
pub(crate) trait ShardWork: Send {
    /// The slabs in which instant work is stored without a box.
    type Slab: WorkSlab<Self> + ?Sized;

    /// A second copy, for a run that overlaps with another. `None` if the runs of this work cannot
    /// overlap.
    fn fork(&self) -> Option<Box<Self>>;

    /// Returns `true` if it takes only an instant, so that it needs no executor.
    fn is_instant(&self) -> bool;

    /// Returns `true` if a future waits for it.
    fn is_awaited(&self) -> bool;
}

/// A slab of work of one type.
pub(crate) trait WorkSlab<W: ?Sized>: Any + Send + Sync {
    /// Takes out the work at an index, into a box.
    fn take(&self, index: u32) -> Box<W>;

    /// Drops the work at an index.
    fn clear(&self, index: u32);

    /// Removes unused memory, and returns it to be dropped without a lock.
    fn shrink(&self) -> Box<dyn Any>;
}

/// The slabs of a shard, one for each type. They are few, so they are searched one by one.
pub(crate) type Slabs<W> = Vec<Arc<<W as ShardWork>::Slab>>;

/// Work that was taken out of a job and is still in its slab. Dropping this drops the work.
pub(crate) struct SlabWork<W: ShardWork + ?Sized> {
    slab: Option<Arc<W::Slab>>,
    index: u32,
}

impl<W: ShardWork + ?Sized> SlabWork<W> {
    pub(super) fn new(slabs: &Slabs<W>, slab: u16, index: u32) -> Self {
        Self { slab: Some(Arc::clone(&slabs[usize::from(slab)])), index }
    }

    /// Returns its slab and index. The caller must take it out.
    pub(crate) fn leave(mut self) -> (Arc<W::Slab>, u32) {
        (self.slab.take().expect("only this call takes it"), self.index)
    }
}

impl<W: ShardWork + ?Sized> Drop for SlabWork<W> {
    fn drop(&mut self) {
        self.slab.iter().for_each(|slab| slab.clear(self.index));
    }
}
