//! Operation counts, to check complexity claims with.
//!
//! Wall-clock time cannot distinguish O(1) from O(log n): because of caches, a constant amount of
//! work takes ten times longer with a million timers than with a thousand. Counts can, and they are
//! reproducible. So each backend is generic over a [`Meter`] and reports each piece of [`Work`] to
//! it. The default, [`NoMeter`], has no state and an empty inlined method, so it compiles to
//! nothing. [`CountingMeter`] counts.
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
//! All backends count by the same rule. A *step* is a piece of work of constant cost, of one of six
//! kinds. A loop counts each iteration; no formula replaces the count. A pass over entries, slots
//! or levels counts one step for each, including the comparison with the clock or with the best so
//! far.
//!
//! * [`Comparison`](Work::Comparison). The keys of two timers are compared in a search. If a
//!   library's ordered map searches, its keys are [`Metered`] and report each comparison that is
//!   made. If a library sorts, the comparison closure reports it. In addition, each
//!   [`pop_expired`](crate::Timer::pop_expired) counts one for the check whether the next timer is
//!   due. So an [`advance`](crate::Timer::advance) that removes timers one by one counts one for
//!   each, and one for the last check.
//! * [`Link`](Work::Link). A link is followed to the next entry of a search or a pass, or a link is
//!   written. Inserting an entry into a doubly linked list is [four](crate::lists::LINKS_IN),
//!   removing it [two](crate::lists::LINKS_OUT).
//! * [`SlotVisit`](Work::SlotVisit). A timer is put into a slot; a slot or a level is read; or one
//!   word of a bitmap of occupied slots is read, which covers 64 slots.
//!   [`next_wakeup`](crate::Timer::next_wakeup) counts too. If slots are arrays, removing a timer
//!   is also a visit.
//! * [`EntryScan`](Work::EntryScan). An entry, or the hole that an entry left, is read in a pass
//!   that searches for due timers or drops dead entries.
//! * [`CascadeMove`](Work::CascadeMove). A timer moves from a higher level to a lower one. The move
//!   includes the links and the slot that are written, but not a search for the level.
//! * [`ElementMove`](Work::ElementMove). An element of an array is written. In an unordered
//!   collection, a timer is inserted or removed.
//!
//! Not counted are:
//!
//! * work that a call does once, independent of the number of timers: comparing a deadline with a
//!   tick of the structure, such as the clock or the earliest deadline; reading or writing such a
//!   tick; setting or clearing a bit of a bitmap;
//! * the arena: following a handle, allocating a place, reading or writing a field of a timer;
//! * hashing, and the search in a library's hash map;
//! * the work of a library's map or sort other than comparisons: following nodes, moving elements.
//!   So removing the first entry of a B-tree counts no step;
//! * memory: growing arrays, allocating slots and levels;
//! * reads that only bring entries into the cache. The work on these entries is counted.
//!
//! An independent count checks that the backends follow the rule: `tests/steps` of
//! `wheelhouse-registry` plays the same calls on simple models that do their own counting.

use alloc::rc::Rc;
use core::cell::Cell;
use core::cmp::Ordering;

/// The kinds of work that are counted, each a step of constant cost. [The rule](self#the-rule)
/// defines them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Work {
    /// The keys of two timers are compared, or the deadline of the next timer with the clock.
    Comparison,
    /// A link from one entry to another is followed or written.
    Link,
    /// A slot of a wheel is read, or one word of the bitmap of occupied slots.
    SlotVisit,
    /// An entry is read in a search for due timers, or while cleaning up.
    EntryScan,
    /// A timer moves from a higher level to a lower one.
    CascadeMove,
    /// An element of an array is written.
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

/// Receives a report of each piece of work. `tally` takes `&self` so that methods that only read
/// can be counted too. A clone adds to the same counts: each key of an ordered map has a clone.
pub trait Meter: Clone {
    /// Reports that `count` steps of the kind `work` were done.
    fn tally(&self, work: Work, count: u64);
}

/// The default meter: no state, no code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoMeter;

impl Meter for NoMeter {
    #[inline(always)]
    fn tally(&self, _: Work, _: u64) {}
}

/// Counts each kind of work. Clones share their counts, also if a whole structure is cloned.
#[derive(Clone, Debug, Default)]
pub struct CountingMeter {
    counts: Rc<[Cell<u64>; Work::ALL.len()]>,
}

impl CountingMeter {
    /// The number of steps of one kind.
    pub fn count(&self, work: Work) -> u64 {
        self.counts[work as usize].get()
    }

    /// The number of steps of all kinds.
    pub fn total(&self) -> u64 {
        self.counts.iter().map(Cell::get).sum()
    }

    /// Resets all counts to zero.
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

/// A key that reports each comparison to a meter, for the ordered maps of libraries, which do not
/// count. With [`NoMeter`] it is as large as the key and compares as fast.
///
/// Two of them are equal if their keys are equal. The meters are not compared.
///
/// ```
/// use std::collections::BTreeMap;
/// use wheelhouse_core::meter::{CountingMeter, Metered, Work};
///
/// let meter = CountingMeter::default();
/// let mut map = BTreeMap::new();
/// map.insert(Metered::new(30, &meter), "a"); // the map is empty: no comparison
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
    /// A key that reports its comparisons to this meter.
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
        // Through `cmp`, so that it counts too.
        self.cmp(other).is_eq()
    }
}

impl<K: Ord, M: Meter> Eq for Metered<K, M> {}
