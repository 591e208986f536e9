//! An array that grows without moving what is in it.
//!
//! A `Vec` that is full allocates twice the room and copies everything over: at a million timers,
//! milliseconds in which nothing fires, and for a while three times the memory. [`Segments`] adds
//! one piece of fixed size instead. An element is found through a table of the pieces, which is a
//! load more; the table of a million entries is 8 KB.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::{Index, IndexMut};

/// An array of segments of `N` elements each: a power of two, so that the place of an element is a
/// shift and a mask. Reading and writing are O(1).
///
/// # Panics
///
/// Indexing, and [`slice`](Self::slice), panic past the end.
///
/// ```
/// use wheelhouse_core::segments::Segments;
///
/// let mut numbers: Segments<u32> = Segments::new();
/// numbers.grow_to(1_500, || 0);
/// numbers[1_499] = 7;
/// assert_eq!((numbers.get(1_499), numbers.get(1_000_000)), (Some(&7), None));
/// ```
#[derive(Clone, Debug)]
pub struct Segments<X, const N: usize = 1024> {
    segments: Vec<Box<[X; N]>>,
}

impl<X, const N: usize> Default for Segments<X, N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<X, const N: usize> Segments<X, N> {
    /// No elements. Allocates nothing.
    pub const fn new() -> Self {
        const { assert!(N.is_power_of_two(), "the elements of a segment are a power of two") };
        Self { segments: Vec::new() }
    }

    /// The number of elements: a multiple of `N`.
    #[inline]
    pub fn len(&self) -> usize {
        self.segments.len() * N
    }

    /// Whether there is no element.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Adds segments of blank elements until there are at least `len`. O(1) for each element added;
    /// none is moved.
    #[cold]
    pub fn grow_to(&mut self, len: usize, mut blank: impl FnMut() -> X) {
        while self.len() < len {
            let elements: Vec<X> = core::iter::repeat_with(&mut blank).take(N).collect();
            match elements.into_boxed_slice().try_into() {
                Ok(segment) => self.segments.push(segment),
                Err(_) => unreachable!("as many elements as a segment has"),
            }
        }
    }

    /// An element, if there are as many.
    #[inline]
    pub fn get(&self, at: usize) -> Option<&X> {
        Some(&self.segments.get(at / N)?[at % N])
    }

    /// All elements, in order.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = &X> {
        self.segments.iter().flat_map(|segment| segment.iter())
    }

    /// `len` elements from `at` on, which must all be in one segment: they are if `len` divides
    /// both `N` and `at`.
    #[inline]
    pub fn slice(&self, at: usize, len: usize) -> &[X] {
        &self.segments[at / N][at % N..][..len]
    }

    /// An element to be changed, if there are as many.
    #[inline]
    pub fn get_mut(&mut self, at: usize) -> Option<&mut X> {
        Some(&mut self.segments.get_mut(at / N)?[at % N])
    }
}

impl<X, const N: usize> Index<usize> for Segments<X, N> {
    type Output = X;

    #[inline]
    fn index(&self, at: usize) -> &X {
        &self.segments[at / N][at % N]
    }
}

impl<X, const N: usize> IndexMut<usize> for Segments<X, N> {
    #[inline]
    fn index_mut(&mut self, at: usize) -> &mut X {
        &mut self.segments[at / N][at % N]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growing_moves_nothing() {
        let mut numbers: Segments<i32, 64> = Segments::new();
        assert!(numbers.is_empty() && numbers.get(0).is_none());
        numbers.grow_to(1, || 5);
        let first: *const i32 = &numbers[0];
        numbers[64 - 1] = 6;
        numbers.grow_to(10 * 64 + 1, || 5);
        assert_eq!((numbers.len(), numbers[64 - 1], numbers[10 * 64]), (11 * 64, 6, 5));
        assert!(core::ptr::eq(first, &numbers[0]));
        assert_eq!(numbers.get(11 * 64), None);
        assert_eq!(numbers.get_mut(11 * 64), None);
    }
}
