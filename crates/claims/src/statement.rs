//! A statement of a claim, and how it is decided.

use crate::growth::{Curve, Growth};
use crate::thresholds::{Threshold, Thresholds};
use serde::{Deserialize, Serialize};
use std::fmt;

words! {
    /// The outcome of a statement.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Outcome {
        /// It holds.
        Confirmed = "confirmed",
        /// It does not hold.
        Refuted = "refuted",
        /// The counts do not decide it.
        Undecided = "undecided",
    }
}

impl From<Option<bool>> for Outcome {
    fn from(holds: Option<bool>) -> Self {
        match holds {
            Some(true) => Self::Confirmed,
            Some(false) => Self::Refuted,
            None => Self::Undecided,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

words! {
    /// The kind of evidence that decides a statement.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum EvidenceKind {
        /// Steps, wake-ups, slots or firings of structures, counted on a virtual clock.
        #[default]
        Counts = "counts",
        /// Instructions, counted by callgrind. They decide the order of structures, because a step
        /// of one structure may cost more than a step of another.
        Instructions = "instructions",
        /// A paper, documentation, or the source of a system, which cannot be run here.
        Sources = "sources",
        /// The code that an article prints, run unchanged.
        PrintedCode = "printed code",
        /// The arithmetic of a model of code that an article prints or describes.
        Arithmetic = "arithmetic of a model",
    }
}

impl EvidenceKind {
    /// Returns `true` if an experiment decides, and not the file of the claims.
    pub(crate) const fn is_experiment(self) -> bool {
        !matches!(self, Self::Sources | Self::PrintedCode)
    }
}

/// A sentence that holds or does not, and what decides it.
#[derive(Clone, Debug)]
pub struct Statement {
    /// The claim and a number, as `C28.2`.
    pub id: &'static str,
    /// The sentence, in the words of the claim.
    pub sentence: String,
    /// The kind of evidence that decides it.
    pub by: EvidenceKind,
    /// How it is decided.
    pub criterion: Criterion,
    /// The number that decides, in a few words.
    pub number: String,
}

/// How a statement is decided. It keeps the counts, so that they can be judged with other
/// thresholds.
#[derive(Clone, Debug)]
pub enum Criterion {
    /// A value, `true` or `false`, without a threshold.
    Holds(bool),
    /// Each cost grows as stated.
    Growth(Vec<Curve>, StatedGrowth),
    /// The ratio of the largest cost to the mean is at most [`Threshold::Spread`].
    IsStable(f64),
    /// Each first figure exceeds its second by the factor [`Threshold::Ahead`].
    Exceeds(Vec<(f64, f64)>),
}

impl Criterion {
    /// Decides the statement.
    pub fn outcome(&self, thresholds: &Thresholds) -> Outcome {
        self.holds(thresholds).into()
    }

    fn holds(&self, thresholds: &Thresholds) -> Option<bool> {
        match self {
            Self::Holds(holds) => Some(*holds),
            Self::Growth(curves, stated) => {
                all(curves.iter().map(|curve| stated.holds(curve, thresholds)))
            }
            Self::IsStable(ratio) => {
                ratio.is_finite().then(|| *ratio <= thresholds.of(Threshold::Spread))
            }
            Self::Exceeds(pairs) => {
                let factor = thresholds.of(Threshold::Ahead);
                let holds = |(more, less): &(f64, f64)| {
                    (more * less).is_finite().then(|| *more > factor * less)
                };
                all(pairs.iter().map(holds))
            }
        }
    }
}

/// The stated growth of a cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatedGrowth {
    /// It is exactly of a class: Θ.
    Is(Growth),
    /// It does not exceed a class: O.
    AtMost(Growth),
    /// It grows.
    Grows,
}

impl StatedGrowth {
    /// Returns whether it holds for a cost; `None` if the counts do not decide it.
    pub(crate) fn holds(self, curve: &Curve, thresholds: &Thresholds) -> Option<bool> {
        let it = curve.shape(thresholds);
        let is_decided = it.class != Growth::Undecided;
        match self {
            Self::Is(class) => is_decided.then_some(it.class == class),
            Self::Grows if is_decided => Some(it.class != Growth::Constant),
            Self::Grows => (it.slope.low > thresholds.of(Threshold::NoStep)).then_some(true),
            Self::AtMost(class) if it.at_most <= class => Some(true),
            Self::AtMost(class) => {
                // A refutation needs proof: a class above the stated one, or a power of n.
                let [power, risen] =
                    [Threshold::Power, Threshold::Risen].map(|it| thresholds.of(it));
                let is_power = it.exponent.is_some_and(|it| it.low > power);
                let surely_more = is_power && curve.last() > risen * curve.first();
                (is_decided || class != Growth::Linear && surely_more).then_some(false)
            }
        }
    }
}

/// `Some(false)` if any is `Some(false)`; otherwise `None` if one is unknown or there is none.
fn all(each: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let each: Vec<_> = each.collect();
    if each.contains(&Some(false)) {
        Some(false)
    } else {
        (!each.is_empty() && !each.contains(&None)).then_some(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(cost: impl Fn(f64) -> f64) -> Curve {
        let sizes: Vec<u64> = (10..=20).map(|bits| 1 << bits).collect();
        Curve::sweep(&sizes, 1..=5, |n, seed| cost(n as f64) * (1.0 + seed as f64 * 1e-5))
    }

    fn outcome(criterion: &Criterion) -> Outcome {
        criterion.outcome(&Thresholds::default())
    }

    #[test]
    fn o_is_at_most_and_theta_is_exact() {
        use StatedGrowth::{AtMost, Grows, Is};
        let (flat, log) = (vec![curve(|_| 4.0)], vec![curve(f64::log2)]);
        let (root, cube) = (vec![curve(f64::sqrt)], vec![curve(f64::cbrt)]);
        let both = [flat, log].concat();
        for (curves, stated, expected) in [
            (&both, AtMost(Growth::Logarithmic), Outcome::Confirmed),
            (&both, Is(Growth::Logarithmic), Outcome::Refuted),
            (&root, Is(Growth::Linear), Outcome::Undecided),
            (&root, AtMost(Growth::Linear), Outcome::Confirmed),
            (&root, Grows, Outcome::Confirmed),
            (&cube, AtMost(Growth::Constant), Outcome::Undecided),
            (&Vec::new(), Is(Growth::Constant), Outcome::Undecided),
        ] {
            let found = outcome(&Criterion::Growth(curves.clone(), stated));
            assert_eq!(found, expected, "{stated:?}");
        }
    }

    #[test]
    fn a_ratio_is_compared_with_a_threshold() {
        let unknown = Criterion::Exceeds(vec![(f64::NAN, 1.0)]);
        assert_eq!(outcome(&unknown), Outcome::Undecided);
        let twice = Criterion::Exceeds(vec![(2.0, 1.0)]);
        let doubled = Thresholds::default().scaled(Threshold::Ahead, 2.0);
        assert_eq!(outcome(&twice), Outcome::Confirmed);
        assert_eq!(twice.outcome(&doubled), Outcome::Refuted);
    }
}
