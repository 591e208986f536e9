//! A level: 64 slots of one width. A slot is identified by the tick at which it ends.

use wheelhouse_core::Tick;
use wheelhouse_core::lists::{Ends, Lists};

/// The number of slots of a level: the number of bits of a word.
const SLOTS: Tick = u64::BITS as Tick;

/// The binary logarithm of how much coarser a level is than the one below.
const SHIFT: u32 = 3;

/// The number of the level for a delay: the first whose slots reach far enough. It uses only 63 of
/// the 64 slots, because the clock may be in the middle of a slot: then a delay of 63 slots ends in
/// the 64th.
pub(crate) fn level_of(delay: Tick) -> u32 {
    (delay / (SLOTS - 1)).checked_ilog2().map_or(0, |bits| bits / SHIFT + 1)
}

/// The number of ticks of a slot of a level.
pub(crate) fn width(number: u32) -> Tick {
    1 << (SHIFT * number)
}

/// The tick at which the slot of a deadline ends on a level: rounded up, because a timer must not
/// fire early. `Tick::MAX` if the slot extends past it.
pub(crate) fn end_of(number: u32, deadline: Tick) -> Tick {
    let within = width(number) - 1;
    deadline.checked_add(within).map_or(Tick::MAX, |tick| tick & !within)
}

/// The slots of a level, and a bitmap of those that have timers.
#[derive(Clone, Debug)]
pub(crate) struct Level {
    number: u32,
    /// One bit for each slot that has timers.
    occupied: u64,
    slots: [Ends; SLOTS as usize],
}

impl Level {
    pub(crate) fn new(number: u32) -> Self {
        Self { number, occupied: 0, slots: [Ends::EMPTY; SLOTS as usize] }
    }

    /// The number of slots that end before a tick, counted from tick 0.
    fn ended_before(&self, tick: Tick) -> Tick {
        let shift = SHIFT * self.number;
        (tick >> shift) + Tick::from(tick & (width(self.number) - 1) != 0)
    }

    /// The index of the first slot that ends at or after a tick.
    fn slot_at(&self, tick: Tick) -> usize {
        (self.ended_before(tick) % SLOTS) as usize
    }

    pub(crate) fn push_back(&mut self, lists: &mut Lists, deadline: Tick, place: u32) {
        let at = self.slot_at(deadline);
        self.occupied |= 1 << at;
        lists.push_back(&mut self.slots[at], place);
    }

    pub(crate) fn remove(&mut self, lists: &mut Lists, deadline: Tick, place: u32) {
        let at = self.slot_at(deadline);
        lists.remove(&mut self.slots[at], place);
        if self.slots[at].is_empty() {
            self.occupied &= !(1 << at);
        }
    }

    /// Removes all timers of the slot that ends at a tick, and returns their list.
    pub(crate) fn take(&mut self, end: Tick) -> Ends {
        let at = self.slot_at(end);
        self.occupied &= !(1 << at);
        core::mem::take(&mut self.slots[at])
    }

    /// The earliest tick at which a slot that has timers ends. All such slots must end after `now`.
    pub(crate) fn next(&self, now: Tick) -> Option<Tick> {
        if self.occupied == 0 {
            return None;
        }
        let first = self.ended_before(now);
        let skipped = self.occupied.rotate_right((first % SLOTS) as u32).trailing_zeros();
        let number = first + Tick::from(skipped);
        let shift = SHIFT * self.number;
        Some(if number > Tick::MAX >> shift { Tick::MAX } else { number << shift })
    }
}

#[cfg(test)]
impl Level {
    /// All slots, each with its bit in the bitmap.
    pub(crate) fn slots(&self) -> impl Iterator<Item = (bool, &Ends)> {
        self.slots.iter().enumerate().map(|(at, slot)| ((self.occupied >> at) & 1 != 0, slot))
    }
}
