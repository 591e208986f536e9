//! A stack that grows without moving what is on it.

use alloc::boxed::Box;
use alloc::vec::Vec;

/// Elements in a piece of the stack.
const PIECE: usize = 1024;

type Piece<X> = Box<[X; PIECE]>;

/// A stack in pieces of 1,024. `push` and `pop` are O(1); at worst one of 1,024 pushes fills a new piece, and the table of the pieces doubles: no element is
/// moved when the stack grows. Of the pieces that it no longer needs it keeps one, so that pushing and popping at a seam does not allocate each time.
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
    /// The piece on top; `None` until something is pushed.
    top: Option<Piece<X>>,
    /// How many elements of it are in use.
    used: usize,
    /// The full pieces under it.
    full: Vec<Piece<X>>,
    spare: Option<Piece<X>>,
}

impl<X: Copy> Default for Stack<X> {
    fn default() -> Self {
        Self::new()
    }
}

impl<X: Copy> Stack<X> {
    /// An empty stack. Allocates nothing.
    pub const fn new() -> Self {
        Self { top: None, used: 0, full: Vec::new(), spare: None }
    }

    /// What is on top.
    #[inline]
    pub fn peek(&self) -> Option<X> {
        let top = self.top.as_ref()?;
        if self.used == 0 { self.full.last().map(|piece| piece[PIECE - 1]) } else { top.get(self.used - 1).copied() }
    }

    /// Puts an element on top.
    #[inline]
    pub fn push(&mut self, element: X) {
        match &mut self.top {
            Some(top) if self.used < PIECE => top[self.used] = element,
            _ => self.push_on_new_piece(element),
        }
        self.used += 1;
    }

    #[cold]
    fn push_on_new_piece(&mut self, element: X) {
        let mut piece = self.spare.take().unwrap_or_else(|| Box::new([element; PIECE]));
        piece[0] = element;
        self.full.extend(self.top.replace(piece));
        self.used = 0;
    }

    /// Takes the top off.
    #[inline]
    pub fn pop(&mut self) -> Option<X> {
        if self.used == 0 {
            self.take_full_piece();
        }
        self.used = self.used.checked_sub(1)?;
        self.top.as_ref()?.get(self.used).copied()
    }

    #[cold]
    fn take_full_piece(&mut self) {
        if let Some(piece) = self.full.pop() {
            self.spare = self.top.replace(piece);
            self.used = PIECE;
        }
    }

    /// The number of elements.
    #[inline]
    pub fn len(&self) -> usize {
        self.full.len() * PIECE + self.used
    }

    /// Whether nothing is on it.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_is_the_first_across_the_seams() {
        let mut stack = Stack::new();
        assert_eq!((stack.pop(), stack.peek(), stack.len()), (None, None, 0));
        for _ in 0..2 {
            (0..5_000).for_each(|n| stack.push(n));
            assert_eq!(stack.len(), 5_000);
            for n in (0..5_000).rev() {
                assert_eq!(stack.peek(), Some(n));
                assert_eq!(stack.pop(), Some(n));
            }
            assert_eq!((stack.pop(), stack.peek(), stack.is_empty()), (None, None, true));
        }
    }
}
