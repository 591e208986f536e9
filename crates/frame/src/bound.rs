//! Bounds for figures, and the verdict of a run on them.
//!
//! A bound is a figure, or a multiple of the figure of another row in the same run. The second kind
//! does not depend on the speed of the machine. A machine also stalls threads, through no fault of
//! a contender. So a tail can be judged by how much longer it is than the tail of another row.

use crate::experiment::Experiment;
use crate::figure::{Sample, Unit};
use crate::run::Run;
use wheelhouse_present::table::{Cell, Column, Mark, Table};

/// A bound for a figure of a row.
#[derive(Clone, Copy, Debug)]
pub struct Target<E> {
    /// The experiment.
    pub experiment: E,
    /// The name of the row.
    pub row: &'static str,
    /// The name of the figure.
    pub figure: &'static str,
    /// The bound.
    pub bound: Bound,
}

impl<E> Target<E> {
    /// Sets a bound for a figure of a row in an experiment.
    pub const fn new(experiment: E, row: &'static str, figure: &'static str, bound: Bound) -> Self {
        Self { experiment, row, figure, bound }
    }
}

/// A bound, in the unit of the figure or relative to other rows.
#[derive(Clone, Copy, Debug)]
pub enum Bound {
    /// At least this.
    AtLeast(f64),
    /// At most this.
    AtMost(f64),
    /// At least this many times the figure of the row.
    Times(f64, &'static str),
    /// At least this many times the figure of each of these rows that was played.
    TimesEach(f64, &'static [&'static str]),
    /// At most the figure of the row.
    NoMoreThan(&'static str),
    /// At most this many times the figure of the row.
    AtMostTimes(f64, &'static str),
    /// At most the figure of the row plus this.
    AtMostBeyond(f64, &'static str),
}

/// The row of the table for a target: experiment, row, figure, bound, reached, verdict. `None` if a
/// row that it needs is missing or wrong.
fn judge<E: Experiment>(run: &Run<E>, target: &Target<E>) -> Option<[Cell; 6]> {
    let sample = |row: &str| -> Option<Sample> {
        let samples = run.samples_of(target.experiment, row)?.ok()?;
        samples.into_iter().find(|sample| sample.figure.name == target.figure)
    };
    let value_of = |row: &str| sample(row)?.value();
    let (value, unit) = (value_of(target.row)?, sample(target.row)?.figure.unit);
    let (bound, reached, is_reached) = compare(target.bound, value, unit, value_of)?;
    let options = target.experiment.options_for_bounds(&run.load).join(" ");
    let verdict = match is_reached {
        // The load is smaller than the one that the bound is for.
        _ if !options.is_empty() => Cell::text(format!("needs {options}")),
        true => Cell::text("reached").marked(Mark::Good),
        false => Cell::text("MISSED").marked(Mark::Bad),
    };
    let (experiment, figure) = (target.experiment.name(), target.figure.replace('\n', " "));
    let [experiment, row, figure, bound, reached] =
        [experiment, target.row, &figure, &bound, &reached].map(Cell::text);
    Some([experiment, row, figure, bound, reached, verdict])
}

/// The bound and the figure in words, and `true` if the bound is reached; `None` if a row that it
/// needs has no figure.
fn compare(
    bound: Bound,
    value: f64,
    unit: Unit,
    value_of: impl Fn(&str) -> Option<f64>,
) -> Option<(String, String, bool)> {
    let show = |value| unit.show(value);
    let versus = |other| format!("{} vs. {}", show(value), show(other));
    Some(match bound {
        Bound::AtLeast(least) => (format!("at least {}", show(least)), show(value), value >= least),
        Bound::AtMost(most) => (format!("at most {}", show(most)), show(value), value <= most),
        Bound::Times(times, row) => {
            let ratio = value / value_of(row)?;
            (format!("at least {times} × {row}"), format!("{ratio:.2} ×"), ratio >= times)
        }
        Bound::TimesEach(times, rows) => {
            let best = rows.iter().filter_map(|row| value_of(row)).reduce(f64::max)?;
            let bound_text = format!("at least {times} × each other row");
            (bound_text, format!("{:.2} × the best", value / best), value >= times * best)
        }
        Bound::NoMoreThan(row) => {
            let other = value_of(row)?;
            (format!("no more than {row}"), versus(other), value <= other)
        }
        Bound::AtMostTimes(times, row) => {
            let other = value_of(row)?;
            (format!("at most {times} × {row}"), versus(other), value <= times * other)
        }
        Bound::AtMostBeyond(most, row) => {
            let other = value_of(row)?;
            let bound_text = format!("at most {} above {row}", show(most));
            (bound_text, versus(other), value <= other + most)
        }
    })
}

/// Judges all targets whose rows were played.
fn judged<E: Experiment>(run: &Run<E>) -> impl Iterator<Item = [Cell; 6]> {
    E::TARGETS.iter().filter_map(|target| judge(run, target))
}

/// A line for each bound that was missed.
pub fn missed<E: Experiment>(run: &Run<E>) -> Vec<String> {
    let missed = judged(run).filter(|cells| cells[5].mark == Mark::Bad);
    let line = |cells: [Cell; 6]| {
        let [experiment, row, figure, bound, reached, _] = cells.map(|cell| cell.shown);
        format!("MISSED: {experiment}, {figure} of {row}: {bound}; {reached}")
    };
    missed.map(line).collect()
}

/// A table of all bounds with the figures; `None` if no target was played.
pub fn table<E: Experiment>(run: &Run<E>) -> Option<Table> {
    let columns = ["experiment", "row", "figure", "bound", "reached", "verdict"].map(Column::left);
    let mut table = Table::new("Bounds and figures", columns.to_vec());
    table.rows = judged(run).map(Vec::from).collect();
    (!table.rows.is_empty()).then_some(table)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::Figure;
    use crate::testing::{TestExperiment, run};

    /// The bounds of a run with these figures: the bound, the figure, and the verdict.
    fn judged(
        experiment: TestExperiment,
        load: u32,
        plays: &[(&'static str, Figure)],
    ) -> Vec<String> {
        let plays = plays.iter().map(|(contender, figure)| (*contender, Ok(vec![*figure])));
        let run = run(experiment, load, plays);
        let rows = table(&run).map_or(Vec::new(), |table| table.rows);
        let is_missed = |row: &Vec<Cell>| row[5].shown == "MISSED";
        assert_eq!(missed(&run).len(), rows.iter().filter(|row| is_missed(row)).count());
        let shown = |row: Vec<Cell>| row[3..].iter().map(Cell::line).collect::<Vec<_>>().join("; ");
        rows.into_iter().map(shown).collect()
    }

    #[test]
    fn a_bound_is_a_figure_or_relative_to_another_row() {
        use TestExperiment::{Burst, PairsFar, PairsNear};
        let pairs = |rate| Figure::rate("pairs/s", rate, 1e9);
        let both = |ours, other| [("ours", ours), ("other", other)];
        for (rate, expected) in [(3, "1.50 ×; reached"), (2, "1.00 ×; MISSED")] {
            let expected = format!("at least 1.4 × other; {expected}");
            assert_eq!(judged(PairsNear, 10, &both(pairs(rate), pairs(2))), [expected]);
        }
        assert_eq!(judged(PairsNear, 10, &both(pairs(3), pairs(2))[..1]), [""; 0]);
        for (bytes, expected) in [(80, "80.0; reached"), (100, "100; MISSED")] {
            let expected = format!("at most 90.0; {expected}");
            let figure = Figure::bytes("bytes/job", bytes, 1);
            assert_eq!(judged(PairsNear, 10, &[("ours", figure)]), [expected]);
        }
        for (name, figures, bound) in [
            ("p99", [1.5e6, 1.6e6, 5e5], "at most 1.00 ms above other"),
            ("CPU/job", [1_200.0, 1_210.0, 1e3], "at most 1.2 × other"),
        ] {
            let [good, bad, other] = figures.map(|nanos| Figure::time(name, nanos));
            for (ours, verdict) in [(good, "reached"), (bad, "MISSED")] {
                let line = judged(PairsFar, 10, &both(ours, other)).concat();
                assert!(line.starts_with(bound) && line.ends_with(verdict), "{line}");
            }
        }
        let short = judged(Burst, 9, &[("ours", Figure::count("jobs", 1))]);
        assert_eq!(short, ["at least 3.00; 1.00; needs --jobs 10"], "at a smaller load");
    }
}
