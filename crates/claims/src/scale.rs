//! How much an experiment does.

/// Sizes and repetitions of the experiments that count. Those that have sizes of their own, from an article, do not look at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    /// Smallest n, as a power of two.
    pub from: u32,
    /// Largest n for operations that are constant or logarithmic, as a power of two.
    pub to: u32,
    /// Largest n where each operation passes all timers.
    pub to_linear: u32,
    /// Repetitions with other random numbers.
    pub seeds: u64,
}

impl Scale {
    /// What the report stands on: n = 2^10 to 2^20, linear ones to 2^14, five seeds.
    pub const WHOLE: Self = Self { from: 10, to: 20, to_linear: 14, seeds: 5 };
    /// What tests run: the same verdicts in seconds.
    pub const REDUCED: Self = Self { from: 8, to: 13, to_linear: 11, seeds: 5 };

    /// The sizes, each twice the one before.
    pub fn sizes(&self) -> Vec<u64> {
        (self.from..=self.to).map(|bits| 1 << bits).collect()
    }

    /// The sizes for operations that pass all timers.
    pub fn linear_sizes(&self) -> Vec<u64> {
        (self.from..=self.to_linear).map(|bits| 1 << bits).collect()
    }

    /// The largest n.
    pub fn largest(&self) -> u64 {
        1 << self.to
    }

    /// The seeds.
    pub fn seeds(&self) -> impl Iterator<Item = u64> + Clone + use<> {
        1..=self.seeds
    }
}
