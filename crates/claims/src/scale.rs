//! The size of an experiment.

use std::borrow::Cow;

/// Sizes and repetitions. An experiment that takes its sizes from an article ignores these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scale {
    /// Smallest n, as a power of two.
    pub from: u32,
    /// Largest n for constant and logarithmic operations, as a power of two.
    pub to: u32,
    /// Largest n for operations that visit all timers, as a power of two.
    pub to_linear: u32,
    /// Each seed is a repetition with other random numbers.
    pub seeds: Cow<'static, [u64]>,
}

impl Scale {
    /// The scale of the report: n = 2^10 to 2^20, 2^14 for linear operations, five seeds.
    pub const WHOLE: Self = Self { from: 10, to: 20, to_linear: 14, seeds: SEEDS };
    /// The scale of the tests: the same outcomes in seconds.
    pub const REDUCED: Self = Self { from: 8, to: 13, to_linear: 11, seeds: SEEDS };

    /// The same sizes with other seeds.
    #[must_use]
    pub fn seeded(self, seeds: impl Into<Vec<u64>>) -> Self {
        Self { seeds: Cow::Owned(seeds.into()), ..self }
    }

    /// The sizes, each twice the one before.
    pub fn sizes(&self) -> Vec<u64> {
        powers(self.from, self.to)
    }

    /// The sizes for operations that visit all timers.
    pub fn linear_sizes(&self) -> Vec<u64> {
        powers(self.from, self.to_linear)
    }

    /// The largest n.
    pub fn largest(&self) -> u64 {
        1 << self.to
    }

    /// The seeds.
    pub fn seeds(&self) -> impl Iterator<Item = u64> + Clone + use<'_> {
        self.seeds.iter().copied()
    }
}

const SEEDS: Cow<'static, [u64]> = Cow::Borrowed(&[1, 2, 3, 4, 5]);

/// 2^from, 2^(from+1) .. 2^to.
pub(crate) fn powers(from: u32, to: u32) -> Vec<u64> {
    (from..=to).map(|bits| 1 << bits).collect()
}
