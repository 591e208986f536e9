//! The figures of a run over its repetitions, and whether our service reaches what is asked of it.

use crate::experiments::Experiment;
use crate::facilities::Machine;
use crate::figures::Figure;
use crate::run::{Row, Run};
use crate::targets::{Bound, OURS, TARGETS, Target};
use wheelhouse_present::stats::{median, relative_deviation};
use wheelhouse_present::table::{Cell, Column, Table};

/// A figure with its values, one for each repetition.
pub(crate) struct Sample {
    pub(crate) figure: Figure,
    values: Vec<f64>,
}

impl Sample {
    /// What the values are taken to say: their median, or the highest, as the figure wants it.
    fn value(&self) -> Option<f64> {
        if self.figure.is_worst {
            self.values.iter().copied().reduce(f64::max)
        } else {
            median(&self.values)
        }
    }

    /// The same as people read it, with the spread.
    pub(crate) fn cell(&self) -> Cell {
        let has_spread = self.values.len() > 1 && !self.figure.is_worst;
        let spread = has_spread
            .then(|| relative_deviation(&self.values))
            .flatten()
            .filter(|share| *share >= 0.005);
        self.value().map_or_else(Cell::missing, |value| self.figure.cell(value, spread))
    }
}

/// All figures of these plays, in their order.
pub(crate) fn samples(rows: &[&Row]) -> Vec<Sample> {
    let mut samples: Vec<Sample> = Vec::new();
    for figure in rows.iter().flat_map(|row| row.played.iter().flatten()) {
        match samples.iter_mut().find(|sample| sample.figure.name == figure.name) {
            Some(sample) => sample.values.push(figure.value),
            None => samples.push(Sample { figure: *figure, values: vec![figure.value] }),
        }
    }
    samples
}

/// A figure of a facility in an experiment; `None` if it has not played that, or was wrong.
fn sample(run: &Run, experiment: Experiment, facility: &str, figure: &str) -> Option<Sample> {
    let is_its = |row: &&Row| row.experiment == experiment && row.facility == facility;
    let rows: Vec<_> = run.rows.iter().filter(is_its).collect();
    if rows.iter().any(|row| row.played.is_err()) {
        return None;
    }
    samples(&rows).into_iter().find(|sample| sample.figure.name == figure)
}

/// What came of something that was asked.
pub(crate) struct Judged {
    target: &'static Target,
    asked: String,
    reached: String,
    verdict: Verdict,
}

#[derive(Clone, PartialEq, Eq)]
enum Verdict {
    Reached,
    Missed,
    /// With the options that make the load as large as what is asked of.
    NotJudged(String),
}

impl Verdict {
    fn text(&self) -> String {
        match self {
            Self::Reached => "reached".to_owned(),
            Self::Missed => "MISSED".to_owned(),
            Self::NotJudged(lacks) => format!("not judged, as it is asked of more: needs {lacks}"),
        }
    }
}

impl Judged {
    /// What was asked and reached, in a clause.
    fn clause(&self) -> String {
        let Self { target: Target { facility, figure, .. }, asked, reached, .. } = self;
        let whose = if *facility == OURS { String::new() } else { format!(" of {facility}") };
        format!("{figure}{whose} {asked}: {reached}")
    }
}

/// Judges what is asked, if all that it takes was played and right.
fn judge(run: &Run, target: &'static Target) -> Option<Judged> {
    let value_of = |facility| sample(run, target.experiment, facility, target.figure)?.value();
    let unit = sample(run, target.experiment, target.facility, target.figure)?.figure.unit;
    let (value, show) = (value_of(target.facility)?, |value| unit.show(value));
    let beside = |other| format!("{} beside {}", show(value), show(other));
    let (asked, reached, is_reached) = match target.bound {
        Bound::AtLeast(least) => (format!("at least {}", show(least)), show(value), value >= least),
        Bound::AtMost(most) => (format!("at most {}", show(most)), show(value), value <= most),
        Bound::Times(times, row) => {
            let ratio = value / value_of(row)?;
            (format!("at least {times} × {row}"), format!("{ratio:.2} ×"), ratio >= times)
        }
        Bound::TimesEach(times) => {
            let others = run.facilities.iter().map(|(name, _)| *name).filter(|name| is_other(name));
            let best = others.filter_map(value_of).reduce(f64::max)?;
            let asked = format!("at least {times} × each other row");
            (asked, format!("{:.2} × the best", value / best), value >= times * best)
        }
        Bound::NoMoreThan(row) => {
            let other = value_of(row)?;
            (format!("no more than {row}"), beside(other), value <= other)
        }
        Bound::AtMostBeyond(most, row) => {
            let other = value_of(row)?;
            let asked = format!("at most {} beyond {row}", show(most));
            (asked, beside(other), value <= other + most)
        }
    };
    let lacks = target.experiment.lacks(&run.load).join(" ");
    let verdict = match (lacks.is_empty(), is_reached) {
        (false, _) => Verdict::NotJudged(lacks),
        (true, true) => Verdict::Reached,
        (true, false) => Verdict::Missed,
    };
    Some(Judged { target, asked, reached, verdict })
}

/// Whether this is a row of somebody else's facility.
fn is_other(name: &str) -> bool {
    !name.starts_with(OURS) && ![Machine::NAME, Machine::SLEEPER].contains(&name)
}

/// What came of all that is asked, as far as it was played.
fn judged(run: &Run) -> Vec<Judged> {
    TARGETS.iter().filter_map(|target| judge(run, target)).collect()
}

/// What came of what is asked in an experiment, in a sentence.
pub(crate) fn verdict(run: &Run, experiment: Experiment) -> Option<String> {
    let mut judged = judged(run);
    judged.retain(|judged| judged.target.experiment == experiment);
    let clause = |judged: &Judged| format!("{}, {}", judged.clause(), judged.verdict.text());
    let clauses: Vec<_> = judged.iter().map(clause).collect();
    (!clauses.is_empty()).then(|| format!("Asked of {OURS}: {}.", clauses.join("; ")))
}

/// What was asked of our service and not reached: a line for each.
pub(crate) fn missed(run: &Run) -> Vec<String> {
    let missed = judged(run).into_iter().filter(|judged| judged.verdict == Verdict::Missed);
    missed.map(|it| format!("MISSED: {}: {}", it.target.experiment.name(), it.clause())).collect()
}

/// All that is asked beside what was reached.
pub(crate) fn table(run: &Run) -> Option<Table> {
    let columns = ["experiment", "row", "figure", "asked", "reached"].map(Column::left);
    let columns = columns.into_iter().chain([Column::left("verdict")]).collect();
    let mut table = Table::new("What is asked, and what was reached", columns);
    for Judged { target, asked, reached, verdict } in judged(run) {
        let verdict = if matches!(verdict, Verdict::NotJudged(_)) {
            "not judged".to_owned()
        } else {
            verdict.text()
        };
        let texts = [target.experiment.name(), target.facility, target.figure]
            .map(str::to_owned)
            .into_iter()
            .chain([asked, reached, verdict]);
        table.rows.push(texts.map(Cell::text).collect());
    }
    (!table.rows.is_empty()).then_some(table)
}
