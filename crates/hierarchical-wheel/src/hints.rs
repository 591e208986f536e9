//! Reads a list ahead from several nodes at once.
//!
//! A list is a chain of cache misses, because each node holds the address of the next. A processor
//! can follow sixteen chains at once, because their reads are independent. So a slot of a large
//! wheel remembers some of its timers, its *hints*. Before the timers of the slot move, *walkers*
//! start at sixteen hints and follow the list in lockstep, each up to the next hint. After that the
//! timers are in the cache.
//!
//! ```text
//! sentinel ⇄ a b c d e f g h i j k l m n o p ⇄ sentinel
//!                  ◀─────▲  ◀────▲  ◀──────▲      three walkers
//! ```
//!
//! A timer is remembered if its place is a multiple of 32, so an insertion needs no counter. Its
//! slot is rarely in the cache. So the insertion only notes the timer, and the hints of 64 timers
//! are added at once: their cache misses overlap.
//!
//! A hint may be wrong: its timer may have left the slot, or its place may have another timer now.
//! A walker that starts in the wrong list costs a few reads and changes nothing.

use crate::Tick;
use crate::nodes::Nodes;
use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;
use core::hint::black_box;
use core::mem;

/// Timers whose place is a multiple of this are remembered. A power of two.
pub(crate) const EVERY: u32 = 32;

/// The number of walkers: about as many as a processor can have outstanding cache misses.
const WALKERS: usize = 16;

/// The number of hints that are followed in one call.
const PORTION: usize = 32;

/// The longest walk of a walker, as a multiple of the average distance between two hints.
const LONGEST_WALK: u32 = 4;

/// The number of timers whose hints are added at once.
const RECENT: usize = 64;

/// A slot with fewer hints than this never checks whether they are still right.
const FEW: usize = 64;

/// Returns `true` if slots remember the timer at this place.
#[inline(always)]
pub(crate) fn is_hint(at: u32) -> bool {
    at & (EVERY - 1) == 0
}

/// The hints of all slots, by slot number.
#[derive(Clone, Debug)]
pub(crate) struct AllHints {
    /// The hints of each block, by slot. Empty until a timer of the block is remembered.
    blocks: Vec<Vec<Hints>>,
    /// The number of bits of a slot's number within its block.
    bits: u32,
    /// The number of hints of all slots.
    total: usize,
    /// Timers that are noted: their hints have not been added to their slots yet.
    recent: Vec<u32>,
}

impl AllHints {
    /// No hints for this many blocks of `1 << bits` slots.
    pub(crate) fn new(blocks: usize, bits: u32) -> Self {
        Self { blocks: vec![Vec::new(); blocks], bits, total: 0, recent: Vec::new() }
    }

    /// Notes a timer whose hint is to be added. Returns `true` if enough timers are noted.
    #[inline(always)]
    pub(crate) fn add_recent(&mut self, at: u32) -> bool {
        self.recent.push(at);
        self.recent.len() >= RECENT
    }

    /// Takes the noted timers. [`reuse_recent`](Self::reuse_recent) takes their array back.
    pub(crate) fn take_recent(&mut self) -> Vec<u32> {
        mem::take(&mut self.recent)
    }

    /// Keeps the array of the noted timers for the next ones.
    pub(crate) fn reuse_recent(&mut self, mut recent: Vec<u32>) {
        recent.clear();
        self.recent = recent;
    }

    pub(crate) fn count(&self, number: u32) -> usize {
        self.hints_of(number).map_or(0, |hints| hints.places.len())
    }

    fn hints_of(&self, number: u32) -> Option<&Hints> {
        self.blocks[(number >> self.bits) as usize].get(number as usize & ((1 << self.bits) - 1))
    }

    /// Changes the hints of a slot and updates the total.
    fn change<R>(&mut self, number: u32, change: impl FnOnce(&mut Hints) -> R) -> R {
        let block = &mut self.blocks[(number >> self.bits) as usize];
        if block.is_empty() {
            block.resize_with(1 << self.bits, Hints::default);
        }
        let hints = &mut block[number as usize & ((1 << self.bits) - 1)];
        let before = hints.places.len();
        let result = change(hints);
        self.total = self.total + hints.places.len() - before;
        result
    }

