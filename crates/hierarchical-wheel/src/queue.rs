//! Slots as queues of chunks.
//!
//! A slot could be a linked list of timers. At a million timers each step of such a list is a cache miss that the next
//! step waits for: a hundred nanoseconds and more. So a slot is a queue of the timers' indices, in chunks of two cache lines that
//! are read in order, and the timers themselves can be fetched side by side. What is behind a chunk, and before it, is written in an array of its own: two words
//! for 32 timers, so that it stays in the caches, and going from chunk to chunk is no miss either.
//!
//! ```text
//! slot:  first ─────╮                                  last ─────╮
//!        ┌──────────▼──────────┐   ┌─────────────────────────────▼────────┐
//!        │ 7  12  ·  3 ...  41 │──▶│ 5  ·  ·  88  ...            16       │
//!        └─────────────────────┘   └──────────────────────────────────────┘
//! ```
//!
//! Where its index stands is the timer's [`Link`]. To cancel a timer, its index is overwritten with a hole (`·`), which takes
//! one write to memory that nothing waits for. Holes are skipped when they are met; when four of five positions of a slot are holes, what is
//! left moves together. In a slot that is too long to be tidied up at once, chunks are merged with their neighbours (`merge`).
//!
//! Chunks come from one pool and go back to it; the pool grows by whole blocks, so growing copies nothing.

mod merge;

use alloc::boxed::Box;
use alloc::vec::Vec;
use wheelhouse_core::arena::Link;
use wheelhouse_core::meter::{Meter, Work};
use wheelhouse_core::segments::Segments;
use wheelhouse_core::stack::Stack;

/// Words of a chunk: two cache lines, which processors fetch together.
pub(crate) const WORDS: u32 = 32;

/// The last position in a chunk.
const END: u32 = WORDS - 1;

/// What stands where a timer was.
pub(crate) const HOLE: u32 = u32::MAX;

/// There may be this many chunks, so that a position has 32 bits, and none means [`Slot::SPLIT`].
const MOST: u32 = u32::MAX / WORDS;

/// Words of a block, the piece in which the pool grows: 16 KiB.
const BLOCK: u32 = 4096;

/// Chunks side by side. A position is a number of a word; that of a block and that within it are its high and its low bits.
#[derive(Clone, Debug)]
#[repr(align(128))]
struct Block([u32; BLOCK as usize]);

/// The first position in a chunk.
#[inline]
fn first_of(chunk: u32) -> u32 {
    chunk * WORDS
}

/// The link to a position.
#[inline]
fn link_to(at: u32) -> Link {
    Link::new(at).unwrap_or(Link::MIN) // never zero: the first chunk is not used
}

/// A slot: a queue of timers, or, once it has become too large, a ring of slots of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    /// The first position not yet read; of a slot that is split, its ring.
    first: u32,
    /// The last position in use. One at the end of a chunk means that the next timer is not simply put behind it.
    last: u32,
    /// Positions from `first` to `last`, holes included.
    len: u32,
    /// Live timers in it; of a slot that is split, in all of its ring. The wheel keeps this; the queue does not look at it.
    pub(crate) live: u32,
}

const _: () = assert!(size_of::<Slot>() == 16);

impl Slot {
    pub(crate) const EMPTY: Self = Self { first: 0, last: END, len: 0, live: 0 };

    /// `last` in a slot that is split.
    const SPLIT: u32 = u32::MAX;

    /// A slot whose timers are in a ring.
    pub(crate) fn split(ring: u32, live: u32) -> Self {
        Self { first: ring, last: Self::SPLIT, len: 0, live }
    }

    /// The ring that the slot is split into.
    #[inline]
    pub(crate) fn ring(&self) -> Option<u32> {
        if self.last == Self::SPLIT { Some(self.first) } else { None }
    }

    /// Whether a timer can be put behind the last, without another chunk. Not if the slot is split.
    #[inline]
    pub(crate) fn has_room(&self) -> bool {
        self.last % WORDS != END
    }

    /// Whether it is to be tidied up: four of five positions are holes, beyond the chunk that any slot takes.
    #[inline]
    pub(crate) fn is_sparse(&self) -> bool {
        u64::from(self.len) > 5 * u64::from(self.live) + u64::from(END)
    }

    /// Positions in use, holes included.
    #[inline]
    pub(crate) fn len(&self) -> u32 {
        self.len
    }
}

/// A chunk read as a whole.
pub(crate) struct Batch {
    timers: [u32; WORDS as usize],
    len: usize,
}

