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

use core::cell::Cell;

/// The kinds of work that are counted, each a step of constant cost.
///
/// All backends count by the same rules, so that their totals can be compared: what is read to
/// decide where to go on, and what is written to change the structure, is a step each; fields of
/// the timer itself, and the arena that holds it, are not counted. Where a library's ordered map
/// does the work, an operation on k entries counts as the lg k + 1 comparisons of a bisection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Work {
    /// Two deadlines (or deadline and order) compared.
    Comparison,
    /// A link from one entry to another followed, or written. To put an entry into a list that is
    /// linked both ways takes [four](crate::lists::LINKS_IN), to take it out
    /// [two](crate::lists::LINKS_OUT).
    Link,
    /// A slot of a wheel looked into, or 64 of them at a time in the map of those that are
    /// occupied.
    SlotVisit,
    /// An entry or reference read while looking for those that are due, or while cleaning up.
    EntryScan,
    /// A timer moved from a higher level to a lower one, with all that belongs to it.
    CascadeMove,
    /// An element of an array moved to another place of it.
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

/// The comparisons of a bisection among so many entries: what an operation on a library's ordered
/// map, or a step of its sort, counts as.
///
/// ```
/// assert_eq!([0, 1, 2, 1_000].map(wheelhouse_core::meter::bisection), [1, 1, 2, 10]);
/// ```
#[inline]
pub fn bisection(entries: usize) -> u64 {
    u64::from(entries.checked_ilog2().unwrap_or(0)) + 1
}

/// Something that is told of each piece of work. Takes `&self` so that reading methods can be
/// counted too.
pub trait Meter {
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

/// Adds up each kind of work.
#[derive(Clone, Debug, Default)]
pub struct CountingMeter {
    counts: [Cell<u64>; Work::ALL.len()],
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
