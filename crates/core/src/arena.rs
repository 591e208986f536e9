//! Storage of timers behind handles that never alias.
//!
//! [`Arena`] is a slab with generations. A key of a slab identifies a place and is reused after a
//! removal. A [`TimerId`] identifies a place and the timer in it: each place counts its uses, and
//! the count is the *generation* of the handle.
//!
//! The free places are on a separate stack. A slab threads a list through its free entries, which
//! is a chain of cache misses, because each address is stored in the entry before. (Measured with a
//! million timers against the same arena on the `slab` crate, in turns on one machine: an insertion
//! into scattered places takes 80 ns instead of 260, a cancellation a sixth less.) The stack holds
//! the next handle of each place, including the generation. So an insertion writes its place
//! without reading it first, and does not wait for memory.
//!
//! Entries never move. The storage grows by [segments](crate::segments), so no insertion waits
//! until all entries are copied.
//!
//! In addition to its entry, a place holds a *link*: the data with which the structure finds the
//! timer, such as its position in a slot. It is not a field of the entry, because four bytes fit
//! next to the generation, and a field would take eight. A structure that needs no link uses `()`.
//! With a link that has a niche, such as [`Link`], a place with an entry of two words takes 24
//! bytes.
//!
//! # Generations do not wrap
//!
//! A generation has 32 bits, and a fast program uses one place four billion times within minutes.
//! So a place whose generations are used up is retired: it stays empty for ever. This costs the
//! memory of one entry for each four billion timers.

use crate::TimerId;
use crate::segments::Segments;
use crate::stack::Stack;
use core::mem;
use core::num::NonZeroU32;

/// A link of four bytes. `Option<Link>` takes four bytes too.
pub type Link = NonZeroU32;

/// The content of a place.
#[derive(Clone, Debug)]
enum Cell<E, L> {
    /// Free, or retired.
    Vacant,
    /// The place has a timer.
    Live { generation: NonZeroU32, link: L, entry: E },
}

const _: () = assert!(size_of::<Cell<[u64; 2], Link>>() == 24 && size_of::<Cell<u64, ()>>() == 16);

/// Storage of entries behind [`TimerId`]s. All operations are O(1) unless documented otherwise. An
/// insertion at times allocates a segment of storage.
///
/// ```
/// use wheelhouse_core::arena::Arena;
///
/// let mut arena = Arena::new();
/// let id = arena.insert("entry");
/// assert_eq!(arena.get(id), Some(&"entry"));
/// assert_eq!(arena.remove(id), Some(((), "entry")));
/// let other = arena.insert("another"); // reuses the place
/// assert_eq!((arena.get(id), arena.get(other)), (None, Some(&"another")));
/// ```
#[derive(Clone, Debug)]
pub struct Arena<E, L = ()> {
    cells: Segments<Cell<E, L>>,
    /// The number of places that have been used.
    used: u32,
    /// The next handle of each free place; the place freed last is on top. The generation is stored
    /// here and not in the place, so an insertion writes its place without reading it, and does not
    /// wait for memory.
    free: Stack<TimerId>,
    retired: u32,
}

impl<E, L> Default for Arena<E, L> {
    fn default() -> Self {
        Self::new()
    }
}

impl<E> Arena<E> {
    /// Inserts an entry that needs no link, and returns its handle.
    ///
    /// # Panics
    ///
    /// If there are 2^32 - 1 entries.
    #[inline]
    pub fn insert(&mut self, entry: E) -> TimerId {
        self.insert_linked((), entry)
    }
}

impl<E, L> Arena<E, L> {
    /// An empty arena. Allocates nothing.
    pub const fn new() -> Self {
        Self { cells: Segments::new(), used: 0, free: Stack::new(), retired: 0 }
    }

    /// An empty arena with room for `capacity` entries. O(capacity). An arena holds at most
    /// 2^32 - 1 entries.
    pub fn with_capacity(capacity: usize) -> Self {
        let mut arena = Self::new();
        arena.cells.grow_to(capacity, || Cell::Vacant);
        arena
    }

    /// The number of entries.
    #[inline]
    pub fn len(&self) -> usize {
        // A place that was used has a timer, is free, or is retired.
        (self.used - self.retired) as usize - self.free.len()
    }

