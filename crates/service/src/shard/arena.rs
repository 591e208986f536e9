//! The memory of jobs: an array that grows without moving its values, with a list of its free
//! entries. Segments without a value can be released.

use std::mem::{replace, take};
use std::ops::{Index, IndexMut};

/// A power of two, so that an index splits into segment and offset by a shift and a mask.
const SEGMENT: usize = 1024;

/// An arena with more values than this is not [spacious](Arena::is_spacious), so that releasing
/// memory moves the timers of some thousand jobs at most.
pub(super) const FEW: usize = 1024;

/// An arena with fewer segments than this is not spacious either. Searching this many segments
/// takes less than a millisecond.
const MANY: usize = 64;

/// The end of the free list: no entry has this index.
const NONE: u32 = u32::MAX;

/// An array of values. Indices are reused, the last freed first, since it is still in the caches.
///
/// `get`, `insert` and `remove` are O(1), except that the first segment grows by doubling, so that
/// few values take little memory.
pub(crate) struct Arena<T> {
    /// Those before `filling` are full. Released segments have no memory, and so no entries.
    segments: Vec<Vec<Entry<T>>>,
    filling: usize,
    /// The number of segments that were released and have not been filled again.
    released: usize,
    /// How many segments were left when memory was last released.
    kept: usize,
    free: u32,
    len: usize,
}

enum Entry<T> {
    /// A free entry, and the index of the next one.
    Free(u32),
    Used(T),
}

impl<T> Default for Arena<T> {
    fn default() -> Self {
        Self { segments: Vec::new(), filling: 0, released: 0, kept: 0, free: NONE, len: 0 }
    }
}

impl<T> Arena<T> {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// All indices are below this.
    pub(crate) fn end(&self) -> u32 {
        (self.segments.len() * SEGMENT) as u32
    }

    /// Stores a value in a free entry, and returns its index.
    #[inline]
    pub(crate) fn insert(&mut self, value: T) -> u32 {
        self.insert_with(|_| value)
    }

    /// The same for a value that contains its index.
    #[inline]
    pub(crate) fn insert_with(&mut self, value: impl FnOnce(u32) -> T) -> u32 {
        let mut index = self.free;
        if let Some(entry) = self.entry(index)
            && let Entry::Free(next) = *entry
        {
            *entry = Entry::Used(value(index));
            self.free = next;
        } else {
            debug_assert_eq!(self.free, NONE, "the list of free entries leads to a used one");
            let filling = self.segment_with_room();
            let next = filling * SEGMENT + self.segments[filling].len();
            // It fits: a backend holds fewer than 2^32 timers.
            debug_assert!(next < NONE as usize, "{next} is not an index");
            index = next as u32;
            self.segments[filling].push(Entry::Used(value(index)));
        }
        self.len += 1;
        index
    }

    /// The segment that is being filled. Cold: once the number of values stops growing, there is
    /// always a free entry.
    #[cold]
    fn segment_with_room(&mut self) -> usize {
        while self.segments.get(self.filling).is_some_and(|segment| segment.len() == SEGMENT) {
            self.filling += 1;
        }
        if self.filling == self.segments.len() {
            // The first grows by doubling.
            let room = if self.segments.is_empty() { 4 } else { SEGMENT };
            self.segments.push(Vec::with_capacity(room));
        } else if self.segments[self.filling].capacity() == 0 {
            // It was released. `is_empty` does not show that: if making its first value panics, a
            // segment stays empty after it was counted here.
            self.segments[self.filling].reserve_exact(SEGMENT);
            self.released -= 1;
        }
        self.filling
    }

    /// Returns `true` if most of the memory is unused, few values are left, and more can be
    /// released than the last time: the memory has grown since, or no value is left.
    #[inline]
    pub(crate) fn is_spacious(&self) -> bool {
        let kept = if self.len == 0 { 0 } else { self.kept };
        self.len <= FEW && self.segments.len() - self.released >= MANY + kept
    }

