//! Reading a list ahead from several places at once.
//!
//! A list is a chain of cache misses: each node holds the address of the next. Sixteen chains can
//! be followed at once because their reads are independent. So a slot of a large wheel
//! remembers some of its timers. Before its timers move, *walkers* run from sixteen of these
//! *hints* through the list in step, each up to the next hint. The timers are in the cache then.
//!
//! ```text
//! sentinel ⇄ a b c d e f g h i j k l m n o p ⇄ sentinel
//!                  ◀─────▲  ◀────▲  ◀──────▲      three walkers
//! ```
//!
//! The place of a timer alone decides whether it is remembered, so that an insertion need not
//! count. A hint is never trusted: its timer may have left the slot, or its place may have another
//! timer. A walker that starts in the wrong list costs a few reads and changes nothing.

use crate::Tick;
use crate::nodes::Nodes;
use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;
use core::hint::black_box;

/// Timers at places that are multiples of this, a power of two, are remembered.
pub(crate) const EVERY: u32 = 16;

/// Walkers that run in step: about as many as a processor has misses under way.
const WALKERS: usize = 16;

/// Hints that are followed in one call.
const PORTION: usize = 32;

/// The longest way of a walker, as a multiple of the way to the next hint on average.
const LONGEST: u32 = 4;

/// A slot with fewer hints than this never looks whether they are still right.
const FEW: usize = 64;

/// Returns `true` if slots remember the timer at a place.
#[inline(always)]
pub(crate) fn is_hint(at: u32) -> bool {
    at & (EVERY - 1) == 0
}

/// The hints of all slots, by the numbers of the slots.
#[derive(Clone, Debug)]
pub(crate) struct AllHints {
    /// By block. Empty until a timer of the block is remembered.
    blocks: Vec<Vec<Hints>>,
    /// Bits of the number of a slot within its block.
    bits: u32,
    /// Hints of all slots together.
    total: usize,
}

impl AllHints {
    /// No hints for this many blocks of `1 << bits` slots.
    pub(crate) fn new(blocks: usize, bits: u32) -> Self {
        Self { blocks: vec![Vec::new(); blocks], bits, total: 0 }
    }

    /// How many hints a slot has.
    pub(crate) fn count(&self, number: u32) -> usize {
        self.of(number).map_or(0, |hints| hints.places.len())
    }

    fn of(&self, number: u32) -> Option<&Hints> {
        self.blocks[(number >> self.bits) as usize].get(number as usize & ((1 << self.bits) - 1))
    }

    /// Changes the hints of a slot.
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

    /// A timer came to a slot, behind all others. `most` hints may be kept in all.
    pub(crate) fn push_back(
        &mut self,
        number: u32,
        at: u32,
        most: usize,
        is_here: impl Fn(u32) -> bool,
    ) {
        if self.total >= most {
            // Hints of timers that have left are dropped where more come. Where none come they
            // could pile up, so all are dropped when there are too many: that only costs time.
            *self = Self::new(self.blocks.len(), self.bits);
        }
        self.change(number, |hints| hints.push_back(at, is_here));
    }

    /// A timer came to a slot, before all others.
    pub(crate) fn push_front(&mut self, number: u32, at: u32) {
        self.change(number, |hints| hints.places.push_front(at));
    }

    /// A timer that is remembered leaves the end of the list of a slot.
    pub(crate) fn pop_back(&mut self, number: u32, at: u32) {
        if self.count(number) > 0 {
            self.change(number, |hints| hints.pop_back(at));
        }
    }

    /// A slot is empty.
    #[inline]
    pub(crate) fn clear(&mut self, number: u32) {
        if self.count(number) > 0 {
            self.change(number, |hints| *hints = Hints::default());
        }
    }

    /// Reads the next timers of the list of a slot, whose last one is given, unless they are read
    /// already. The deadlines of its timers are the same from bit `shift` on.
    #[inline]
    pub(crate) fn read_ahead<T>(&mut self, nodes: &Nodes<T>, number: u32, last: u32, shift: u32) {
        if self.of(number).is_some_and(Hints::has_more) {
            self.change(number, |hints| hints.follow(nodes, last, shift));
        }
    }
}

/// Some timers of a slot, in the order of its list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hints {
    places: VecDeque<u32>,
    /// How many, from the last on, were followed already.
    read: usize,
    /// With this many, those of timers that have left are dropped.
    limit: usize,
}

impl Hints {
    /// A timer came, behind all others.
    fn push_back(&mut self, at: u32, is_here: impl Fn(u32) -> bool) {
        if self.places.len() >= self.limit.max(FEW) {
            // Half of the hints came since the last look, so each is looked at about twice.
            self.places.retain(|at| is_here(*at));
            self.limit = 2 * self.places.len();
        }
        self.places.push_back(at);
    }

    /// A timer that is remembered leaves the end of the list.
    fn pop_back(&mut self, at: u32) {
        // Hints of timers that were cancelled may be behind it.
        let found = self.places.iter().rev().take(4 * PORTION).position(|place| *place == at);
        if let Some(behind) = found {
            self.places.truncate(self.places.len() - 1 - behind);
            self.read = self.read.saturating_sub(1 + behind);
        }
    }

    /// Returns `true` if few of the timers that were read are left, and there are others.
    #[inline]
    fn has_more(&self) -> bool {
        self.read <= PORTION / 2 && self.read < self.places.len()
    }

    /// Reads the timers from the next hints on.
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
        let mut steps = LONGEST * EVERY;
        while count > 0 && steps > 0 {
            steps -= 1;
            let mut n = 0;
            while n < count {
                let at = walkers[n];
                walkers[n] = nodes.prev(at);
                if is_hint(at) {
                    // At the next hint, or at a sentinel of such a number: on to a free hint.
                    match hints.next() {
                        Some(hint) => {
                            walkers[n] = nodes.prev(hint);
                            steps += LONGEST * EVERY / WALKERS as u32;
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
        // The compiler must not know that nothing comes of it.
        black_box(walkers);
        self.read = (self.read + PORTION).min(self.places.len());
    }
}
