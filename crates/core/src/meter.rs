//! Operation counts: what a complexity claim is decided on.
//!
//! Wall-clock time cannot tell O(1) from O(log n): a constant amount of work takes ten times longer
//! at a million timers than at a thousand, because of caches. Counts can, and they repeat exactly.
//! So each backend is generic over a [`Meter`] and tells it each piece of [`Work`] it does. The
//! default, [`NoMeter`], has no state and an empty inlined method, and compiles to nothing;
//! [`CountingMeter`] adds up.
//!
//! ```
//! use wheelhouse_core::meter::{CountingMeter, Meter, Work};
//!
//! let meter = CountingMeter::default();
//! meter.tally(Work::Comparison, 3);
//! meter.tally(Work::Link, 1);
//! assert_eq!(meter.count(Work::Comparison), 3);
//! assert_eq!(meter.total(), 4);
//! ```
//!
//! # The rule
//!
//! All backends count by this rule, and by no other. A *step* is a piece of work of constant cost,
//! of one of six kinds. A loop counts each time round; no formula stands in place of a count. What
//! a pass reads of an entry, a slot or a level, and compares with the clock or with the best so
//! far, is one step.
//!
//! * [`Comparison`](Work::Comparison). The keys of two timers are compared in a search. Where a
//!   library's ordered map searches, its keys are [`Metered`] and tell of each comparison that is
//!   really made; where a library sorts, the closure that compares does. Besides, each
//!   [`pop_expired`](crate::Timer::pop_expired) counts one, for it asks whether the next timer is
//!   due; so [`advance`](crate::Timer::advance) counts one for each timer that it takes out one by
//!   one, and one for the end.
//! * [`Link`](Work::Link). A link is followed to the next entry of a search or a pass, or is
//!   written. To put an entry into a list that is linked both ways is
//!   [four](crate::lists::LINKS_IN), to take it out [two](crate::lists::LINKS_OUT).
//! * [`SlotVisit`](Work::SlotVisit). A timer is put into a slot; a slot or a level is looked into;
//!   or a word is read of a map of occupied slots, which is a look at 64 of them, in
//!   [`next_wakeup`](crate::Timer::next_wakeup) as elsewhere. Where a slot is an array, a timer
//!   that is taken out is a visit too.
//! * [`EntryScan`](Work::EntryScan). An entry, or the hole where one was, is read in a pass that
//!   looks for those that are due, or that drops what is gone.
//! * [`CascadeMove`](Work::CascadeMove). A timer goes from a higher level to a lower one: with the
//!   links and the slot that are written for it, but not with a search for its level.
//! * [`ElementMove`](Work::ElementMove). An element of an array is written to a place. In a
//!   collection without order, a timer is put in or taken out.
//!
//! Outside of the count are:
//!
//! * what a call does once, however many timers there are: a deadline compared with the structure's
//!   own ticks, such as the clock or the earliest deadline; such a tick read or written; a bit of a
//!   map set or cleared;
//! * the arena: a handle is followed, a place given out, a field of a timer read or written;
//! * hashing, and what a library's hash map does to find a place;
//! * what a library's map or sort does besides comparing: nodes followed, elements moved. So the
//!   first entry of a B-tree is found and taken out without a step;
//! * memory: arrays that grow, slots and levels that are made;
//! * reads that only bring into the caches what is counted when it is worked on.
//!
//! An independent count holds the backends to the rule: `tests/steps` of `wheelhouse-registry`
//! plays the same calls on plain models that count for themselves.

use alloc::rc::Rc;
use core::cell::Cell;
use core::cmp::Ordering;

/// The kinds of work that are counted, each a step of constant cost. What belongs to which is
/// [the rule](self#the-rule).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Work {
    /// The keys of two timers compared, or the next one's with the clock.
    Comparison,
    /// A link from one entry to another followed, or written.
    Link,
    /// A slot of a wheel looked into, or 64 of them at a time in the map of those that are
    /// occupied.
    SlotVisit,
    /// An entry read while looking for those that are due, or while cleaning up.
    EntryScan,
    /// A timer moved from a higher level to a lower one.
    CascadeMove,
    /// An element of an array written to a place of it.
    ElementMove,
}

