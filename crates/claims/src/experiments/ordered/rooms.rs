//! Storage for the entries of a heap, which counts what it copies.

use wheelhouse_core::Tick;
use wheelhouse_core::segments::Segments;

/// Entries of a piece.
pub(super) const PIECE: usize = 1_024;

/// Where a heap has its entries.
pub(super) trait Room: Default {
    const NAME: &'static str;

    fn len(&self) -> usize;
    fn at(&self, place: usize) -> Tick;
    fn put(&mut self, place: usize, deadline: Tick);
    fn push(&mut self, deadline: Tick);
    fn pop(&mut self) -> Option<Tick>;

    /// Entries that there is room for.
    fn room(&self) -> usize;

    /// Entries, or references to pieces, that were copied because the room grew or shrank.
    fn copied(&self) -> u64;
}

/// One array, which doubles when it is full. Every time it may be copied as a whole.
#[derive(Default)]
pub(super) struct Array {
    entries: Vec<Tick>,
    copied: u64,
}

impl Room for Array {
    const NAME: &'static str = "array";

    fn len(&self) -> usize {
        self.entries.len()
    }

    fn at(&self, place: usize) -> Tick {
        self.entries[place]
    }

    fn put(&mut self, place: usize, deadline: Tick) {
        self.entries[place] = deadline;
    }

    fn push(&mut self, deadline: Tick) {
        if self.entries.len() == self.entries.capacity() {
            self.copied += self.entries.len() as u64;
        }
        self.entries.push(deadline);
    }

    fn pop(&mut self) -> Option<Tick> {
        self.entries.pop()
    }

    fn room(&self) -> usize {
        self.entries.capacity()
    }

    fn copied(&self) -> u64 {
        self.copied
    }
}

/// An array that is halved when three quarters of it are unused.
#[derive(Default)]
pub(super) struct Shrinking(Array);

impl Room for Shrinking {
    const NAME: &'static str = "array that shrinks";

    fn len(&self) -> usize {
        self.0.len()
    }

    fn at(&self, place: usize) -> Tick {
        self.0.at(place)
    }

    fn put(&mut self, place: usize, deadline: Tick) {
        self.0.put(place, deadline);
    }

    fn push(&mut self, deadline: Tick) {
        self.0.push(deadline);
    }

    fn pop(&mut self) -> Option<Tick> {
        let popped = self.0.pop();
        let Array { entries, copied } = &mut self.0;
        if entries.len() < entries.capacity() / 4 {
            *copied += entries.len() as u64;
            entries.shrink_to(entries.capacity() / 2);
        }
        popped
    }

    fn room(&self) -> usize {
        self.0.room()
    }

    fn copied(&self) -> u64 {
        self.0.copied()
    }
}

/// Arrays of fixed size, found through a table. One that is empty is kept, so that popping and pushing at a seam takes and gives back nothing.
#[derive(Default)]
pub(super) struct Pieces {
    pieces: Vec<Vec<Tick>>,
    len: usize,
    copied: u64,
}

impl Room for Pieces {
    const NAME: &'static str = "pieces of 1,024";

    fn len(&self) -> usize {
        self.len
    }

    fn at(&self, place: usize) -> Tick {
        self.pieces[place / PIECE][place % PIECE]
    }

    fn put(&mut self, place: usize, deadline: Tick) {
        self.pieces[place / PIECE][place % PIECE] = deadline;
    }

    fn push(&mut self, deadline: Tick) {
        if self.len == self.pieces.len() * PIECE {
            if self.pieces.len() == self.pieces.capacity() {
                self.copied += self.pieces.len() as u64;
            }
            self.pieces.push(Vec::with_capacity(PIECE));
        }
        self.pieces[self.len / PIECE].push(deadline);
        self.len += 1;
    }

    fn pop(&mut self) -> Option<Tick> {
        self.len = self.len.checked_sub(1)?;
        let popped = self.pieces[self.len / PIECE].pop();
        self.pieces.truncate(self.len.div_ceil(PIECE) + 1);
        popped
    }

    fn room(&self) -> usize {
        self.pieces.len() * PIECE
    }

    fn copied(&self) -> u64 {
        self.copied
    }
}

/// The storage of the arena: it grows without moving anything, and never shrinks.
#[derive(Default)]
pub(super) struct Segmented {
    entries: Segments<Tick, PIECE>,
    len: usize,
    copied: u64,
}

impl Room for Segmented {
    const NAME: &'static str = "segments of the arena";

    fn len(&self) -> usize {
        self.len
    }

    fn at(&self, place: usize) -> Tick {
        self.entries[place]
    }

    fn put(&mut self, place: usize, deadline: Tick) {
        self.entries[place] = deadline;
    }

    fn push(&mut self, deadline: Tick) {
        if self.len == self.entries.len() {
            let before = self.entries.get(0).map(std::ptr::from_ref);
            self.entries.grow_to(self.len + 1, || 0);
            let after = self.entries.get(0).map(std::ptr::from_ref);
            if before.is_some() && before != after {
                self.copied += self.len as u64;
            }
        }
        self.entries[self.len] = deadline;
        self.len += 1;
    }

    fn pop(&mut self) -> Option<Tick> {
        self.len = self.len.checked_sub(1)?;
        Some(self.entries[self.len])
    }

    fn room(&self) -> usize {
        self.entries.len()
    }

    fn copied(&self) -> u64 {
        self.copied
    }
}
