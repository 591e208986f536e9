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
    NoStep = 0.05, "a constant cost grows by fewer steps than this for each doubling of n";
    Relative = 0.002, "a constant cost may also grow by this share of itself";
    Exponent = 0.05, "the exponent of a linear cost differs from 1 by less than this";
    Trend = 0.2, "the slope of a logarithmic cost changes by less than this share over the range";
    Margin = 3.0, "the half-width of its interval is below the allowed change, times this";
    End = 0.5, "the last sizes of a logarithmic cost have at least this share of the slope";
    Width = 1.0, "the width of all intervals, in multiples of the 95 % interval";
    Sizes = 4.0, "a cost has a class if it was counted at this many sizes or more";
    UpperHalf = 8.0, "from this many sizes on, a cost whose upper half is flat is constant";
    Spike = 0.5, "the cost at a spike exceeds both neighbours by more than this share";
    SpikeSteps = 1.0, "the cost at a spike exceeds both neighbours by more than this many steps";
    SpikeSeeds = 0.5, "a spike occurs with more than this share of the seeds";
    Jump = 0.5, "a constant cost may have one jump, of less than this share of its mean";
    Power = 0.5, "an undecided cost is above O(log n) if it grows faster than this power of n";
    Risen = 2.0, "it must also have risen by more than this factor";
    Wrong = 0.01, "at most this share of the planted costs may get a wrong class";
    Missed = 0.02, "at most this share of them may be clean costs that miss their class";
    Ahead = 1.1, "'fewer instructions' means fewer by more than this factor";
    Spread = 4.0, "the dearest operation of a 'stable' cost is at most this multiple of the mean";
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
