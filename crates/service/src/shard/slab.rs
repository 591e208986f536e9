//! Work that lies in a slab with others of its type, and in no box of its own.
//!
//! A shard knows of such work where it lies. What it is, only its slab knows: so work is taken out
//! and carried out there, without the lock of the shard and without an allocation.

use super::core::Task;
use std::any::Any;
use std::sync::Arc;

/// A slab of work of some type.
pub(crate) trait Slab<W: ?Sized>: Any + Send + Sync {
    /// Takes out what lies at a place, in a box.
    fn take(&self, place: u32) -> Option<Box<W>>;

    /// Drops what lies at a place.
    fn clear(&self, place: u32);

    /// Gives back memory in which nothing lies, to be dropped without a lock.
    fn shrink(&self) -> Box<dyn Any>;
}

/// The slabs of a shard. There are as many as types, few, and so they are searched one by one.
pub(crate) type Slabs<W> = Vec<Arc<<W as Task>::Slab>>;

/// Work that was taken out of a job and still lies in its slab. It is dropped with this.
pub(crate) struct Lying<W: Task + ?Sized> {
    slab: Option<Arc<W::Slab>>,
    place: u32,
}

impl<W: Task + ?Sized> Lying<W> {
    pub(super) fn new(slabs: &Slabs<W>, slab: u16, place: u32) -> Self {
        Self { slab: slabs.get(usize::from(slab)).cloned(), place }
    }

    /// Where it lies, for who takes it out: from here on it is his.
    pub(crate) fn leave(mut self) -> Option<(Arc<W::Slab>, u32)> {
        self.slab.take().map(|slab| (slab, self.place))
    }
}

impl<W: Task + ?Sized> Drop for Lying<W> {
    fn drop(&mut self) {
        self.slab.iter().for_each(|slab| slab.clear(self.place));
    }
}
