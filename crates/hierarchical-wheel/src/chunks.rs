//! Slots as lists of chunks.
//!
//! A slot could be a linked list of timers. At a million timers each step of such a list is a cache miss that the next
//! step waits for: a hundred nanoseconds and more. So a slot holds [`Reference`]s, in chunks of [`CHUNK`] that lie side by
//! side and are read in order; one step in thirty follows a link. A reference carries its deadline, so timers move between
//! levels without being touched.
//!
//! ```text
//! slot:  head ──▶ ┌────────────────────────┐   ┌────────────────────────┐
//!                 │ ref ref ref ... ref    │──▶│ ref ref -   ...        │◀── tail
//!                 └────────────────────────┘   └────────────────────────┘
//!                    ▲ read                            ▲ fill
//! ```
//!
//! Chunks come from one pool and go back to it; the pool grows by whole segments, so growing copies nothing.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::Range;
use wheelhouse_core::arena::Reference;

/// References in a chunk: 30 of 16 bytes and a link are just under eight cache lines.
const CHUNK: usize = 30;

/// Chunks in a segment of the pool, about 32 KiB.
const SEGMENT: usize = 64;

const NONE: u32 = u32::MAX;

#[derive(Clone, Debug)]
struct Chunk {
    references: [Reference; CHUNK],
    next: u32,
}

/// A slot: a queue of references.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    head: u32,
    tail: u32,
    /// The first reference of the head chunk that was not read yet.
    read: u16,
    /// How many references of the tail chunk are in use; all chunks before it are full.
    fill: u16,
    /// References in the queue, stale ones included.
    len: u32,
    /// How many of them are current. The wheel keeps this; the queue does not look at stamps.
    pub(crate) live: u32,
}

impl Slot {
    pub(crate) const EMPTY: Self = Self { head: NONE, tail: NONE, read: 0, fill: 0, len: 0, live: 0 };

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len as usize
    }

    /// References in the queue that are not current.
    #[inline]
    pub(crate) fn stale(&self) -> usize {
        (self.len - self.live) as usize
    }

    /// Where the unread references of the head chunk end.
    #[inline]
    fn head_end(&self) -> usize {
        if self.head == self.tail { self.fill as usize } else { CHUNK }
    }
}

/// A chunk that is in no slot and not free: it is being read.
#[derive(Debug)]
pub(crate) struct Detached {
    at: u32,
    from: usize,
    to: usize,
}

impl Detached {
    /// Where its unread references are.
    pub(crate) fn range(&self) -> Range<usize> {
        self.from..self.to
    }
}

/// All chunks, and which of them are free.
#[derive(Clone, Debug)]
pub(crate) struct ChunkPool {
    segments: Vec<Box<[Chunk]>>,
    /// The head of the list of free chunks, linked by `next`.
    free: u32,
}

impl ChunkPool {
    pub(crate) const fn new() -> Self {
        Self { segments: Vec::new(), free: NONE }
    }

    #[inline]
    fn chunk(&self, at: u32) -> &Chunk {
        &self.segments[at as usize / SEGMENT][at as usize % SEGMENT]
    }

    #[inline]
    fn chunk_mut(&mut self, at: u32) -> &mut Chunk {
        &mut self.segments[at as usize / SEGMENT][at as usize % SEGMENT]
    }

    /// Appends a reference: O(1), with an allocation of one segment once in [`CHUNK`] * [`SEGMENT`] times.
    #[inline]
    pub(crate) fn push(&mut self, slot: &mut Slot, reference: Reference) {
        if slot.tail == NONE || slot.fill as usize == CHUNK {
            self.append_chunk(slot);
        }
        let fill = slot.fill as usize;
        self.chunk_mut(slot.tail).references[fill] = reference;
        slot.fill += 1;
        slot.len += 1;
    }

    fn append_chunk(&mut self, slot: &mut Slot) {
        let at = self.allocate();
        if slot.tail == NONE {
            slot.head = at;
            slot.read = 0;
        } else {
            self.chunk_mut(slot.tail).next = at;
        }
        slot.tail = at;
        slot.fill = 0;
    }

    /// Takes the first reference out: O(1).
    #[inline]
    pub(crate) fn pop(&mut self, slot: &mut Slot) -> Option<Reference> {
        if slot.len == 0 {
            return None;
        }
        let reference = self.chunk(slot.head).references[slot.read as usize];
        slot.read += 1;
        slot.len -= 1;
        if slot.read as usize == slot.head_end() {
            let detached = Detached { at: slot.head, from: 0, to: 0 };
            self.step(slot);
            self.release(detached);
        }
        Some(reference)
    }

