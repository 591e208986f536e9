//! A stack of numbers that grows without moving what is on it.

use alloc::boxed::Box;
use alloc::vec::Vec;

/// Numbers in a piece of the stack.
const PIECE: usize = 1024;

type Piece = Box<[u32; PIECE]>;

/// A stack in pieces. `push` and `pop` are O(1), also at worst: no number is copied when the stack grows. Of the pieces that it no longer
/// needs it keeps one, so that pushing and popping at a seam does not allocate each time.
#[derive(Clone, Debug)]
pub(crate) struct Stack {
    /// The piece on top; `None` until something is pushed.
    top: Option<Piece>,
    /// How many numbers of it are in use.
    used: usize,
    /// The full pieces under it.
    full: Vec<Piece>,
    spare: Option<Piece>,
}

impl Stack {
    pub(crate) const fn new() -> Self {
        Self { top: None, used: 0, full: Vec::new(), spare: None }
    }

    /// The number on top.
    #[inline]
    pub(crate) fn peek(&self) -> Option<u32> {
        let top = self.top.as_ref()?;
        if self.used == 0 { self.full.last().map(|piece| piece[PIECE - 1]) } else { top.get(self.used - 1).copied() }
    }

    #[inline]
    pub(crate) fn push(&mut self, number: u32) {
        match &mut self.top {
            Some(top) if self.used < PIECE => top[self.used] = number,
            _ => self.push_on_new_piece(number),
        }
        self.used += 1;
    }

    #[cold]
    fn push_on_new_piece(&mut self, number: u32) {
        let mut piece = self.spare.take().unwrap_or_else(|| Box::new([0; PIECE]));
        piece[0] = number;
        self.full.extend(self.top.replace(piece));
        self.used = 0;
    }

    /// Takes the top off, which [`peek`](Self::peek) has shown.
    #[inline]
    pub(crate) fn pop(&mut self) {
        if self.used == 0 {
            self.take_full_piece();
        }
        self.used = self.used.saturating_sub(1);
    }

    #[cold]
    fn take_full_piece(&mut self) {
        if let Some(piece) = self.full.pop() {
            self.spare = self.top.replace(piece);
            self.used = PIECE;
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.full.len() * PIECE + self.used
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_is_the_first_across_the_seams() {
        let mut stack = Stack::new();
        stack.pop();
        assert_eq!((stack.peek(), stack.len()), (None, 0));
        for _ in 0..2 {
            (0..5_000).for_each(|n| stack.push(n));
            assert_eq!(stack.len(), 5_000);
            for n in (0..5_000).rev() {
                assert_eq!(stack.peek(), Some(n));
                stack.pop();
            }
            assert_eq!((stack.peek(), stack.len()), (None, 0));
        }
    }
}
