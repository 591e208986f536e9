//! A statement of a claim, and how it is decided.

use crate::growth::{Curve, Growth};
use crate::thresholds::{Threshold, Thresholds};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The outcome of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It holds.
    Confirmed,
    /// It does not hold.
    Refuted,
    /// The counts do not decide it.
    Undecided,
}

impl Outcome {
    /// All, in the order of the tally.
    pub const ALL: [Self; 3] = [Self::Confirmed, Self::Refuted, Self::Undecided];

    /// The word in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::Refuted => "refuted",
            Self::Undecided => "undecided",
        }
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

/// The kind of evidence that decides a statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EvidenceKind {
    /// Steps, wake-ups, slots or firings of structures, counted on a virtual clock.
    #[default]
    Counts,
    /// Instructions, counted by callgrind. They decide the order of structures, because a step of
    /// one structure may cost more than a step of another.
    Instructions,
    /// A paper, documentation, or the source of a system, which cannot be run here.
    Sources,
    /// The code that an article prints, run unchanged.
    PrintedCode,
    /// The arithmetic of a model of code that an article prints or describes.
    Arithmetic,
}

impl EvidenceKind {
    /// Returns `true` if an experiment decides, and not the file of the claims.
    pub(crate) const fn is_experiment(self) -> bool {
        !matches!(self, Self::Sources | Self::PrintedCode)
    }

    /// The words in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Counts => "counts",
            Self::Instructions => "instructions",
            Self::Sources => "sources",
            Self::PrintedCode => "printed code",
            Self::Arithmetic => "arithmetic of a model",
        }
    }
}

/// A sentence that holds or does not, and what decides it.
#[derive(Clone, Debug)]
pub struct Statement {
    /// The claim and a number, as `C28.2`.
    pub id: &'static str,
    /// The sentence, in the words of the claim.
    pub quote: String,
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
    /// Each cost is exactly of a class: Θ.
    Is(Vec<Curve>, Growth),
    /// No cost exceeds a class: O.
    AtMost(Vec<Curve>, Growth),
    /// Each cost grows.
    Grows(Vec<Curve>),
    /// A ratio does not exceed a factor.
    AtMostTimes(f64, Threshold),
    /// Each first figure exceeds its second by a factor.
    Exceeds(Vec<(f64, f64)>, Threshold),
}

impl Criterion {
    /// Decides the statement.
    pub fn outcome(&self, thresholds: &Thresholds) -> Outcome {
        self.holds(thresholds).into()
    }

    fn holds(&self, thresholds: &Thresholds) -> Option<bool> {
        let shapes = |curves: &[Curve]| -> Vec<_> {
            curves.iter().map(|curve| curve.shape(thresholds)).collect()
        };
        match self {
            Self::Holds(holds) => Some(*holds),
            Self::Is(curves, class) => all(shapes(curves)
                .iter()
                .map(|it| (it.class != Growth::Undecided).then_some(it.class == *class))),
            Self::AtMost(curves, class) => {
                all(curves.iter().map(|curve| is_at_most(curve, *class, thresholds)))
            }
            Self::Grows(curves) => all(shapes(curves).iter().map(|it| {
                if it.class == Growth::Undecided {
                    (it.slope.low > thresholds.of(Threshold::NoStep)).then_some(true)
                } else {
                    Some(it.class != Growth::Constant)
                }
            })),
            Self::AtMostTimes(ratio, threshold) => {
                ratio.is_finite().then(|| *ratio <= thresholds.of(*threshold))
            }
            Self::Exceeds(pairs, threshold) => {
                let holds = |(more, less): &(f64, f64)| {
                    (more * less).is_finite().then(|| *more > thresholds.of(*threshold) * less)
                };
                all(pairs.iter().map(holds))
            }
        }
    }
}

/// Returns whether a cost does not exceed a class. A refutation needs proof: a class above the
/// claimed one, or growth as a power of n.
fn is_at_most(curve: &Curve, class: Growth, thresholds: &Thresholds) -> Option<bool> {
    let it = curve.shape(thresholds);
    let [power, risen] = [Threshold::Power, Threshold::Risen].map(|it| thresholds.of(it));
    let is_power = it.exponent.is_some_and(|it| it.low > power);
    let surely_more = is_power && curve.last() > risen * curve.first();
    if it.at_most <= class {
        Some(true)
    } else {
        let is_proven = it.class != Growth::Undecided;
        (is_proven || class != Growth::Linear && surely_more).then_some(false)
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

    fn outcome(test: &Criterion) -> Outcome {
        test.outcome(&Thresholds::default())
    }

    #[test]
    fn o_is_at_most_and_theta_is_exact() {
        let (flat, log) = (curve(|_| 4.0), curve(f64::log2));
        let at_most = Criterion::AtMost(vec![flat.clone(), log.clone()], Growth::Logarithmic);
        assert_eq!(outcome(&at_most), Outcome::Confirmed);
        assert_eq!(outcome(&Criterion::Is(vec![flat, log], Growth::Logarithmic)), Outcome::Refuted);
        let root = curve(f64::sqrt);
        assert_eq!(outcome(&Criterion::Is(vec![root.clone()], Growth::Linear)), Outcome::Undecided);
        assert_eq!(
            outcome(&Criterion::AtMost(vec![root.clone()], Growth::Linear)),
            Outcome::Confirmed
        );
        let cube = curve(f64::cbrt);
        assert_eq!(outcome(&Criterion::AtMost(vec![cube], Growth::Constant)), Outcome::Undecided);
        assert_eq!(outcome(&Criterion::Grows(vec![root])), Outcome::Confirmed);
    }

    #[test]
    fn a_criterion_without_samples_is_undecided() {
        assert_eq!(outcome(&Criterion::Is(Vec::new(), Growth::Constant)), Outcome::Undecided);
        let unknown = Criterion::Exceeds(vec![(f64::NAN, 1.0)], Threshold::Ahead);
        assert_eq!(outcome(&unknown), Outcome::Undecided);
        // Another threshold may change an outcome.
        let twice = Criterion::Exceeds(vec![(2.0, 1.0)], Threshold::Ahead);
        let doubled = Thresholds::default().scaled(Threshold::Ahead, 2.0);
        assert_eq!(outcome(&twice), Outcome::Confirmed);
        assert_eq!(twice.outcome(&doubled), Outcome::Refuted);
    }
}