    /// The number of places used so far: the largest number of entries at any time, plus the places
    /// that were retired.
    #[inline]
    pub fn peak(&self) -> usize {
        self.used as usize
    }

    /// Returns `true` if there is no entry.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The handle that the next insertion returns.
    ///
    /// # Panics
    ///
    /// If there are 2^32 - 1 entries. It panics here and not only in the insertion, so that a
    /// structure which links a timer before it inserts it stays consistent.
    #[inline]
    pub fn next_id(&self) -> TimerId {
        self.free.peek().unwrap_or_else(|| self.unused_id())
    }

    #[inline]
    fn unused_id(&self) -> TimerId {
        assert!(self.used < u32::MAX, "an arena holds fewer than 2^32 timers");
        TimerId::from_parts(self.used, NonZeroU32::MIN)
    }

    /// Inserts an entry and returns its handle.
    ///
    /// # Panics
    ///
    /// If there are 2^32 - 1 entries.
    #[inline]
    pub fn insert_linked(&mut self, link: L, entry: E) -> TimerId {
        let id = self.next_id();
        // Free places have lower indices than the first place that was never used.
        if id.index() == self.used {
            self.use_another();
        } else {
            self.free.pop();
        }
        let cell = &mut self.cells[id.index() as usize];
        debug_assert!(matches!(cell, Cell::Vacant), "a place of the free stack is vacant");
        let new = Cell::Live { generation: id.generation(), link, entry };
        // The place is vacant. Dropping its content would have to read it first.
        mem::forget(mem::replace(cell, new));
        id
    }

    /// Adds a place, and a segment if the last one is full.
    #[inline]
    fn use_another(&mut self) {
        // Does not overflow: `unused_id` has checked it.
        self.used += 1;
        if self.used as usize > self.cells.len() {
            self.cells.grow_to(self.used as usize, || Cell::Vacant);
        }
        debug_assert!(self.used as usize <= self.cells.len(), "each used place exists");
    }

    /// The entry of a handle; `None` if it has been removed.
    #[inline]
    pub fn get(&self, id: TimerId) -> Option<&E> {
        match self.cells.get(id.index() as usize)? {
            Cell::Live { generation, entry, .. } if *generation == id.generation() => Some(entry),
            _ => None,
        }
    }

    /// The link and the entry of a handle; `None` if it has been removed.
    #[inline]
    pub fn get_mut(&mut self, id: TimerId) -> Option<(&mut L, &mut E)> {
        match self.cells.get_mut(id.index() as usize)? {
            Cell::Live { generation, link, entry } if *generation == id.generation() => {
                Some((link, entry))
            }
            _ => None,
        }
    }

    /// The link and the entry of the timer at a place; `None` if the place is vacant.
    #[inline]
    pub fn at_mut(&mut self, index: u32) -> Option<(&mut L, &mut E)> {
        match self.cells.get_mut(index as usize)? {
            Cell::Live { link, entry, .. } => Some((link, entry)),
            Cell::Vacant => None,
        }
    }

    /// Sets the link of the timer at a place, which must not be vacant.
    #[inline]
    pub fn set_link(&mut self, index: u32, to: L) {
        debug_assert!(self.at(index).is_some(), "only a live timer has a link");
        if let Some((link, _)) = self.at_mut(index) {
            *link = to;
        }
    }

    /// The entry at a place; `None` if the place is vacant.
    #[inline]
    pub fn at(&self, index: u32) -> Option<&E> {
        match self.cells.get(index as usize)? {
            Cell::Live { entry, .. } => Some(entry),
            Cell::Vacant => None,
        }
    }

    /// The link of the timer at a place; `None` if the place is vacant.
    #[inline]
    pub fn link_at(&self, index: u32) -> Option<&L> {
        match self.cells.get(index as usize)? {
            Cell::Live { link, .. } => Some(link),
            Cell::Vacant => None,
        }
    }

    /// The handle, link and entry of each timer, in storage order. O(p), where p is the
    /// [`peak`](Self::peak).
    pub fn iter(&self) -> impl Iterator<Item = (TimerId, &L, &E)> {
        // The last segment also has places that were never used.
        self.cells.iter().zip(0..self.used).filter_map(|(cell, index)| match cell {
            Cell::Live { generation, link, entry } => {
                Some((TimerId::from_parts(index, *generation), link, entry))
            }
            Cell::Vacant => None,
        })
    }

