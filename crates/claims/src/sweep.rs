//! A sweep: costs of several kinds against n, as one table and one picture.

use crate::evidence::left_then_right;
use crate::growth::{Curve, Shape};
use crate::thresholds::Thresholds;
use wheelhouse_present::table::{Cell, Table};

/// Costs against n, by name.
#[derive(Clone, Debug)]
pub struct Sweep {
    pub(crate) title: String,
    /// The meaning of a figure, in a line.
    pub(crate) unit: String,
    /// The quantity that the costs depend on.
    pub(crate) x: String,
    pub(crate) lines: Vec<(String, Curve)>,
}

impl Sweep {
    /// A sweep over numbers of timers.
    pub fn new(title: impl Into<String>, unit: impl Into<String>) -> Self {
        Self::over("timers", title, unit)
    }

    /// A sweep over another quantity.
    pub fn over(x: impl Into<String>, title: impl Into<String>, unit: impl Into<String>) -> Self {
        let (title, unit, x) = (title.into(), unit.into(), x.into());
        Self { title, unit, x, lines: Vec::new() }
    }

    /// Adds a line.
    pub fn add(&mut self, name: impl Into<String>, curve: Curve) -> &mut Self {
        self.lines.push((name.into(), curve));
        self
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

    /// Steps at the smallest and the largest n, the class, the slope with its interval, and spikes.
    pub fn table(&self) -> Table {
        let columns =
            ["", "n", "at the smallest", "at the largest", "class", "per doubling", "spikes"];
        let title = format!("{}: {}", self.title, self.unit);
        let mut table = Table::new(title, left_then_right(columns));
        for (name, curve) in &self.lines {
            let shape = curve.shape(&Thresholds::default());
            let n = |at: Option<&crate::growth::Sample>| at.map_or(0, |it| it.n);
            let row = [
                name.clone(),
                format!("{} to {}", n(curve.0.first()), n(curve.0.last())),
                format!("{:.2}", curve.first()),
                format!("{:.2}", curve.last()),
                shape.class.name().to_owned(),
                shape.per_doubling(),
                spikes(&shape, curve),
            ];
            table.rows.push(row.map(Cell::text).into());
        }
        table
    }
}

fn spikes(shape: &Shape, curve: &Curve) -> String {
    let cost = |n: &u64| curve.points().into_iter().find(|(at, _)| *at == *n as f64);
    let describe = |n: &u64| format!("{:.1} at {n}", cost(n).map_or(f64::NAN, |it| it.1));
    shape.spikes.iter().map(describe).collect::<Vec<_>>().join(", ")
}