impl Work {
    /// All kinds, in the order of declaration.
    pub const ALL: [Self; 6] = [
        Self::Comparison,
        Self::Link,
        Self::SlotVisit,
        Self::EntryScan,
        Self::CascadeMove,
        Self::ElementMove,
    ];

    /// The name used in tables and results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Comparison => "comparisons",
            Self::Link => "links",
            Self::SlotVisit => "slots visited",
            Self::EntryScan => "entries scanned",
            Self::CascadeMove => "cascade moves",
            Self::ElementMove => "element moves",
        }
    }
}

/// Something that is told of each piece of work. Takes `&self` so that reading methods can be
/// counted too. A clone adds to the same counts: the keys of an ordered map have one each.
pub trait Meter: Clone {
    /// Called when `count` steps of the kind `work` were done.
    fn tally(&self, work: Work, count: u64);
}

/// The default meter: no state, no code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoMeter;

impl Meter for NoMeter {
    #[inline(always)]
    fn tally(&self, _: Work, _: u64) {}
}

/// Adds up each kind of work. Clones share their counts, also those of a structure that is cloned.
///
/// ```
/// use wheelhouse_core::meter::{CountingMeter, Meter, Work};
///
/// let meter = CountingMeter::default();
/// meter.clone().tally(Work::Link, 2);
/// assert_eq!(meter.count(Work::Link), 2);
/// ```
#[derive(Clone, Debug, Default)]
pub struct CountingMeter {
    counts: Rc<[Cell<u64>; Work::ALL.len()]>,
}

impl CountingMeter {
    /// How much of one kind was done.
    pub fn count(&self, work: Work) -> u64 {
        self.counts[work as usize].get()
    }

    /// How much was done in all.
    pub fn total(&self) -> u64 {
        self.counts.iter().map(Cell::get).sum()
    }

    /// Starts again at zero.
    pub fn reset(&self) {
        self.counts.iter().for_each(|count| count.set(0));
    }
}

impl Meter for CountingMeter {
    #[inline]
    fn tally(&self, work: Work, count: u64) {
        let cell = &self.counts[work as usize];
        cell.set(cell.get() + count);
    }
}

/// A key that tells a meter of each time it is compared: for the ordered maps of libraries, which
/// count nothing. With [`NoMeter`] it is as large as the key, and compares as fast.
///
/// Equal to another if the keys are; the meters are not asked.
///
/// ```
/// use std::collections::BTreeMap;
/// use wheelhouse_core::meter::{CountingMeter, Metered, Work};
///
/// let meter = CountingMeter::default();
/// let mut map = BTreeMap::new();
/// map.insert(Metered::new(30, &meter), "a"); // there is none to be compared with
/// map.insert(Metered::new(10, &meter), "b");
/// assert_eq!(meter.count(Work::Comparison), 1);
/// assert_eq!(map.remove(&Metered::new(10, &meter)), Some("b"));
/// assert!(meter.count(Work::Comparison) > 1);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Metered<K, M> {
    /// The key itself.
    pub key: K,
    meter: M,
}

impl<K, M: Meter> Metered<K, M> {
    /// A key that tells this meter.
    #[inline]
    pub fn new(key: K, meter: &M) -> Self {
        Self { key, meter: meter.clone() }
    }
}

impl<K: Ord, M: Meter> Ord for Metered<K, M> {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.meter.tally(Work::Comparison, 1);
        self.key.cmp(&other.key)
    }
}

impl<K: Ord, M: Meter> PartialOrd for Metered<K, M> {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<K: Ord, M: Meter> PartialEq for Metered<K, M> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<K: Ord, M: Meter> Eq for Metered<K, M> {}
