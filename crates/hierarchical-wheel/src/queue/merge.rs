//! Chunks that are hardly more than holes.
//!
//! A hole costs four bytes and the time to skip it. So a chunk that is left with few timers is merged with the chunk before or behind it, if
//! what both hold fits into one. That takes as many steps as two chunks have words, however long the queue is: no cancellation
//! has to wait for a whole slot to be tidied up. Afterwards, of two neighbours, not both are sparse: a queue has at most
//! [`POSITIONS`] positions for each timer, and two chunks besides.

use super::{END, HOLE, Pool, Slot, WORDS, first_of};
use wheelhouse_core::arena::Link;

/// A chunk with no more timers than this is to be merged. Fewer leave more holes, more move each timer more often.
const SPARSE: u32 = 8;

/// The most positions for each timer, but for two chunks.
#[cfg(test)]
pub(crate) const POSITIONS: u32 = (2 * END).div_ceil(SPARSE);

/// A chunk of a slot, and the positions in it that are in use.
#[derive(Clone, Copy)]
struct Part {
    chunk: u32,
    from: u32,
    to: u32,
}

impl Pool {
    /// Whether the chunk of a timer that has left has few others.
    #[inline]
    pub(crate) fn is_sparse(&self, link: Link) -> bool {
        u32::from(self.holes[(link.get() / WORDS) as usize]) >= END - SPARSE
    }

    /// Merges the chunk of a timer that has left with a neighbour, if one has room. `moved` is told where each timer is now. Returns
    /// how many positions were read.
    pub(crate) fn merge(&mut self, slot: &mut Slot, link: Link, moved: impl FnMut(u32, Link)) -> u32 {
        let part = self.part(slot, link.get() / WORDS);
        let before = (part.chunk != slot.first / WORDS).then(|| self.before[part.chunk as usize]);
        let behind = (part.chunk != slot.last / WORDS).then(|| *self.next_of(part.chunk));
        let with_before = before.map(|chunk| (self.part(slot, chunk), part));
        let with_behind = behind.map(|chunk| (part, self.part(slot, chunk)));
        let mut pairs = with_before.into_iter().chain(with_behind);
        match pairs.find(|(a, b)| self.timers_of(*a) + self.timers_of(*b) <= END) {
            Some((a, b)) => self.join(slot, a, b, moved),
            None => 0,
        }
    }

    /// A chunk of a slot.
    fn part(&self, slot: &Slot, chunk: u32) -> Part {
        let from = if chunk == slot.first / WORDS { slot.first % WORDS } else { 1 };
        let to = if chunk == slot.last / WORDS { slot.last % WORDS } else { END };
        Part { chunk, from, to }
    }

    /// The number of timers in a part.
    fn timers_of(&self, part: Part) -> u32 {
        part.to + 1 - part.from - u32::from(self.holes[part.chunk as usize])
    }

    /// Moves the timers of `b`, which is behind `a`, to `a`. Returns how many positions were read.
    fn join(&mut self, slot: &mut Slot, a: Part, b: Part, mut moved: impl FnMut(u32, Link)) -> u32 {
        let mut to = first_of(a.chunk);
        for part in [a, b] {
            for at in part.chunk * WORDS + part.from..=part.chunk * WORDS + part.to {
                let index = *self.word(at);
                if index != HOLE {
                    *self.word(to) = index;
                    if let Some(link) = Link::new(to).filter(|_| to != at) {
                        moved(index, link);
                    }
                    to += 1;
                }
            }
        }
        let is_last = b.chunk == slot.last / WORDS;
        // Every chunk but the last is in use up to its end, and the last has at least one position in use.
        let end = if is_last { to.max(first_of(a.chunk) + 1) } else { first_of(a.chunk) + END };
        (to..end).for_each(|at| *self.word(at) = HOLE);
        self.holes[a.chunk as usize] = (end - to) as u8;
        if is_last {
            slot.last = end - 1;
        } else {
            let behind = *self.next_of(b.chunk);
            *self.next_of(a.chunk) = behind;
            self.before[behind as usize] = a.chunk;
        }
        if a.chunk == slot.first / WORDS {
            slot.first = first_of(a.chunk);
        }
        let read = a.to + 1 - a.from + b.to + 1 - b.from;
        slot.len -= read - (end - first_of(a.chunk));
        self.release(b.chunk);
        read
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::VecDeque;
    use alloc::vec::Vec;
    use wheelhouse_core::meter::NoMeter;

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
            } else if self.pool.is_sparse(link) {
                self.pool.merge(&mut self.slot, link, |index, to| self.links[index as usize] = to);
            }
            assert!(self.slot.len() as usize <= POSITIONS as usize * self.expected.len() + 2 * END as usize);
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
            (0..31 * 1_000).for_each(|_| queue.push());
            let gone = (0..31 * 1_000).filter(|index| index % 31 != 7);
            let gone: Vec<u32> = if backwards { gone.rev().collect() } else { gone.collect() };
            for index in gone {
                let at = queue.expected.binary_search(&index).unwrap_or_else(|_| panic!("{index} is there"));
                queue.cancel(at);
            }
            assert_eq!(queue.expected.len(), 1_000);
            assert!(queue.slot.len() <= POSITIONS * 1_000 + 2 * END);
        }
    }
}