impl Batch {
    /// What is no hole. Where a hole is cannot be foretold, so that a branch for each would often be mispredicted, and each time the
    /// processor would give up what it had begun to fetch of the timers behind.
    #[inline]
    fn of(words: &[u32]) -> Self {
        let mut batch = Self { timers: [0; WORDS as usize], len: 0 };
        for &word in words {
            batch.timers[batch.len % WORDS as usize] = word;
            batch.len += usize::from(word != HOLE);
        }
        batch
    }

    /// What is told of each of the timers in it, in order. To ask for all before the first is acted on is a loop so short that the processor
    /// fetches many timers side by side, as it does not between pieces of other work.
    #[inline]
    pub(crate) fn ask<X: Copy + Default>(&self, tell: impl Fn(u32) -> X) -> [X; WORDS as usize] {
        let mut told = [X::default(); WORDS as usize];
        told.iter_mut().zip(self.timers()).for_each(|(told, index)| *told = tell(index));
        told
    }

    /// The timers in it, in order.
    #[inline]
    pub(crate) fn timers(&self) -> impl Iterator<Item = u32> + '_ {
        self.timers[..self.len].iter().copied()
    }
}

/// The chunks before and behind one, if it is not the first or the last of its slot. Of one that is free, see `merge`.
#[derive(Clone, Copy, Debug)]
struct Neighbours {
    before: u32,
    behind: u32,
}

/// All chunks, and which of them are free.
#[derive(Clone, Debug)]
pub(crate) struct Pool {
    blocks: Vec<Box<Block>>,
    /// What is before and behind each chunk. Apart from the chunks, so that going from one to the next is no cache miss: those of a million
    /// timers take 256 KB.
    chain: Segments<Neighbours>,
    /// Free chunks. A list threaded through them would be a chain of misses, see [`arena`](wheelhouse_core::arena).
    free: Stack<u32>,
}

impl Pool {
    pub(crate) const fn new() -> Self {
        Self { blocks: Vec::new(), chain: Segments::new(), free: Stack::new() }
    }

    #[inline]
    fn word(&mut self, at: u32) -> &mut u32 {
        &mut self.blocks[(at / BLOCK) as usize].0[(at % BLOCK) as usize]
    }

    /// The words of a chunk.
    #[inline]
    fn chunk(&self, chunk: u32) -> &[u32] {
        let at = chunk * WORDS;
        &self.blocks[(at / BLOCK) as usize].0[(at % BLOCK) as usize..][..WORDS as usize]
    }

    /// The chunk behind one that is not the last of its slot.
    #[inline]
    fn behind(&self, chunk: u32) -> u32 {
        self.chain[chunk as usize].behind
    }

    /// Puts a timer behind all others of a slot: O(1), with an allocation once in some thousand times.
    #[inline]
    pub(crate) fn push(&mut self, slot: &mut Slot, index: u32) -> Link {
        let at = if slot.has_room() { slot.last + 1 } else { self.extend(slot) };
        self.put(slot, at, index)
    }

    /// The same for a slot that has room.
    #[inline]
    pub(crate) fn push_behind(&mut self, slot: &mut Slot, index: u32) -> Link {
        self.put(slot, slot.last + 1, index)
    }

    #[inline]
    fn put(&mut self, slot: &mut Slot, at: u32, index: u32) -> Link {
        *self.word(at) = index;
        slot.last = at;
        slot.len += 1;
        link_to(at)
    }

    /// Adds a chunk to a slot; returns its first position.
    #[inline(never)]
    fn extend(&mut self, slot: &mut Slot) -> u32 {
        let chunk = self.allocate();
        let at = first_of(chunk);
        if slot.len == 0 {
            slot.first = at;
            self.chain[chunk as usize].before = chunk; // none, and not what `merge` may have left there
        } else {
            self.connect(slot.last / WORDS, chunk);
        }
        at
    }

    /// Puts one chunk behind another.
    #[inline]
    fn connect(&mut self, before: u32, behind: u32) {
        self.chain[before as usize].behind = behind;
        self.chain[behind as usize].before = before;
    }

    /// Takes the first timer out, and all holes before it: O(1) amortised.
    #[inline]
    pub(crate) fn pop(&mut self, slot: &mut Slot, meter: &impl Meter) -> Option<u32> {
        while slot.len > 0 {
            meter.tally(Work::EntryScan, 1);
            let at = slot.first;
            let index = *self.word(at);
            slot.len -= 1;
            if slot.len == 0 {
                slot.last = END;
                self.free.push(at / WORDS);
            } else if at % WORDS == END {
                slot.first = first_of(self.behind(at / WORDS));
                self.free.push(at / WORDS);
            } else {
                slot.first = at + 1;
            }
            if index != HOLE {
                return Some(index);
            }
        }
        None
    }

