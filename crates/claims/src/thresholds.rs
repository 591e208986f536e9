//! All thresholds of our choice that outcomes depend on, in one table.
//!
//! A claim is decided by a class of growth or by equality wherever possible. Every tolerance that
//! is needed is defined here and nowhere else. The report prints the table, with the statements
//! whose outcome changes if a threshold is halved or doubled.

macro_rules! thresholds {
    ($($name:ident = $value:literal, $what:literal;)+) => {
        /// A number that outcomes depend on.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Threshold {
            $(#[doc = $what] $name,)+
        }

        impl Threshold {
            /// All, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// A description of the bound.
            pub const fn what(self) -> &'static str {
                match self { $(Self::$name => $what,)+ }
            }

            const fn value(self) -> f64 {
                match self { $(Self::$name => $value,)+ }
            }
        }
    };
}

thresholds! {
    NoStep = 0.05, "steps a doubling below which a cost does not grow";
    Relative = 0.002, "the same, as a share of the cost itself";
    Exponent = 0.05, "how far the exponent of a linear cost may be from 1";
    Trend = 0.2, "how much the slope of a logarithmic cost may change over the range, as a share";
    End = 0.5, "what share of the slope the last sizes must have for a logarithm";
    Margin = 3.0, "how many times that the half-width of this change's interval may be";
    Width = 1.0, "how wide an interval is, in multiples of the 95 % one";
    Sizes = 4.0, "with fewer sizes a cost has no class";
    UpperHalf = 8.0, "sizes from which a flat upper half makes a cost constant";
    Spike = 0.5, "by what share one size must exceed both neighbours to be a spike";
    SpikeSteps = 1.0, "by how many steps it must, too";
    SpikeSeeds = 0.5, "for what share of the seeds it must";
    Jump = 0.5, "what share of a constant cost one jump may be";
    Power = 0.5, "the power of n beyond which a cost exceeds a logarithm, undecided or not";
    Risen = 2.0, "the factor by which such a cost must have risen";
    Wrong = 0.01, "what share of the planted costs may be given the class of another";
    Missed = 0.02, "what share of them may be clean and not given their class";
    Ahead = 1.1, "the factor of 'better', on instructions";
    Spread = 4.0, "the largest operation over the mean where a cost is 'stable'";
}

/// A value for each threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct Thresholds(Vec<f64>);

impl Default for Thresholds {
    fn default() -> Self {
        Self(Threshold::ALL.iter().map(|threshold| threshold.value()).collect())
    }
}

impl Thresholds {
    /// The value of a threshold.
    pub fn of(&self, threshold: Threshold) -> f64 {
        self.0[threshold as usize]
    }

    /// These values, with one of them multiplied.
    #[must_use]
    pub fn scaled(mut self, threshold: Threshold, factor: f64) -> Self {
        self.0[threshold as usize] *= factor;
        self
    }
}
