//! Axes: the place of a figure, from 0 to 1, and the ticks.

use crate::units;

/// A line across the plot, with a label at its end if it is a major tick.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// Place on the axis, 0 to 1.
    pub at: f64,
    /// The label; empty on a minor tick.
    pub label: String,
}

/// An axis: a scale, its ends, and its ticks.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The measured quantity, with the unit or the kind of scale.
    pub title: String,
    /// From low to high.
    pub ticks: Vec<Tick>,
    scale: Scale,
    low: f64,
    high: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Scale {
    Linear,
    Log,
    /// Percentiles by the number of nines. 100 is at the end.
    Nines,
}

/// Amounts that differ by more than this factor are shown on a logarithmic scale.
const LOG_SCALE_FACTOR: f64 = 8.0;

impl Axis {
    /// Times in ns on a logarithmic scale that covers all positive values; `None` if there is none.
    pub fn time(title: &str, values: impl Iterator<Item = f64>) -> Option<Self> {
        let (low, high) = positive_range(values)?;
        Some(Self::steps(&format!("{title} (log scale)"), low, high, units::short_time))
    }

    fn steps(title: &str, low: f64, high: f64, label: fn(f64) -> String) -> Self {
        // The highest and lowest grid lines have labels.
        let steps = steps(low, high.max(low * 1.01));
        let (low, high) = (steps[0].log10(), steps[steps.len() - 1].log10());
        let mut axis = Self::empty(title, Scale::Log, low, high);
        let few = steps.len() <= 11;
        for step in steps {
            let decade = step.log10();
            let is_named = few || (decade - decade.round()).abs() < 1e-9;
            axis.tick(step, if is_named { label(step) } else { String::new() });
        }
        axis
    }

    /// Sizes on a logarithmic scale, with a tick at each; `None` if none is above zero.
    pub fn sizes(title: &str, sizes: &[u64]) -> Option<Self> {
        let (low, high) = positive_range(sizes.iter().map(|n| *n as f64))?;
        // Leave room at both ends, and around a single n.
        let room = ((high.log10() - low.log10()) * 0.04).max(0.08);
        let mut axis = Self::empty(title, Scale::Log, low.log10() - room, high.log10() + room);
        let mut last = f64::NEG_INFINITY;
        for size in sizes.iter().filter(|n| **n > 0) {
            let at = axis.place(*size as f64).unwrap_or(0.0);
            // Labels closer than this would overlap.
            let label = if at - last >= 0.09 { units::short_count(*size) } else { String::new() };
            last = if label.is_empty() { last } else { at };
            axis.tick(*size as f64, label);
        }
        Some(axis)
    }

    /// Amounts on a linear scale from zero. If that would press most of them flat, the scale is
    /// logarithmic, which the title states. `None` without amounts.
    pub fn amount(title: &str, values: impl Iterator<Item = f64>) -> Option<Self> {
        let values: Vec<f64> = values.filter(|v| v.is_finite() && *v >= 0.0).collect();
        if let Some((low, high)) = positive_range(values.iter().copied())
            .filter(|(low, high)| *high > *low * LOG_SCALE_FACTOR)
        {
            return Some(Self::steps(&format!("{title} (log scale)"), low, high, short_amount));
        }
        let most = values.into_iter().max_by(f64::total_cmp)?;
        let most = if most > 0.0 { most } else { 1.0 };
        let step = steps(most / 8.0, most / 8.0).pop()?;
        let high = (most / step).ceil() * step;
        let mut axis = Self::empty(title, Scale::Linear, 0.0, high);
        for i in 0..=(high / step).round() as u32 {
            axis.tick(f64::from(i) * step, units::short(f64::from(i) * step));
        }
        Some(axis)
    }

    /// The same axis for the horizontal direction, in which labels are next to each other. Labels
    /// that would overlap are removed, powers of ten last.
    pub fn horizontal(mut self) -> Self {
        const APART: f64 = 0.11;
        let places: Vec<f64> =
            self.ticks.iter().filter(|tick| !tick.label.is_empty()).map(|tick| tick.at).collect();
        if places.windows(2).all(|pair| pair[1] - pair[0] >= APART) {
            return self;
        }
        let is_decade = |label: &str| label.starts_with('1') && !label.contains(['2', '5']);
        let decades = self.ticks.iter().filter(|tick| is_decade(&tick.label)).count();
        let mut last = f64::NEG_INFINITY;
        for tick in self.ticks.iter_mut().filter(|tick| !tick.label.is_empty()) {
            if tick.at - last < APART || decades > 2 && !is_decade(&tick.label) {
                tick.label.clear();
            } else {
                last = tick.at;
            }
        }
        self
    }

    /// Percentiles up to `finest`, and then 100. Each further nine is as wide as the one before.
    pub fn percentiles(title: &str, finest: f64) -> Self {
        let last = nines(finest.clamp(99.99, 99.999_999));
        let mut axis = Self::empty(title, Scale::Nines, 0.0, last + 0.75);
        for percentile in [0.0, 50.0, 90.0, 99.0, 99.9, 99.99, 99.999] {
            if nines(percentile) <= last + 0.01 {
                axis.tick(percentile, percentile.to_string());
            }
        }
        axis.tick(100.0, "max".to_owned());
        axis
    }

    /// The place of a value, 0 at the low end and 1 at the high one; `None` if the scale cannot
    /// show it.
    pub fn place(&self, value: f64) -> Option<f64> {
        let at = match self.scale {
            Scale::Linear => value,
            Scale::Log if value > 0.0 => value.log10(),
            Scale::Log => return None,
            Scale::Nines => nines(value).min(self.high),
        };
        let place = (at - self.low) / (self.high - self.low);
        place.is_finite().then_some(place.clamp(0.0, 1.0))
    }

