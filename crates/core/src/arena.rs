//! Storage of timers behind handles that never alias.
//!
//! A key of a slab says *where*, and is given out again after a removal; a [`TimerId`] says
//! where *and which*. [`Arena`] is a slab that knows the difference: each place counts its uses,
//! and the count is the *generation* of the handle. Free places are on a stack of their own: a list
//! threaded through them, as slabs have it, is a chain of cache misses, each address known only
//! from the place before. (Measured at a million timers, beside the same arena on the `slab` crate,
//! in turns on one machine: an insertion into scattered places 80 ns instead of 260, a cancellation
//! a sixth less.) What the stack holds is the handle that comes next, its generation included: an
//! insertion writes its place without having to read it first, and nothing waits for it to come
//! from memory. Entries never move: the storage grows by [segments](crate::segments), and no
//! insertion waits for a copy of all others.
//!
//! Beside its entry, a place holds a *link*: what the structure needs to find the timer among its
//! own, such as a position in a slot. It is apart from the entry because four bytes fit beside the
//! generation, where a field of the entry would take eight; a structure that needs no link has `()`
//! there. With a link that has a niche, such as [`Link`], an entry of two words takes 24 bytes in
//! all.
//!
//! # Generations do not come round
//!
//! A generation is 32 bits, and a fast program uses one place four billion times within minutes. So
//! a place is retired when its generations are used up: it stays empty for ever, one entry of
//! memory for four billion timers.

use crate::TimerId;
use crate::segments::Segments;
use crate::stack::Stack;
use core::mem;
use core::num::NonZeroU32;

/// A link of four bytes whose absence costs no room.
pub type Link = NonZeroU32;

#[derive(Clone, Debug)]
enum Place<E, L> {
    /// Free, or retired.
    Vacant,
    /// A timer is here.
    Live { generation: NonZeroU32, link: L, entry: E },
}

const _: () =
    assert!(size_of::<Place<[u64; 2], Link>>() == 24 && size_of::<Place<u64, ()>>() == 16);

/// Entries behind [`TimerId`]s. All operations are O(1), a segment of storage at times included, if
/// nothing else is said.
///
/// ```
/// use wheelhouse_core::arena::Arena;
///
/// let mut arena = Arena::new();
/// let id = arena.insert("entry");
/// assert_eq!(arena.get(id), Some(&"entry"));
/// assert_eq!(arena.remove(id), Some(((), "entry")));
/// assert_eq!(arena.remove(id), None);
/// ```
#[derive(Clone, Debug)]
pub struct Arena<E, L = ()> {
    places: Segments<Place<E, L>>,
    /// How many places have been used.
    used: u32,
    /// The handles that come next for places that may be used again, the last left on top. Because
    /// the generation is here and not in the place, an insertion writes its place without reading
    /// it: nothing waits for it to come from memory.
    free: Stack<TimerId>,
    retired: u32,
}

impl<E, L> Default for Arena<E, L> {
    fn default() -> Self {
        Self::new()
    }
}

