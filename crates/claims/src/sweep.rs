//! A sweep: costs of several kinds against n, as one table and one chart.

use crate::evidence::{Chart, Series, Table};
use crate::growth::{Curve, Shape};
use crate::thresholds::Thresholds;
use std::ops::Index;

/// Costs against n, by name.
#[derive(Clone, Debug)]
pub struct Sweep {
    title: String,
    /// The meaning of a figure, in a line.
    unit: String,
    x: String,
    lines: Vec<(String, Curve)>,
    /// Names of lines that the chart leaves out.
    hidden: Vec<String>,
}

impl Sweep {
    /// A sweep over numbers of timers.
    pub fn new(title: impl Into<String>, unit: impl Into<String>) -> Self {
        Self::over("timers", title, unit)
    }

    /// A sweep over another quantity.
    pub fn over(x: impl Into<String>, title: impl Into<String>, unit: impl Into<String>) -> Self {
        let (title, unit, x) = (title.into(), unit.into(), x.into());
        Self { title, unit, x, lines: Vec::new(), hidden: Vec::new() }
    }

    /// Adds a line.
    pub fn add(&mut self, name: impl Into<String>, curve: Curve) -> &mut Self {
        self.lines.push((name.into(), curve));
        self
    }

    /// Adds a line to the table, but not to the chart.
    pub fn add_hidden(&mut self, name: impl Into<String>, curve: Curve) -> &mut Self {
        let name = name.into();
        self.hidden.push(name.clone());
        self.add(name, curve)
    }

    /// Adds the costs of one run. Each line is named by the structure and the cost.
    pub fn add_run<const K: usize>(
        &mut self,
        who: &str,
        what: [&str; K],
        curves: [Curve; K],
    ) -> &mut Self {
        for (what, curve) in what.into_iter().zip(curves) {
            self.add(format!("{who}, {what}"), curve);
        }
        self
    }

    /// The lines whose names contain all of these parts.
    pub fn all<'a>(&'a self, parts: &'a [&str]) -> impl Iterator<Item = &'a Curve> {
        let is = move |(name, _): &&(String, Curve)| parts.iter().all(|part| name.contains(part));
        self.lines.iter().filter(is).map(|(_, curve)| curve)
    }

    /// The lines of these structures whose names contain all of these parts.
    pub fn of<'a>(
        &'a self,
        structures: &'a [&str],
        parts: &'a [&str],
    ) -> impl Iterator<Item = &'a Curve> {
        let is = move |(name, _): &&(String, Curve)| {
            let who = name.split(',').next().unwrap_or("");
            structures.contains(&who) && parts.iter().all(|part| name.contains(part))
        };
        self.lines.iter().filter(is).map(|(_, curve)| curve)
    }

    /// The least cost at the largest n of the lines whose names contain all of these parts.
    pub fn least(&self, parts: &[&str]) -> f64 {
        self.all(parts).map(Curve::last).fold(f64::INFINITY, f64::min)
    }

    /// The greatest cost at any n of the lines whose names contain all of these parts.
    pub fn greatest(&self, parts: &[&str]) -> f64 {
        self.all(parts).map(Curve::greatest).fold(0.0, f64::max)
    }

    /// Steps at the smallest and the largest n, the class, the slope with its interval, and spikes.
    pub fn table(&self) -> Table {
        let columns =
            ["", "n", "at the smallest", "at the largest", "class", "per doubling", "spikes"];
        let mut table = Table::new(format!("{}: {}", self.title, self.unit), columns);
        for (name, curve) in &self.lines {
            let shape = curve.shape(&Thresholds::default());
            let n = |at: Option<&crate::growth::Sample>| at.map_or(0, |it| it.n);
            table.row([
                name.clone(),
                format!("{} to {}", n(curve.0.first()), n(curve.0.last())),
                format!("{:.2}", curve.first()),
                format!("{:.2}", curve.last()),
                shape.class.to_string(),
                per_doubling(&shape),
                spikes(&shape, curve),
            ]);
        }
        table
    }

    /// The lines that are not hidden; `None` if no cost is above 0.
    pub fn chart(&self) -> Option<Chart> {
        let drawn = self.lines.iter().filter(|(name, _)| !self.hidden.contains(name));
        let series = |(name, curve): &(String, Curve)| Series {
            name: name.clone(),
            points: curve.points().into_iter().filter(|(_, cost)| *cost > 0.0).collect(),
        };
        let series: Vec<_> = drawn.map(series).filter(|line| !line.points.is_empty()).collect();
        let (title, subtitle, x) = (self.title.clone(), self.unit.clone(), self.x.clone());
        let y = "steps".to_owned();
        (!series.is_empty()).then_some(Chart { title, subtitle, x, y, series })
    }
}

/// The slope, or the exponent of a linear cost, with half the width of its interval.
fn per_doubling(shape: &Shape) -> String {
    let width = |it: crate::growth::Interval| it.high - it.mean;
    match shape.exponent.filter(|_| shape.class == crate::growth::Growth::Linear) {
        Some(it) => format!("n^{:.3} ± {:.3}", it.mean, width(it)),
        None => format!("{:+.3} ± {:.3}", shape.slope.mean, width(shape.slope)),
    }
}

fn spikes(shape: &Shape, curve: &Curve) -> String {
    let cost = |n: &u64| curve.points().into_iter().find(|(at, _)| *at == *n as f64);
    let describe = |n: &u64| format!("{:.1} at {n}", cost(n).map_or(f64::NAN, |it| it.1));
    shape.spikes.iter().map(describe).collect::<Vec<_>>().join(", ")
}

/// Returns the line with this name.
///
/// # Panics
///
/// If there is none: experiments read only lines that they have added.
impl Index<&str> for Sweep {
    type Output = Curve;

    fn index(&self, name: &str) -> &Curve {
        let found = self.lines.iter().find(|(line, _)| line == name);
        &found.unwrap_or_else(|| panic!("the sweep '{}' has no line '{name}'", self.title)).1
    }
}