    /// Takes the whole first chunk out of a slot. It is to be given back with [`release`](Self::release).
    #[inline]
    pub(crate) fn detach(&mut self, slot: &mut Slot) -> Option<Detached> {
        if slot.len == 0 {
            return None;
        }
        let detached = Detached { at: slot.head, from: slot.read as usize, to: slot.head_end() };
        slot.len -= (detached.to - detached.from) as u32;
        self.step(slot);
        Some(detached)
    }

    /// A reference of a detached chunk.
    #[inline]
    pub(crate) fn reference(&self, detached: &Detached, at: usize) -> Reference {
        self.chunk(detached.at).references[at]
    }

    /// Makes a detached chunk free.
    #[inline]
    pub(crate) fn release(&mut self, Detached { at, .. }: Detached) {
        self.chunk_mut(at).next = self.free;
        self.free = at;
    }

    /// Empties a slot, whatever is in it: O(1).
    pub(crate) fn clear(&mut self, slot: &mut Slot) {
        if slot.tail != NONE {
            self.chunk_mut(slot.tail).next = self.free;
            self.free = slot.head;
        }
        *slot = Slot::EMPTY;
    }

    /// Makes the second chunk of a slot its first.
    #[inline]
    fn step(&mut self, slot: &mut Slot) {
        if slot.head == slot.tail {
            (slot.head, slot.tail, slot.fill) = (NONE, NONE, 0);
        } else {
            slot.head = self.chunk(slot.head).next;
        }
        slot.read = 0;
    }

    #[inline]
    fn allocate(&mut self) -> u32 {
        if self.free == NONE {
            self.grow();
        }
        let at = self.free;
        let chunk = self.chunk_mut(at);
        let next = core::mem::replace(&mut chunk.next, NONE);
        self.free = next;
        at
    }

    #[cold]
    fn grow(&mut self) {
        let first = (self.segments.len() * SEGMENT) as u32;
        let empty = Reference { deadline: 0, index: 0, stamp: 0 };
        let chunk = |at: u32| Chunk {
            references: [empty; CHUNK],
            next: if at as usize + 1 == SEGMENT { NONE } else { first + at + 1 },
        };
        self.segments.push((0..SEGMENT as u32).map(chunk).collect());
        self.free = first;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::VecDeque;

    fn reference(n: u64) -> Reference {
        Reference { deadline: n, index: n as u32, stamp: 0 }
    }

    #[test]
    fn two_slots_are_two_queues_over_one_pool() {
        let mut pool = ChunkPool::new();
        let mut slots = [Slot::EMPTY; 2];
        let mut expected = [VecDeque::new(), VecDeque::new()];
        for n in 0..20_000 {
            let which = (n % 7 / 4) as usize;
            if n % 1000 < 600 {
                pool.push(&mut slots[which], reference(n));
                expected[which].push_back(reference(n));
            } else {
                assert_eq!(pool.pop(&mut slots[which]), expected[which].pop_front());
            }
            assert_eq!(slots[which].len(), expected[which].len());
        }
        for which in 0..2 {
            while let Some(expected) = expected[which].pop_front() {
                assert_eq!(pool.pop(&mut slots[which]), Some(expected));
            }
            assert_eq!(pool.pop(&mut slots[which]), None);
        }
    }

    #[test]
    fn chunks_come_out_in_order_and_are_used_again() {
        let mut pool = ChunkPool::new();
        for _ in 0..100 {
            let mut slot = Slot::EMPTY;
            (0..1000).for_each(|n| pool.push(&mut slot, reference(n)));
            assert_eq!(pool.pop(&mut slot), Some(reference(0)));
            let mut next = 1;
            while let Some(chunk) = pool.detach(&mut slot) {
                for at in chunk.range() {
                    assert_eq!(pool.reference(&chunk, at), reference(next));
                    next += 1;
                }
                pool.release(chunk);
            }
            assert_eq!((next, slot.len()), (1000, 0));
            pool.push(&mut slot, reference(1));
            (2..500).for_each(|n| pool.push(&mut slot, reference(n)));
            pool.clear(&mut slot);
            assert_eq!(slot.len(), 0);
        }
        assert_eq!(pool.segments.len(), 1, "freed chunks must be used before new ones");
    }
}