impl<E> Arena<E> {
    /// Puts an entry in that needs no link, and returns its handle.
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
        Self { places: Segments::new(), used: 0, free: Stack::new(), retired: 0 }
    }

    /// An empty arena with room for `capacity` entries, of which it can have 2^32 - 1: O(capacity).
    pub fn with_capacity(capacity: usize) -> Self {
        let mut arena = Self::new();
        arena.places.grow_to(capacity, || Place::Vacant);
        arena
    }

    /// The number of entries.
    #[inline]
    pub fn len(&self) -> usize {
        (self.used - self.retired) as usize - self.free.len()
    }

    /// How many places have been used so far: the most entries there were at a time, but for places
    /// that are retired.
    #[inline]
    pub fn peak(&self) -> usize {
        self.used as usize
    }

    /// Whether there is no entry.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The handle that the next insertion gives out.
    ///
    /// # Panics
    ///
    /// If there are 2^32 - 1 entries: here already, so that a structure which links a timer before
    /// it is inserted is whole after that.
    #[inline]
    pub fn next_id(&self) -> TimerId {
        self.free.peek().unwrap_or_else(|| self.unused_id())
    }

    #[inline]
    fn unused_id(&self) -> TimerId {
        assert!(self.used < u32::MAX, "an arena holds fewer than 2^32 timers");
        TimerId::from_parts(self.used, NonZeroU32::MIN)
    }

    /// Puts an entry in and returns its handle.
    ///
    /// # Panics
    ///
    /// If there are 2^32 - 1 entries.
    #[inline]
    pub fn insert_linked(&mut self, link: L, entry: E) -> TimerId {
        let id = self.next_id();
        if id.index() == self.used {
            self.use_another();
        } else {
            self.free.pop();
        }
        let place = &mut self.places[id.index() as usize];
        let new = Place::Live { generation: id.generation(), link, entry };
        // The place is vacant, and to drop what is in it would be to look at it.
        mem::forget(mem::replace(place, new));
        id
    }

    /// Makes room for one more place.
    #[inline]
    fn use_another(&mut self) {
        self.used += 1;
        if self.used as usize > self.places.len() {
            self.places.grow_to(self.used as usize, || Place::Vacant);
        }
    }

    /// The entry of a handle, unless it has been removed.
    #[inline]
    pub fn get(&self, id: TimerId) -> Option<&E> {
        match self.places.get(id.index() as usize)? {
            Place::Live { generation, entry, .. } if *generation == id.generation() => Some(entry),
            _ => None,
        }
    }

    /// Link and entry of a handle, to be changed, unless it has been removed.
    #[inline]
    pub fn get_mut(&mut self, id: TimerId) -> Option<(&mut L, &mut E)> {
        match self.places.get_mut(id.index() as usize)? {
            Place::Live { generation, link, entry } if *generation == id.generation() => {
                Some((link, entry))
            }
            _ => None,
        }
    }

    /// Link and entry of the timer at a place, to be changed.
    #[inline]
    pub fn at_mut(&mut self, index: u32) -> Option<(&mut L, &mut E)> {
        match self.places.get_mut(index as usize)? {
            Place::Live { link, entry, .. } => Some((link, entry)),
            Place::Vacant => None,
        }
    }

    /// Changes the link of the timer at a place.
    #[inline]
    pub fn set_link(&mut self, index: u32, to: L) {
        if let Some((link, _)) = self.at_mut(index) {
            *link = to;
        }
    }

    /// The entry at a place.
    #[inline]
    pub fn at(&self, index: u32) -> Option<&E> {
        match self.places.get(index as usize)? {
            Place::Live { entry, .. } => Some(entry),
            Place::Vacant => None,
        }
    }

    /// The link of the timer at a place.
    #[inline]
    pub fn link_at(&self, index: u32) -> Option<&L> {
        match self.places.get(index as usize)? {
            Place::Live { link, .. } => Some(link),
            Place::Vacant => None,
        }
    }

    /// Place, link and entry of each timer, in the order of memory: O(p), with p the
    /// [`peak`](Self::peak).
    pub fn iter(&self) -> impl Iterator<Item = (u32, &L, &E)> {
        self.places.iter().zip(0..self.used).filter_map(|(place, index)| match place {
            Place::Live { link, entry, .. } => Some((index, link, entry)),
            Place::Vacant => None,
        })
    }

    /// Handle and entry of each timer, in the order of memory: O(p), with p the
    /// [`peak`](Self::peak).
    pub fn iter_ids(&self) -> impl Iterator<Item = (TimerId, &E)> {
        self.places.iter().zip(0..self.used).filter_map(|(place, index)| match place {
            Place::Live { generation, entry, .. } => {
                Some((TimerId::from_parts(index, *generation), entry))
            }
            Place::Vacant => None,
        })
    }

    /// Takes link and entry of a handle out, unless that has been done already.
    #[inline]
    pub fn remove(&mut self, id: TimerId) -> Option<(L, E)> {
        let place = self.places.get_mut(id.index() as usize)?;
        match place {
            Place::Live { generation, .. } if *generation == id.generation() => {}
            _ => return None,
        }
        let (_, link, entry) = Self::vacate(place)?;
        self.release(id);
        Some((link, entry))
    }

    /// Takes out the entry at a place, whichever timer it is, with the handle it had.
    #[inline]
    pub fn remove_at(&mut self, index: u32) -> Option<(TimerId, E)> {
        let (generation, _, entry) = Self::vacate(self.places.get_mut(index as usize)?)?;
        let id = TimerId::from_parts(index, generation);
        self.release(id);
        Some((id, entry))
    }

    #[inline]
    fn vacate(place: &mut Place<E, L>) -> Option<(NonZeroU32, L, E)> {
        let Place::Live { generation, link, entry } = mem::replace(place, Place::Vacant) else {
            return None;
        };
        Some((generation, link, entry))
    }

    /// Makes the place of a handle free, unless it was its last.
    #[inline]
    fn release(&mut self, id: TimerId) {
        match id.next_of_place() {
            Some(next) => self.free.push(next),
            None => self.retired += 1,
        }
    }

    /// Sets the generation of a free place, so that a test need not insert four billion timers to
    /// reach the last.
    #[cfg(test)]
    fn set_generation(&mut self, index: u32, to: NonZeroU32) {
        self.free.pop();
        self.free.push(TimerId::from_parts(index, to));
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
    fn a_place_is_retired_before_its_generations_come_round() {
        let mut arena = Arena::new();
        let first = arena.insert(1);
        arena.remove(first);
        arena.set_generation(first.index(), NonZeroU32::MIN.saturating_add(u32::MAX - 2));
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
        assert!(arena.iter().eq([(id.index(), &8, &'b')]));
        assert_eq!((arena.link_at(id.index()), arena.link_at(99)), (Some(&8), None));
        assert_eq!(arena.remove(id), Some((8, 'b')));
        assert_eq!(arena.at_mut(id.index()), None);
        assert_eq!(arena.remove_at(id.index()), None);
        assert_eq!(arena.insert_linked(1, 'c').generation(), id.generation().saturating_add(1));
    }
}
