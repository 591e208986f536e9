//! Where jobs lie: an array that grows without moving what is in it, with a list of its free
//! places.

use std::mem::replace;

/// A power of two, so that a place is a shift and a mask.
const SEGMENT: usize = 1024;

/// The end of the list: no place has this index.
const NONE: u32 = u32::MAX;

/// An array of values under indices that are used again: the last that was freed first, as it is in
/// the caches still.
///
/// All operations are O(1), but that the first segment grows by doubling, so that few values take
/// little room.
pub(crate) struct Arena<T> {
    segments: Vec<Vec<Place<T>>>,
    free: u32,
    len: usize,
}

enum Place<T> {
    /// The next free place.
    Free(u32),
    Used(T),
}

impl<T> Default for Arena<T> {
    fn default() -> Self {
        Self { segments: Vec::new(), free: NONE, len: 0 }
    }
}

impl<T> Arena<T> {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// How many places there are, used and free.
    pub(crate) fn places(&self) -> u32 {
        let full = self.segments.len().saturating_sub(1) * SEGMENT;
        (full + self.segments.last().map_or(0, Vec::len)) as u32
    }

    /// Puts a value at a free place.
    #[inline]
    pub(crate) fn insert(&mut self, value: T) -> u32 {
        self.insert_with(|_| value)
    }

    /// The same for a value that knows its index.
    #[inline]
    pub(crate) fn insert_with(&mut self, value: impl FnOnce(u32) -> T) -> u32 {
        let mut index = self.free;
        if let Some(place) = self.place(index)
            && let Place::Free(next) = *place
        {
            *place = Place::Used(value(index));
            self.free = next;
        } else {
            // No more than 2^31 jobs are admitted.
            index = self.places();
            self.push(value(index));
        }
        self.len += 1;
        index
    }

    /// Out of the way of who finds a free place, as most do once there are as many as ever.
    #[cold]
    fn push(&mut self, value: T) {
        match self.segments.last_mut() {
            Some(last) if last.len() < SEGMENT => last.push(Place::Used(value)),
            last => {
                let room = if last.is_some() { SEGMENT } else { 4 };
                let mut segment = Vec::with_capacity(room);
                segment.push(Place::Used(value));
                self.segments.push(segment);
            }
        }
    }

    #[inline]
    fn place(&mut self, index: u32) -> Option<&mut Place<T>> {
        let index = index as usize;
        self.segments.get_mut(index / SEGMENT)?.get_mut(index % SEGMENT)
    }

    #[inline]
    pub(crate) fn get(&self, index: u32) -> Option<&T> {
        let index = index as usize;
        match self.segments.get(index / SEGMENT)?.get(index % SEGMENT)? {
            Place::Used(value) => Some(value),
            Place::Free(_) => None,
        }
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, index: u32) -> Option<&mut T> {
        match self.place(index)? {
            Place::Used(value) => Some(value),
            Place::Free(_) => None,
        }
    }

    #[inline]
    pub(crate) fn remove(&mut self, index: u32) -> Option<T> {
        let free = self.free;
        let place = self.place(index)?;
        if matches!(place, Place::Free(_)) {
            return None;
        }
        let Place::Used(value) = replace(place, Place::Free(free)) else { return None };
        self.free = index;
        self.len -= 1;
        Some(value)
    }

    /// All values with their indices.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        let places = self.segments.iter().flatten();
        (0..).zip(places).filter_map(|(index, place)| match place {
            Place::Used(value) => Some((index, value)),
            Place::Free(_) => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_used_again_and_values_stay_where_they_are() {
        let mut arena = Arena::default();
        for n in 0..3 * SEGMENT as u32 {
            assert_eq!((arena.places(), arena.insert(n)), (n, n));
        }
        let first: *const u32 = arena.get(0).unwrap();
        assert_eq!((arena.remove(5), arena.remove(5), arena.get(5)), (Some(5), None, None));
        assert_eq!(arena.remove(2000), Some(2000));
        assert_eq!((arena.insert(7), arena.insert_with(|at| at + 3)), (2000, 5));
        assert_eq!(arena.len(), 3 * SEGMENT);
        assert_eq!((arena.get(5).copied(), arena.get_mut(2000)), (Some(8), Some(&mut 7)));
        assert_eq!((arena.insert(9), arena.get(1 << 20)), (3 * SEGMENT as u32, None));
        assert!(std::ptr::eq(first, arena.get(0).unwrap()));
        assert_eq!(arena.iter().filter(|(index, value)| index != *value).count(), 3);
    }
}
