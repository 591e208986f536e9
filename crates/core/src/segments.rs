//! An array that grows without moving its elements.
//!
//! A full `Vec` allocates twice the memory and copies all elements. With a million timers this
//! takes milliseconds in which nothing fires, and three times the memory during the copy.
//! [`Segments`] adds one segment of fixed size instead. An access needs one more load, because it
//! goes through a table of the segments. The table for a million elements takes 8 KB.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::{Index, IndexMut};

/// An array of segments of `N` elements each. `N` is a power of two, so a shift and a mask locate
/// an element. Reading and writing are O(1).
///
/// # Panics
///
/// Indexing panics past the end.
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

    /// Returns `true` if there is no element.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Adds segments of blank elements until there are at least `len` elements. O(1) for each
    /// element added. No element moves.
    #[cold]
    pub fn grow_to(&mut self, len: usize, mut blank: impl FnMut() -> X) {
        while self.len() < len {
            // Collected on the heap: an array would be built on the stack, and then copied.
            let elements: Vec<X> = core::iter::repeat_with(&mut blank).take(N).collect();
            match elements.into_boxed_slice().try_into() {
                Ok(segment) => self.segments.push(segment),
                Err(_) => unreachable!("the box has exactly N elements"),
            }
        }
    }

    /// An element; `None` past the end.
    #[inline]
    pub fn get(&self, at: usize) -> Option<&X> {
        Some(&self.segments.get(at / N)?[at % N])
    }

    /// All elements, in order.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = &X> {
        self.segments.iter().flat_map(|segment| segment.iter())
    }

    /// A mutable element; `None` past the end.
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