    /// Returns `true` if a value is between the ends.
    pub fn spans(&self, value: f64) -> bool {
        // `place` moves a value from outside to the nearer end.
        self.place(value).is_some_and(|at| at > 0.0 && at < 1.0)
    }

    fn empty(title: &str, scale: Scale, low: f64, high: f64) -> Self {
        Self { title: title.to_owned(), ticks: Vec::new(), scale, low, high }
    }

    fn tick(&mut self, value: f64, label: String) {
        if let Some(at) = self.place(value) {
            self.ticks.push(Tick { at, label });
        }
    }
}

fn short_amount(value: f64) -> String {
    if value >= 10_000.0 { units::short_count(value.round() as u64) } else { units::short(value) }
}

/// How many nines a percentile has: 0 for 0, 1 for 90, 2 for 99; infinite for 100.
fn nines(percentile: f64) -> f64 {
    -(1.0 - percentile.clamp(0.0, 100.0) / 100.0).log10()
}

fn positive_range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.filter(|v| v.is_finite() && *v > 0.0).fold(None, |range, v| match range {
        None => Some((v, v)),
        Some((low, high)) => Some((v.min(low), v.max(high))),
    })
}

/// The values 1, 2, 5, 10, 20, ... from the last that is not above `low` to the first that is not
/// below `high`, so there is at least one.
fn steps(low: f64, high: f64) -> Vec<f64> {
    let (first, last) = (low.log10().floor() as i32 - 1, high.log10().ceil() as i32 + 1);
    let all = (first..=last).flat_map(|decade| [1.0, 2.0, 5.0].map(|m| m * 10f64.powi(decade)));
    let all: Vec<f64> = all.collect();
    // Rounding may have moved a step by a little.
    let from = all.iter().rposition(|step| *step <= low * (1.0 + 1e-9)).unwrap_or(0);
    let to = all.iter().position(|step| *step >= high * (1.0 - 1e-9)).unwrap_or(all.len() - 1);
    all[from..=to].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|t| t.label.as_str()).filter(|l| !l.is_empty()).collect()
    }

    #[test]
    fn a_time_axis_ends_on_steps_and_ignores_values_that_are_not_positive() {
        let axis = Axis::time("t", [0.0, -1.0, f64::NAN, 12.0, 340.0].into_iter()).unwrap();
        assert_eq!(labels(&axis), ["10 ns", "20 ns", "50 ns", "100 ns", "200 ns", "500 ns"]);
        assert_eq!((axis.ticks[0].at, axis.ticks[5].at), (0.0, 1.0));
        assert_eq!([10.0, 0.0, 1e9].map(|it| axis.place(it)), [Some(0.0), None, Some(1.0)]);
        assert_eq!(Axis::time("t", [0.0].into_iter()), None);
    }

    #[test]
    fn a_wide_time_axis_labels_decades_only() {
        let axis = Axis::time("t", [30.0, 9e6].into_iter()).unwrap();
        assert_eq!(labels(&axis), ["100 ns", "1 µs", "10 µs", "100 µs", "1 ms", "10 ms"]);
    }

    #[test]
    fn an_axis_needs_only_one_value() {
        for value in [1.0, 5.0, 7.3, 1000.0] {
            let axis = Axis::time("t", std::iter::once(value)).unwrap();
            assert!(axis.ticks.len() >= 2, "{value}: {:?}", axis.ticks);
            assert!(axis.place(value).is_some());
        }
        assert_eq!(labels(&Axis::sizes("n", &[1_000_000]).unwrap()), ["1M"]);
        assert_eq!(Axis::sizes("n", &[0]), None);
    }

    #[test]
    fn amounts_start_at_zero() {
        let axis = Axis::amount("b", [36.0, 120.0].into_iter()).unwrap();
        assert_eq!(labels(&axis), ["0", "20", "40", "60", "80", "100", "120"]);
        assert_eq!(axis.title, "b");
        assert_eq!(labels(&Axis::amount("b", std::iter::once(0.0)).unwrap()).first(), Some(&"0"));
    }

    #[test]
    fn amounts_of_different_magnitudes_get_a_log_scale() {
        let axis = Axis::amount("b", [0.0, 40.0, 746.0].into_iter()).unwrap();
        assert_eq!(axis.title, "b (log scale)");
        assert_eq!(labels(&axis), ["20", "50", "100", "200", "500", "1,000"]);
        assert_eq!(axis.place(0.0), None);
    }

    #[test]
    fn overlapping_labels_are_removed_from_a_horizontal_axis() {
        let wide = |high: f64| Axis::amount("n", [1_000.0, high].into_iter()).unwrap();
        assert_eq!(labels(&wide(1e6)).len(), 10);
        assert_eq!(labels(&wide(1e6).horizontal()), ["1,000", "10k", "100k", "1M"]);
        assert_eq!(labels(&wide(10_000.0).horizontal()), ["1,000", "2,000", "5,000", "10k"]);
        let ticks = wide(1e12).horizontal().ticks.into_iter();
        let places: Vec<f64> = ticks.filter(|t| !t.label.is_empty()).map(|t| t.at).collect();
        assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= 0.11), "{places:?}");
    }

    #[test]
    fn each_further_nine_of_a_percentile_has_the_same_width() {
        let axis = Axis::percentiles("p", 99.999);
        assert_eq!(labels(&axis), ["0", "50", "90", "99", "99.9", "99.99", "99.999", "max"]);
        assert_eq!((axis.place(0.0), axis.place(100.0)), (Some(0.0), Some(1.0)));
        let width = |a, b| axis.place(b).unwrap() - axis.place(a).unwrap();
        assert!((width(90.0, 99.0) - width(99.9, 99.99)).abs() < 1e-9);
    }
}