    /// Takes the first chunk out of a slot as a whole.
    #[inline]
    pub(crate) fn pop_batch(&mut self, slot: &mut Slot) -> Option<Batch> {
        if slot.len == 0 {
            return None;
        }
        let chunk = slot.first / WORDS;
        let is_last = chunk == slot.last / WORDS;
        let (from, to) = (slot.first % WORDS, if is_last { slot.last % WORDS } else { END });
        let batch = Batch::of(&self.chunk(chunk)[from as usize..=to as usize]);
        slot.len -= to - from + 1;
        if is_last {
            slot.last = END;
        } else {
            slot.first = first_of(self.behind(chunk));
        }
        self.chain[chunk as usize].before = merge::FREED;
        self.free.push(chunk);
        Some(batch)
    }

    /// Tells timer and link of each position of a slot without holes, in so short a loop that the timers are fetched side by side.
    pub(crate) fn for_each(&self, slot: &Slot, mut tell: impl FnMut(u32, Link)) {
        let (mut at, mut left) = (slot.first, slot.len);
        while left > 0 {
            let count = left.min(WORDS - at % WORDS);
            let timers = &self.chunk(at / WORDS)[(at % WORDS) as usize..][..count as usize];
            timers.iter().zip(at..).for_each(|(index, at)| tell(*index, link_to(at)));
            left -= count;
            if left > 0 {
                at = first_of(self.behind(at / WORDS));
            }
        }
    }

    /// Makes a hole where a timer is.
    #[inline]
    pub(crate) fn erase(&mut self, link: Link) {
        *self.word(link.get()) = HOLE;
    }

    /// Empties a slot in which only holes are left: O(1) amortised, a step for each of its chunks.
    #[inline]
    pub(crate) fn clear(&mut self, slot: &mut Slot) {
        if slot.len > 0 {
            self.release_all(slot);
        }
        *slot = Slot::EMPTY;
    }

    #[inline(never)]
    fn release_all(&mut self, slot: &Slot) {
        let (mut chunk, last) = (slot.first / WORDS, slot.last / WORDS);
        while chunk != last {
            let next = self.behind(chunk);
            self.free.push(chunk);
            chunk = next;
        }
        self.free.push(last);
    }

    #[inline]
    fn allocate(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| self.grow())
    }

    /// Adds a block; returns its first chunk, the others are free.
    #[cold]
    fn grow(&mut self) -> u32 {
        let first = self.blocks.len() as u32 * (BLOCK / WORDS);
        let end = first + BLOCK / WORDS;
        assert!(end < MOST, "the slots of a wheel hold fewer than 2^32 timers and holes");
        self.blocks.push(Box::new(Block([0; BLOCK as usize])));
        self.chain.grow_to(end as usize, || Neighbours { before: 0, behind: 0 });
        // The first of all is not used: a link is not zero.
        let first = first.max(1);
        (first + 1..end).rev().for_each(|chunk| self.free.push(chunk));
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::VecDeque;
    use alloc::vec::Vec;
    use wheelhouse_core::meter::NoMeter;

    #[test]
    fn two_slots_are_two_queues_over_one_pool() {
        let mut pool = Pool::new();
        let mut slots = [Slot::EMPTY; 2];
        let mut expected = [VecDeque::new(), VecDeque::new()];
        for n in 0..20_000 {
            let which = (n % 7 / 4) as usize;
            if n % 1000 < 600 {
                let link = pool.push(&mut slots[which], n);
                if n % 3 == 0 {
                    pool.erase(link);
                } else {
                    expected[which].push_back(n);
                }
            } else {
                assert_eq!(pool.pop(&mut slots[which], &NoMeter), expected[which].pop_front());
            }
        }
        for which in 0..2 {
            while let Some(expected) = expected[which].pop_front() {
                assert_eq!(pool.pop(&mut slots[which], &NoMeter), Some(expected));
            }
            assert_eq!(pool.pop(&mut slots[which], &NoMeter), None);
            assert_eq!(slots[which].len(), 0);
        }
    }

    #[test]
    fn batches_come_out_in_order_and_chunks_are_used_again() {
        let mut pool = Pool::new();
        for _ in 0..100 {
            let mut slot = Slot::EMPTY;
            (0..1000).for_each(|n| _ = pool.push(&mut slot, n));
            assert_eq!(pool.pop(&mut slot, &NoMeter), Some(0));
            let mut read = Vec::new();
            while let Some(batch) = pool.pop_batch(&mut slot) {
                read.extend(batch.timers());
            }
            assert!(read.into_iter().eq(1..1000));
            assert_eq!(slot.len(), 0);
            (1..500).for_each(|n| _ = pool.push(&mut slot, n));
            pool.clear(&mut slot);
            assert_eq!(slot.len(), 0);
        }
        assert_eq!(pool.blocks.len(), 1, "freed chunks must be used before new ones");
    }
}
