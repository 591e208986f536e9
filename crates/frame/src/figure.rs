//! Figures, and the samples that they are taken from.

use wheelhouse_present::stats::{median, relative_deviation};
use wheelhouse_present::table::Cell;
use wheelhouse_present::units;

/// The result of a play: figures, or a sentence that says what was wrong.
pub type Played = Result<Vec<Figure>, String>;

/// The unit of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds.
    Time,
    /// A number per second.
    Rate,
    /// A number of things.
    Count,
    /// Bytes.
    Bytes,
}

impl Unit {
    /// The value as people read it.
    pub fn show(self, value: f64) -> String {
        match self {
            Self::Time => units::time(value),
            Self::Rate => units::count(value.round() as u64),
            Self::Count | Self::Bytes => units::number(value),
        }
    }

    /// The end of the key in JSON.
    fn suffix(self) -> &'static str {
        match self {
            Self::Time => "_ns",
            Self::Rate => "_per_s",
            Self::Count => "",
            Self::Bytes => "_bytes",
        }
    }
}

/// One figure of one play.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// The name. It is also the head of a column.
    pub name: &'static str,
    /// The unit.
    pub unit: Unit,
    /// The value.
    pub value: f64,
    /// `true` if the highest of several plays is shown and judged, not the median.
    pub is_worst: bool,
}

impl Figure {
    fn new(name: &'static str, unit: Unit, value: f64) -> Self {
        Self { name, unit, value, is_worst: false }
    }

    /// The same figure, for which the highest of several plays is shown.
    pub fn worst(self) -> Self {
        Self { is_worst: true, ..self }
    }

    /// A duration in nanoseconds.
    pub fn time(name: &'static str, nanos: f64) -> Self {
        Self::new(name, Unit::Time, nanos)
    }

    /// A rate per second: `count` things in `nanos` nanoseconds.
    pub fn rate(name: &'static str, count: u64, nanos: f64) -> Self {
        Self::new(name, Unit::Rate, if nanos > 0.0 { count as f64 * 1e9 / nanos } else { 0.0 })
    }

    /// A number of things.
    pub fn count(name: &'static str, count: u64) -> Self {
        Self::number(name, count as f64)
    }

    /// A number that need not be whole.
    pub fn number(name: &'static str, number: f64) -> Self {
        Self::new(name, Unit::Count, number)
    }

    /// Bytes divided by a number of things.
    pub fn bytes(name: &'static str, bytes: usize, each: usize) -> Self {
        Self::new(name, Unit::Bytes, bytes as f64 / each.max(1) as f64)
    }

    /// The key in JSON.
    pub fn key(&self) -> String {
        self.name.replace([' ', '/', '.', '\n'], "_") + self.unit.suffix()
    }
}

/// A figure with its values, one for each round.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The figure of the first round.
    pub figure: Figure,
    values: Vec<f64>,
}

impl Sample {
    /// One sample for each figure of these plays, in the order of the figures.
    pub(crate) fn all<'a>(plays: impl Iterator<Item = &'a [Figure]>) -> Vec<Self> {
        let mut samples: Vec<Self> = Vec::new();
        for figure in plays.flatten() {
            match samples.iter_mut().find(|sample| sample.figure.name == figure.name) {
                Some(sample) => sample.values.push(figure.value),
                None => samples.push(Self { figure: *figure, values: vec![figure.value] }),
            }
        }
        samples
    }

    /// The median of the values, or the highest if the figure asks for it.
    pub fn value(&self) -> Option<f64> {
        if self.figure.is_worst {
            self.values.iter().copied().reduce(f64::max)
        } else {
            median(&self.values)
        }
    }

    /// The value as people read it, with the spread if there is one.
    pub fn cell(&self) -> Cell {
        let Some(value) = self.value() else { return Cell::missing() };
        let has_spread = self.values.len() > 1 && !self.figure.is_worst;
        let spread = has_spread.then(|| relative_deviation(&self.values)).flatten();
        let spread = spread.filter(|share| *share >= 0.005);
        let spread = spread.map_or(String::new(), |share| format!("\n± {:.0} %", 100.0 * share));
        Cell::figure(value, self.figure.unit.show(value) + &spread)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_over_no_time_is_zero_and_keys_end_with_the_unit() {
        assert_eq!(Figure::rate("x", 5, 0.0).value, 0.0);
        assert_eq!(Figure::rate("x", 5, 2e9).value, 2.5);
        assert_eq!(Figure::time("p99.9", 1.0).key(), "p99_9_ns");
        assert_eq!(Figure::rate("schedule\none", 1, 1.0).key(), "schedule_one_per_s");
    }

    #[test]
    fn the_worst_figure_is_the_maximum_and_others_are_medians() {
        let plays =
            [3.0, 9.0, 4.0].map(|it| [Figure::time("a", it), Figure::time("b", it).worst()]);
        let samples = Sample::all(plays.iter().map(|play| play.as_slice()));
        let values: Vec<_> = samples.iter().map(Sample::value).collect();
        assert_eq!(values, [Some(4.0), Some(9.0)]);
    }
}
