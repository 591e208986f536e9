//! Tidying up a queue that is too long for doing so at once.
//!
//! Two chunks, one behind the other, that are left with [`FEW`] timers between them become one. That takes as many steps as two chunks have
//! words, however long the queue is. It costs more for each hole than moving all that is left of a queue together, so that it
//! is for those queues alone whose length would make a single call stall: of timers due at the same tick.

use super::{Batch, END, HOLE, Neighbours, Pool, Slot, WORDS, first_of, link_to};
use wheelhouse_core::arena::Link;

/// Two neighbours with no more timers than this are merged.
const FEW: usize = 8;

/// What stands for the chunk before one that is free: it was merged with another, or read out as a whole. Nothing is left to do for a timer that was there.
///
/// Such a timer's link may still be among those to be accounted for, and must not lead into a chunk that is free, or serves another slot by then. The mark is for the
/// first. The second does not happen: while timers are accounted for, chunks are taken only to put together what has just been read out of others, which were put on the
/// stack of the free after this one, and as many. One that is taken by its own slot loses the mark, and is a chunk like others of it.
pub(super) const FREED: u32 = u32::MAX - 1;

/// A chunk of a slot, and the positions in it that are in use.
#[derive(Clone, Copy)]
struct Part {
    chunk: u32,
    from: u32,
    to: u32,
}

impl Pool {
    /// Merges the chunk of a timer that has left with a neighbour, if both have few timers. `moved` is told where each timer is now. Returns
    /// how many positions were read.
    pub(crate) fn merge(&mut self, slot: &mut Slot, link: Link, moved: impl FnMut(u32, Link)) -> u32 {
        let chunk = link.get() / WORDS;
        let Neighbours { before, behind } = self.chain[chunk as usize];
        if before == FREED {
            return 0;
        }
        let part = self.part(slot, chunk);
        let left = self.timers_of(part);
        if left > FEW {
            return WORDS;
        }
        let before = (chunk != slot.first / WORDS).then(|| (self.part(slot, before), part));
        let behind = (chunk != slot.last / WORDS).then(|| (part, self.part(slot, behind)));
        let mut pairs = before.into_iter().chain(behind);
        if let Some((a, b)) = pairs.find(|(a, b)| self.timers_of(*a) + self.timers_of(*b) <= FEW) {
            self.join(slot, a, b, moved);
        }
        3 * WORDS
    }

    /// A chunk of a slot.
    fn part(&self, slot: &Slot, chunk: u32) -> Part {
        let from = if chunk == slot.first / WORDS { slot.first % WORDS } else { 0 };
        let to = if chunk == slot.last / WORDS { slot.last % WORDS } else { END };
        Part { chunk, from, to }
    }

    fn words(&self, part: Part) -> &[u32] {
        &self.chunk(part.chunk)[part.from as usize..=part.to as usize]
    }

    fn timers_of(&self, part: Part) -> usize {
        self.words(part).iter().filter(|word| **word != HOLE).count()
    }

    /// Moves the timers of `b`, which is behind `a`, to `a`.
    fn join(&mut self, slot: &mut Slot, a: Part, b: Part, mut moved: impl FnMut(u32, Link)) {
        let batches = [a, b].map(|part| Batch::of(self.words(part)));
        let start = first_of(a.chunk);
        let mut to = start;
        for index in batches.iter().flat_map(Batch::timers) {
            *self.word(to) = index;
            moved(index, link_to(to));
            to += 1;
        }
        let is_last = b.chunk == slot.last / WORDS;
        // Every chunk but the last is in use up to its end, and the last has at least one position in use.
        let end = if is_last { to.max(start + 1) } else { start + WORDS };
        (to..end).for_each(|at| *self.word(at) = HOLE);
        if is_last {
            slot.last = end - 1;
        } else {
            self.connect(a.chunk, self.behind(b.chunk));
        }
        if a.chunk == slot.first / WORDS {
            slot.first = start;
        }
        slot.len -= (a.to + 1 - a.from) + (b.to + 1 - b.from) - (end - start);
        self.chain[b.chunk as usize].before = FREED;
        self.free.push(b.chunk);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::VecDeque;
    use alloc::vec::Vec;
    use wheelhouse_core::meter::NoMeter;

    /// The most positions for each timer, but for two chunks: two neighbours have more than [`FEW`].
    const POSITIONS: usize = (2 * WORDS as usize).div_ceil(FEW + 1);

    /// A queue of timers, their links, and what it should be.
    struct Queue {
        pool: Pool,
        slot: Slot,
        links: Vec<Link>,
        expected: VecDeque<u32>,
    }

    impl Queue {
        fn new() -> Self {
            Self { pool: Pool::new(), slot: Slot::EMPTY, links: Vec::new(), expected: VecDeque::new() }
        }

        fn push(&mut self) {
            let index = self.links.len() as u32;
            self.links.push(self.pool.push(&mut self.slot, index));
            self.expected.push_back(index);
        }

        fn cancel(&mut self, at: usize) {
            let Some(index) = self.expected.remove(at) else { return };
            let link = self.links[index as usize];
            self.pool.erase(link);
            if self.expected.is_empty() {
                self.pool.clear(&mut self.slot);
            } else {
                self.pool.merge(&mut self.slot, link, |index, to| self.links[index as usize] = to);
            }
            assert!(self.slot.len() as usize <= POSITIONS * self.expected.len() + 2 * WORDS as usize);
        }

        fn pop(&mut self) {
            assert_eq!(self.pool.pop(&mut self.slot, &NoMeter), self.expected.pop_front());
            if self.expected.is_empty() {
                self.pool.clear(&mut self.slot);
            }
        }
    }

    #[test]
    fn order_and_room_are_kept_whichever_timers_leave() {
        // Which of the timers is cancelled: the first, the last, any, or one after the other through the queue.
        let which: [fn(usize, usize) -> usize; 4] =
            [|_, _| 0, |_, len| len - 1, |step, len| step * 7_919 % len, |step, len| step * 29 % len];
        for choose in which {
            for left in [0, 1, 40] {
                let mut queue = Queue::new();
                (0..2_000).for_each(|_| queue.push());
                for step in 0.. {
                    match queue.expected.len() {
                        len if len <= left => break,
                        len => queue.cancel(choose(step, len)),
                    }
                    if step % 9 == 8 {
                        queue.pop();
                    }
                    if step % 13 == 0 {
                        queue.push();
                    }
                }
                while !queue.expected.is_empty() {
                    queue.pop();
                }
                assert_eq!((queue.slot.len(), queue.pool.pop(&mut queue.slot, &NoMeter)), (0, None));
            }
        }
    }

    #[test]
    fn a_long_queue_that_is_left_with_one_timer_in_each_chunk_becomes_short() {
        for backwards in [false, true] {
            let mut queue = Queue::new();
            (0..32 * 1_000).for_each(|_| queue.push());
            let gone = (0..32 * 1_000).filter(|index| index % 32 != 7);
            let gone: Vec<u32> = if backwards { gone.rev().collect() } else { gone.collect() };
            for index in gone {
                let at = queue.expected.binary_search(&index).unwrap_or_else(|_| panic!("{index} is there"));
                queue.cancel(at);
            }
            assert_eq!(queue.expected.len(), 1_000);
            assert!(queue.slot.len() as usize <= POSITIONS * 1_000 + 2 * WORDS as usize);
        }
    }
}