    /// Removes and returns the segments without a value, to be dropped without a lock. O(entries).
    pub(crate) fn shrink(&mut self) -> impl Sized + use<T> {
        let is_used = |entry: &Entry<T>| matches!(entry, Entry::Used(_));
        let unused = self.segments.iter_mut().filter(|segment| !segment.iter().any(is_used));
        let spare: Vec<_> = unused.map(take).collect();
        if self.len == 0 {
            self.segments = Vec::new();
        }
        self.filling = 0;
        self.released = self.segments.iter().filter(|segment| segment.is_empty()).count();
        self.kept = self.segments.len() - self.released;
        // Rebuilds the list of the remaining free entries.
        self.free = NONE;
        for (at, segment) in self.segments.iter_mut().enumerate().rev() {
            let free = segment.iter_mut().enumerate().filter(|(_, entry)| !is_used(entry));
            for (offset, entry) in free.rev() {
                let next = replace(&mut self.free, (at * SEGMENT + offset) as u32);
                *entry = Entry::Free(next);
            }
        }
        debug_assert_eq!(self.iter().count(), self.len, "no value is released");
        debug_assert!(self.free_list_is_complete(), "each free entry is in the list once");
        spare
    }

    /// Returns `true` if the list leads through all free entries, and no others. O(entries).
    fn free_list_is_complete(&self) -> bool {
        let entries: usize = self.segments.iter().map(Vec::len).sum();
        let mut index = self.free;
        for _ in self.len..entries {
            let at = index as usize;
            match self.segments.get(at / SEGMENT).and_then(|segment| segment.get(at % SEGMENT)) {
                Some(Entry::Free(next)) => index = *next,
                _ => return false,
            }
        }
        index == NONE
    }

    #[inline]
    fn entry(&mut self, index: u32) -> Option<&mut Entry<T>> {
        let index = index as usize;
        self.segments.get_mut(index / SEGMENT)?.get_mut(index % SEGMENT)
    }

    #[inline]
    pub(crate) fn get(&self, index: u32) -> Option<&T> {
        let index = index as usize;
        match self.segments.get(index / SEGMENT)?.get(index % SEGMENT)? {
            Entry::Used(value) => Some(value),
            Entry::Free(_) => None,
        }
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, index: u32) -> Option<&mut T> {
        match self.entry(index)? {
            Entry::Used(value) => Some(value),
            Entry::Free(_) => None,
        }
    }

    #[inline]
    pub(crate) fn remove(&mut self, index: u32) -> Option<T> {
        let free = self.free;
        let entry = self.entry(index)?;
        if matches!(entry, Entry::Free(_)) {
            return None;
        }
        let Entry::Used(value) = replace(entry, Entry::Free(free)) else {
            unreachable!("a free entry has just been excluded");
        };
        self.free = index;
        self.len -= 1;
        Some(value)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        (0..).zip(&self.segments).flat_map(|(at, segment)| {
            let first = at * SEGMENT as u32;
            (first..).zip(segment).filter_map(|(index, entry)| match entry {
                Entry::Used(value) => Some((index, value)),
                Entry::Free(_) => None,
            })
        })
    }
}

/// For an index that must be in use: if it is not, the value has been lost, and continuing would
/// hide that.
impl<T> Index<u32> for Arena<T> {
    type Output = T;

    #[inline]
    fn index(&self, index: u32) -> &T {
        self.get(index).unwrap_or_else(|| unused(index))
    }
}

impl<T> IndexMut<u32> for Arena<T> {
    #[inline]
    fn index_mut(&mut self, index: u32) -> &mut T {
        self.get_mut(index).unwrap_or_else(|| unused(index))
    }
}

#[cold]
fn unused(index: u32) -> ! {
    panic!("no value has the index {index}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// In a new segment, and in one that was released.
    #[test]
    fn a_panic_while_a_value_is_made_leaves_the_counts_right() {
        let fails = |arena: &mut Arena<usize>| {
            let inserts = || arena.insert_with(|_| panic!("no value"));
            assert!(catch_unwind(AssertUnwindSafe(inserts)).is_err());
        };
        let mut arena = Arena::default();
        fails(&mut arena);
        (0..=SEGMENT).for_each(|n| assert_eq!(arena.insert(n), n as u32));
        (0..SEGMENT).for_each(|n| assert_eq!(arena.remove(n as u32), Some(n)));
        drop(arena.shrink());
        assert_eq!((arena.released, arena.len()), (1, 1));
        fails(&mut arena);
        fails(&mut arena);
        assert_eq!((arena.insert(7), arena.released, arena.len()), (0, 0, 2));
    }
}