    /// Adds a hint for a timer that was appended to a slot. At most `most` hints are kept in total.
    pub(crate) fn push_back(
        &mut self,
        number: u32,
        at: u32,
        most: usize,
        is_here: impl Fn(u32) -> bool,
    ) {
        if self.total >= most {
            // A slot drops the hints of timers that have left only when it receives new ones. In
            // other slots such hints pile up, so all hints are dropped if there are too many.
            // That is safe: without hints, reading a list only takes longer.
            *self = Self::new(self.blocks.len(), self.bits);
        }
        self.change(number, |hints| hints.push_back(at, is_here));
    }

    /// Adds a hint for a timer that was prepended to a slot.
    pub(crate) fn push_front(&mut self, number: u32, at: u32) {
        self.change(number, |hints| hints.places.push_front(at));
    }

    /// Removes the hint of a timer that leaves the end of a slot's list.
    pub(crate) fn pop_back(&mut self, number: u32, at: u32) {
        if self.count(number) > 0 {
            self.change(number, |hints| hints.pop_back(at));
        }
    }

    /// Drops the hints of a slot that has become empty.
    #[inline]
    pub(crate) fn clear(&mut self, number: u32) {
        if self.count(number) > 0 {
            self.change(number, |hints| *hints = Hints::default());
        }
    }

    /// Reads the next timers of a slot's list, from its `last` timer backwards, unless they have
    /// been read already. The deadlines of the timers of the slot agree in all bits from `shift`
    /// up.
    #[inline]
    pub(crate) fn read_ahead<T>(&mut self, nodes: &Nodes<T>, number: u32, last: u32, shift: u32) {
        if self.hints_of(number).is_some_and(Hints::has_more) {
            self.change(number, |hints| hints.follow(nodes, last, shift));
        }
    }
}

/// The places of the remembered timers of a slot, in the order of its list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hints {
    places: VecDeque<u32>,
    /// How many hints, counted from the last, have been followed already.
    read: usize,
    /// With this many hints, the hints of timers that have left are dropped.
    limit: usize,
}

impl Hints {
    /// Adds a hint at the end. `is_here` returns `true` if the timer at a place is in this slot.
    fn push_back(&mut self, at: u32, is_here: impl Fn(u32) -> bool) {
        if self.places.len() >= self.limit.max(FEW) {
            // At least half of the hints came since the last check: O(1) amortised.
            self.places.retain(|at| is_here(*at));
            self.limit = 2 * self.places.len();
        }
        self.places.push_back(at);
    }

    /// Removes the hint of a timer that leaves the end of the list, and all hints behind it.
    fn pop_back(&mut self, at: u32) {
        // The hints behind it are of timers that were cancelled.
        let found = self.places.iter().rev().take(4 * PORTION).position(|place| *place == at);
        if let Some(behind) = found {
            self.places.truncate(self.places.len() - 1 - behind);
            self.read = self.read.saturating_sub(1 + behind);
        }
    }

    /// Returns `true` if few of the hints that were followed are left, and some have not been
    /// followed.
    #[inline]
    fn has_more(&self) -> bool {
        self.read <= PORTION / 2 && self.read < self.places.len()
    }

    /// Reads the timers before the next hints.
    #[inline(never)]
    fn follow<T>(&mut self, nodes: &Nodes<T>, last: u32, shift: u32) {
        let slot_of = |at: u32| nodes.deadline_at(at) >> shift;
        let here: Tick = slot_of(last);
        let start = if self.read == 0 { Some(last) } else { None };
        let more = self.places.iter().rev().skip(self.read).take(PORTION).copied();
        let mut hints = start.into_iter().chain(more).filter(|at| slot_of(*at) == here);
        let (mut walkers, mut count) = ([0; WALKERS], 0);
        for at in hints.by_ref().take(WALKERS) {
            walkers[count] = nodes.prev(at);
            count += 1;
        }
        let mut steps = LONGEST_WALK * EVERY;
        while count > 0 && steps > 0 {
            steps -= 1;
            let mut n = 0;
            while n < count {
                let at = walkers[n];
                walkers[n] = nodes.prev(at);
                if is_hint(at) {
                    // The walker is at the next hint, or at a sentinel whose place is such a
                    // multiple: it continues at a hint that has no walker yet.
                    match hints.next() {
                        Some(hint) => {
                            walkers[n] = nodes.prev(hint);
                            steps += LONGEST_WALK * EVERY / WALKERS as u32;
                        }
                        None => {
                            count -= 1;
                            walkers[n] = walkers[count];
                        }
                    }
                }
                n += 1;
            }
        }
        // Keeps the compiler from removing the reads, whose results are not used.
        black_box(walkers);
        self.read = (self.read + PORTION).min(self.places.len());
    }
}