    /// Removes a timer and returns its link and entry; `None` if it has been removed already.
    #[inline]
    pub fn remove(&mut self, id: TimerId) -> Option<(L, E)> {
        let cell = self.cells.get_mut(id.index() as usize)?;
        // Checked before `vacate` writes, so a stale handle changes nothing.
        match cell {
            Cell::Live { generation, .. } if *generation == id.generation() => {}
            _ => return None,
        }
        let (_, link, entry) = Self::vacate(cell)?;
        self.release(id);
        Some((link, entry))
    }

    /// Removes the timer at a place and returns its handle and entry; `None` if the place is
    /// vacant.
    #[inline]
    pub fn remove_at(&mut self, index: u32) -> Option<(TimerId, E)> {
        let (generation, _, entry) = Self::vacate(self.cells.get_mut(index as usize)?)?;
        let id = TimerId::from_parts(index, generation);
        self.release(id);
        Some((id, entry))
    }

    #[inline]
    fn vacate(cell: &mut Cell<E, L>) -> Option<(NonZeroU32, L, E)> {
        let Cell::Live { generation, link, entry } = mem::replace(cell, Cell::Vacant) else {
            return None;
        };
        Some((generation, link, entry))
    }

    /// Frees the place of a handle, or retires it after its last generation.
    #[inline]
    fn release(&mut self, id: TimerId) {
        debug_assert!(self.at(id.index()).is_none(), "a place is vacant before it is freed");
        match id.next_generation() {
            Some(next) => self.free.push(next),
            // On no stack any more, so no insertion finds the place.
            None => self.retired += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_reaches_its_entry_until_it_is_removed() {
        let mut arena = Arena::with_capacity(2);
        let (a, b) = (arena.insert('a'), arena.insert('b'));
        assert_eq!((arena.len(), arena.get(a), arena.get(b)), (2, Some(&'a'), Some(&'b')));
        assert_eq!(arena.remove(a), Some(((), 'a')));
        assert_eq!((arena.remove(a), arena.get(a)), (None, None));
        assert_eq!(arena.get_mut(a), None);
        assert_eq!((arena.len(), arena.at(b.index())), (1, Some(&'b')));
    }

    #[test]
    fn a_place_used_again_does_not_answer_to_the_old_handle() {
        let mut arena = Arena::new();
        let first = arena.insert(0);
        arena.remove(first);
        for n in 1..1000 {
            assert_eq!(arena.next_id().index(), first.index());
            let id = arena.insert(n);
            assert_eq!(id.index(), first.index());
            assert_eq!(arena.get(first), None);
            assert_eq!(arena.remove(id), Some(((), n)));
        }
        assert_eq!(arena.used, 1);
    }

    #[test]
    fn a_place_is_retired_before_its_generations_wrap() {
        let mut arena = Arena::new();
        let first = arena.insert(1);
        arena.remove(first);
        let last_but_one = NonZeroU32::MIN.saturating_add(u32::MAX - 2);
        arena.free.pop();
        arena.free.push(TimerId::from_parts(first.index(), last_but_one));
        let places: alloc::vec::Vec<_> = (0..4)
            .map(|n| {
                let id = arena.insert(n);
                assert_eq!(arena.remove(id), Some(((), n)));
                id.index()
            })
            .collect();
        assert_eq!(places, [0, 0, 1, 1]);
        assert_eq!((arena.get(first), arena.len()), (None, 0));
    }

    #[test]
    fn links_stay_with_their_entries() {
        let mut arena: Arena<char, u8> = Arena::new();
        let id = arena.insert_linked(7, 'a');
        if let Some((link, entry)) = arena.at_mut(id.index()) {
            (*link, *entry) = (8, 'b');
        }
        assert!(arena.iter().eq([(id, &8, &'b')]));
        assert_eq!((arena.link_at(id.index()), arena.link_at(99)), (Some(&8), None));
        assert_eq!(arena.remove(id), Some((8, 'b')));
        assert_eq!(arena.at_mut(id.index()), None);
        assert_eq!(arena.remove_at(id.index()), None);
        assert_eq!(arena.insert_linked(1, 'c').generation(), id.generation().saturating_add(1));
    }
}
