//! A stack that grows without moving its elements.

use alloc::vec::Vec;
use core::mem;

/// The number of elements of a piece. The first may have more.
const PIECE: usize = 1024;

/// A stack in pieces of 1,024 elements. `push` and `pop` are O(1). At worst, one of 1,024 pushes
/// allocates a new piece and doubles the table of pieces. Elements do not move when the stack
/// grows, except those of the first piece, which starts small. The stack keeps one empty piece, so
/// that pushing and popping at the boundary of a piece does not allocate each time.
///
/// ```
/// use wheelhouse_core::stack::Stack;
///
/// let mut free = Stack::new();
/// free.push(3);
/// free.push(4);
/// assert_eq!((free.pop(), free.peek(), free.len()), (Some(4), Some(3), 1));
/// ```
#[derive(Clone, Debug)]
pub struct Stack<X> {
    top: Vec<X>,
    /// The full pieces below it, and the number of their elements.
    full: Vec<Vec<X>>,
    below: usize,
    spare: Vec<X>,
}

impl<X: Copy> Default for Stack<X> {
    fn default() -> Self {
        Self::new()
    }
}

impl<X: Copy> Stack<X> {
    /// An empty stack. Allocates nothing.
    pub const fn new() -> Self {
        Self { top: Vec::new(), full: Vec::new(), below: 0, spare: Vec::new() }
    }

    /// An empty stack with room for this many elements.
    pub fn with_capacity(elements: usize) -> Self {
        Self { top: Vec::with_capacity(elements), ..Self::new() }
    }

    /// The top element.
    #[inline]
    pub fn peek(&self) -> Option<X> {
        // A pop may leave the top piece empty. Then the last full piece has the top element.
        self.top.last().or_else(|| self.full.last()?.last()).copied()
    }

    /// Pushes an element.
    #[inline]
    pub fn push(&mut self, element: X) {
        if self.top.len() == self.top.capacity() {
            self.make_room();
        }
        self.top.push(element);
    }

    /// Grows the top piece, or starts a new piece if the top piece is full.
    #[cold]
    fn make_room(&mut self) {
        if self.top.len() < PIECE {
            // Doubles up to one piece, so that a stack of few elements takes little memory.
            let more = self.top.len().max(8).min(PIECE - self.top.len());
            self.top.reserve_exact(more);
            return;
        }
        let mut piece = mem::take(&mut self.spare);
        // Allocates nothing if there was a spare piece.
        piece.reserve_exact(PIECE);
        self.below += self.top.len();
        self.full.push(mem::replace(&mut self.top, piece));
    }

    /// Removes the top element and returns it.
    #[inline]
    pub fn pop(&mut self) -> Option<X> {
        match self.top.pop() {
            None if !self.full.is_empty() => self.pop_full_piece(),
            top => top,
        }
    }

    #[cold]
    fn pop_full_piece(&mut self) -> Option<X> {
        let piece = self.full.pop()?;
        self.below -= piece.len();
        self.spare = mem::replace(&mut self.top, piece);
        debug_assert!(self.spare.is_empty(), "no element is lost with the spare piece");
        self.top.pop()
    }

    /// The number of elements.
    #[inline]
    pub fn len(&self) -> usize {
        self.below + self.top.len()
    }

    /// Returns `true` if the stack is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_pushed_is_popped_first_across_pieces() {
        for mut stack in [0, 500, 2_000, 9_000].map(Stack::with_capacity) {
            assert_eq!((stack.pop(), stack.peek(), stack.len()), (None, None, 0));
            for _ in 0..2 {
                (0..5_000).for_each(|n| stack.push(n));
                for n in (0..5_000).rev() {
                    assert_eq!((stack.peek(), stack.len()), (Some(n), n + 1));
                    assert_eq!(stack.pop(), Some(n));
                }
                assert_eq!((stack.pop(), stack.peek(), stack.is_empty()), (None, None, true));
            }
        }
    }
}
