//! The evidence of an experiment: the statements it decides, and the tables and charts behind them.

use crate::growth::{Curve, Growth};
use crate::phrase::{Phrase, phrase};
use crate::statement::{Criterion, EvidenceKind, Statement};
use crate::sweep::Sweep;
use crate::thresholds::Threshold;
use serde::Serialize;

/// Everything that an experiment found.
///
/// Each method that takes an id such as `C28.2` decides that statement: by a class of growth, by
/// equality, or on every structure.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// In the order in which they were decided.
    pub statements: Vec<Statement>,
    /// The counts.
    pub tables: Vec<Table>,
    /// The same counts as pictures, where a picture says more.
    pub charts: Vec<Chart>,
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
        quote: impl Into<String>,
        criterion: Criterion,
        number: impl Into<String>,
    ) {
        let (quote, number) = (quote.into(), number.into());
        self.statements.push(Statement { id, quote, by: self.decided_by, criterion, number });
    }

    /// Decides a statement by a value that is `true` or `false`.
    pub fn holds(
        &mut self,
        id: &'static str,
        quote: impl Into<String>,
        holds: bool,
        number: impl Into<String>,
    ) {
        self.decide(id, quote, Criterion::Holds(holds), number);
    }

    /// Decides a statement by equality: it holds if the stated and the found value are the same.
    pub fn equals<T: PartialEq + Phrase>(
        &mut self,
        id: &'static str,
        quote: impl Into<String>,
        stated: T,
        found: T,
    ) {
        let number = if stated == found {
            phrase(&found)
        } else {
            format!("{}, not {}", phrase(&found), phrase(&stated))
        };
        self.holds(id, quote, stated == found, number);
    }

    /// Decides a statement about all structures: it holds if each has this value, and there is at
    /// least one.
    pub fn equals_everywhere<T: PartialEq + Phrase>(
        &mut self,
        id: &'static str,
        quote: impl Into<String>,
        stated: T,
        outcomes: &[(&'static str, T)],
    ) {
        let others: Vec<_> = outcomes.iter().filter(|(_, found)| *found != stated).collect();
        let number = match others.as_slice() {
            [] => format!("on all {} structures", outcomes.len()),
            [(name, found), ..] => {
                format!("{} of {} differ; {name}: {}", others.len(), outcomes.len(), phrase(found))
            }
        };
        self.holds(id, quote, others.is_empty() && !outcomes.is_empty(), number);
    }

    /// Decides the statement that each cost is exactly of a class.
    pub fn class<'a>(
        &mut self,
        id: &'static str,
        quote: impl Into<String>,
        curves: impl IntoIterator<Item = &'a Curve>,
        class: Growth,
    ) {
        self.growth(id, quote, curves, |curves| Criterion::Is(curves, class));
    }

    /// Decides the statement that each cost is at most of a class: O.
    pub fn at_most<'a>(
        &mut self,
        id: &'static str,
        quote: impl Into<String>,
        curves: impl IntoIterator<Item = &'a Curve>,
        class: Growth,
    ) {
        self.growth(id, quote, curves, |curves| Criterion::AtMost(curves, class));
    }

    /// Decides the statement that each cost grows with n.
    pub fn grows<'a>(
        &mut self,
        id: &'static str,
        quote: impl Into<String>,
        curves: impl IntoIterator<Item = &'a Curve>,
    ) {
        self.growth(id, quote, curves, Criterion::Grows);
    }

    /// Decides a statement about how costs grow.
    fn growth<'a>(
        &mut self,
        id: &'static str,
        quote: impl Into<String>,
        curves: impl IntoIterator<Item = &'a Curve>,
        criterion: impl FnOnce(Vec<Curve>) -> Criterion,
    ) {
        let curves: Vec<Curve> = curves.into_iter().cloned().collect();
        let number = describe(&curves);
        self.decide(id, quote, criterion(curves), number);
    }

    /// Decides the statement that one figure exceeds another by a factor.
    pub fn exceeds(
        &mut self,
        id: &'static str,
        quote: impl Into<String>,
        (more, less): (f64, f64),
        factor: Threshold,
    ) {
        let number = format!("{more:.1} against {less:.1}: {:.2} times", more / less);
        self.decide(id, quote, Criterion::Exceeds(vec![(more, less)], factor), number);
    }

    /// Adds a sweep as table and chart.
    pub fn sweep(&mut self, sweep: &Sweep) {
        self.tables.push(sweep.table());
        self.charts.extend(sweep.chart());
    }

    /// Adds a table of figures: the head of each column, and rows whose first cell is a name.
    pub fn table<const K: usize>(
        &mut self,
        title: impl Into<String>,
        columns: [&str; K],
        rows: impl IntoIterator<Item = [String; K]>,
    ) {
        let mut table = Table::new(title, columns);
        rows.into_iter().for_each(|row| table.row(row));
        self.tables.push(table);
    }

    /// Adds a value that decides nothing to the table of such values.
    pub fn note(&mut self, what: impl Into<String>, found: impl Phrase) {
        const TITLE: &str = "Beside it";
        if self.tables.last().is_none_or(|table| table.title != TITLE) {
            self.tables.push(Table::new(TITLE, ["what", "found"]));
        }
        if let Some(table) = self.tables.last_mut() {
            table.row([what.into(), phrase(&found)]);
        }
    }

    /// Adds a chart of lines, each with a name and its points. Points that are not above 0 are left
    /// out.
    pub fn chart(
        &mut self,
        [title, subtitle, x, y]: [&str; 4],
        series: impl IntoIterator<Item = (String, Vec<(f64, f64)>)>,
    ) {
        let above_0 = |(name, points): (String, Vec<(f64, f64)>)| Series {
            name,
            points: points.into_iter().filter(|(x, y)| *x > 0.0 && *y > 0.0).collect(),
        };
        let series = series.into_iter().map(above_0).filter(|line| !line.points.is_empty());
        self.charts.push(Chart {
            title: title.to_owned(),
            subtitle: subtitle.to_owned(),
            x: x.to_owned(),
            y: y.to_owned(),
            series: series.collect(),
        });
    }
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

/// Figures in rows.
#[derive(Clone, Debug, Serialize)]
pub struct Table {
    /// The title.
    pub title: String,
    /// The heads of the columns; the first column is set to the left, the others to the right.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    pub fn new<S: Into<String>>(
        title: impl Into<String>,
        columns: impl IntoIterator<Item = S>,
    ) -> Self {
        let columns = columns.into_iter().map(Into::into).collect();
        Self { title: title.into(), columns, rows: Vec::new() }
    }

    /// Adds a row.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }
}

/// Lines on logarithmic axes.
#[derive(Clone, Debug, Serialize)]
pub struct Chart {
    /// The title.
    pub title: String,
    /// The meaning of the figures, in a line.
    pub subtitle: String,
    /// The label of the horizontal axis.
    pub x: String,
    /// The label of the vertical axis.
    pub y: String,
    /// The lines.
    pub series: Vec<Series>,
}

/// A line of a chart.
#[derive(Clone, Debug, Serialize)]
pub struct Series {
    /// The structure, or the rule.
    pub name: String,
    /// (x, y), both above 0.
    pub points: Vec<(f64, f64)>,
}
