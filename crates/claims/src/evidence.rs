//! The evidence of an experiment: the statements it decides, and the costs behind them. A sweep has
//! costs of several kinds against n, as one table and one picture.

use crate::growth::{Curve, Growth, Sample, Shape};
use crate::statement::{Criterion, EvidenceKind, StatedGrowth, Statement};
use crate::thresholds::Thresholds;
use std::fmt::Debug;
use wheelhouse_present::table::{Cell, Column, Table};

/// Everything that an experiment found.
///
/// Each method that takes an id such as `C28.2` decides that statement: by a class of growth, by
/// equality, or on every structure.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// In the order in which they were decided.
    pub statements: Vec<Statement>,
    /// The costs against n: tables and pictures of the report.
    pub sweeps: Vec<Sweep>,
    decided_by: EvidenceKind,
}

impl Evidence {
    /// Sets what decides the statements that follow.
    pub fn decide_by(&mut self, kind: EvidenceKind) -> &mut Self {
        self.decided_by = kind;
        self
    }

    /// Decides a statement.
    pub fn decide(
        &mut self,
        id: &'static str,
        sentence: impl Into<String>,
        criterion: Criterion,
        number: impl Into<String>,
    ) {
        let (sentence, number) = (sentence.into(), number.into());
        self.statements.push(Statement { id, sentence, by: self.decided_by, criterion, number });
    }

    /// Decides a statement by a value that is `true` or `false`.
    pub fn holds(
        &mut self,
        id: &'static str,
        sentence: impl Into<String>,
        holds: bool,
        number: impl Into<String>,
    ) {
        self.decide(id, sentence, Criterion::Holds(holds), number);
    }

    /// Decides a statement about all structures: it holds if each has this value, and there is at
    /// least one.
    pub fn equals_everywhere<T: PartialEq + Debug>(
        &mut self,
        id: &'static str,
        sentence: impl Into<String>,
        stated: T,
        outcomes: &[(&'static str, T)],
    ) {
        let others: Vec<_> = outcomes.iter().filter(|(_, found)| *found != stated).collect();
        let number = match others.as_slice() {
            [] => format!("{stated:?} on all {} structures", outcomes.len()),
            [(name, found), ..] => {
                format!("{} of {} differ; {name}: {found:?}", others.len(), outcomes.len())
            }
        };
        self.holds(id, sentence, others.is_empty() && !outcomes.is_empty(), number);
    }

    /// Decides a statement about how costs grow.
    pub fn growth<'a>(
        &mut self,
        id: &'static str,
        sentence: impl Into<String>,
        curves: impl IntoIterator<Item = &'a Curve>,
        stated: StatedGrowth,
    ) {
        let curves: Vec<Curve> = curves.into_iter().cloned().collect();
        let number = describe(&curves);
        self.decide(id, sentence, Criterion::Growth(curves, stated), number);
    }

    /// Decides the statement that one figure clearly exceeds another.
    pub fn exceeds(
        &mut self,
        id: &'static str,
        sentence: impl Into<String>,
        (more, less): (f64, f64),
    ) {
        let number = format!("{more:.1} against {less:.1}: {:.2} times", more / less);
        self.decide(id, sentence, Criterion::Exceeds(vec![(more, less)]), number);
    }
}

/// Columns of which the first has words and the others have figures.
pub(crate) fn left_then_right<const K: usize>(columns: [&str; K]) -> Vec<Column> {
    let column = |(at, name)| if at == 0 { Column::left(name) } else { Column::right(name) };
    columns.into_iter().enumerate().map(column).collect()
}

/// The range of the costs at the largest n, or of one cost over all n, and the classes.
fn describe(curves: &[Curve]) -> String {
    let mut classes: Vec<_> = curves.iter().map(Curve::growth).collect();
    classes.sort_unstable();
    classes.dedup();
    let classes: Vec<_> = classes.into_iter().map(Growth::name).collect();
    let figure = |steps: f64| {
        if steps >= 100.0 { format!("{steps:.0}") } else { format!("{steps:.1}") }
    };
    let steps = match curves {
        [one] => format!("{} to {}", figure(one.first()), figure(one.last())),
        several => {
            let last = || several.iter().map(Curve::last);
            let (least, most) = (last().fold(f64::INFINITY, f64::min), last().fold(0.0, f64::max));
            format!("{} to {} at the largest n", figure(least), figure(most))
        }
    };
    format!("{steps}: {}", classes.join(", "))
}

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
            let n = |at: Option<&Sample>| at.map_or(0, |it| it.n);
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
