//! quickheap's `SimdQuickHeap<u64>`: buckets divided by pivots, as in an unfinished quicksort. The
//! smallest keys are in the last bucket, which is split when the minimum is popped.
//!
//! A key is a single word, which its README calls faster than a key with a value: the deadline in
//! the high bits, the timer's index in our arena in the low bits. A key is stale if its entry in
//! the arena is free or has another deadline. The heap has neither `retain` nor an iterator, so a
//! new one is filled when stale keys outnumber the live ones.
//!
//! On x86-64 the crate compiles only with AVX2, so only such a build has this row. There is none on
//! aarch64: NEON is always on, and every build of these benches would need Rust 1.89.

use crate::peer::Peer;
use quickheap::SimdQuickHeap;
use wheelhouse_core::arena::Arena;
use wheelhouse_core::{Tick, TimerId};

/// The heap with lazy deletion.
pub(crate) struct Queue {
    heap: SimdQuickHeap<u64>,
    /// The smallest key, if it was popped to look at it.
    first: Option<u64>,
    /// Deadlines and values.
    timers: Arena<(Tick, u64)>,
    /// The number of bits of a key that hold the index.
    place_bits: u32,
}

impl Queue {
    #[inline]
    fn key(place_bits: u32, deadline: Tick, place: u32) -> u64 {
        let fits = deadline.leading_zeros() >= place_bits && u64::from(place) >> place_bits == 0;
        assert!(fits, "deadline {deadline} and place {place} do not fit in one word");
        (deadline << place_bits) | u64::from(place)
    }

    #[inline]
    fn deadline(&self, key: u64) -> Tick {
        key >> self.place_bits
    }

    #[inline]
    fn place(&self, key: u64) -> u32 {
        (key & ((1 << self.place_bits) - 1)) as u32
    }

    #[inline]
    fn is_live(&self, key: u64) -> bool {
        self.timers.at(self.place(key)).is_some_and(|timer| timer.0 == self.deadline(key))
    }

    /// The number of keys, stale ones included.
    #[inline]
    fn len(&self) -> usize {
        self.heap.len() + usize::from(self.first.is_some())
    }

    #[inline]
    fn push(&mut self, deadline: Tick, place: u32) {
        let key = Self::key(self.place_bits, deadline, place);
        // `first` stays the smallest key of all.
        let later = self.first.as_mut().map_or(key, |first| {
            let later = key.max(*first);
            *first = key.min(*first);
            later
        });
        self.heap.push(later);
    }

    #[inline]
    fn pop(&mut self) -> Option<u64> {
        self.first.take().or_else(|| self.heap.pop())
    }

    /// Fills a new heap with one key for each live timer.
    #[inline(never)]
    fn drop_dead(&mut self) {
        if self.timers.peak() <= 2 * self.len() {
            // Reading the arena in order is faster than one random access for each key.
            (self.heap, self.first) = (SimdQuickHeap::default(), None);
            for (id, (), (deadline, _)) in self.timers.iter() {
                self.heap.push(Self::key(self.place_bits, *deadline, id.index()));
            }
            return;
        }
        let mut live = SimdQuickHeap::default();
        let mut last = None;
        while let Some(key) = self.pop() {
            // A timer that was moved away and back has two equal keys.
            if last.replace(key) != Some(key) && self.is_live(key) {
                live.push(key);
            }
        }
        self.heap = live;
    }
}

impl Peer for Queue {
    const NAME: &'static str = "quickheap";
    /// The other 28 bits of a key are enough for the index of a timer.
    const LATEST: Tick = (1 << 36) - 1;
    type Handle = TimerId;

    /// The index takes as few bits as `timers` allows. The others are for the deadline.
    fn new(timers: usize) -> Self {
        let place_bits = timers.next_power_of_two().trailing_zeros();
        Self { heap: SimdQuickHeap::default(), first: None, timers: Arena::new(), place_bits }
    }

    lazy_deletion!(self, 0, deadline, id => self.push(deadline, id.index()));

    #[inline]
    fn advance(&mut self, now: Tick, mut fire: impl FnMut(u64)) {
        while let Some(key) = self.pop() {
            if self.deadline(key) > now {
                self.first = Some(key);
                return;
            }
            if self.is_live(key)
                && let Some((_, (_, value))) = self.timers.remove_at(self.place(key))
            {
                fire(value);
            }
        }
    }

    #[inline]
    fn next_wakeup(&mut self) -> Option<Tick> {
        while let Some(key) = self.pop() {
            if self.is_live(key) {
                self.first = Some(key);
                return Some(self.deadline(key));
            }
        }
        None
    }
}
