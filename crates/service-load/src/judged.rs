//! The figures of a run over its repetitions, and whether our service keeps what is asked of it.

use crate::experiments::{Asked, Experiment};
use crate::figures::Figure;
use crate::run::{Row, Run};
use wheelhouse_present::stats::{median, relative_deviation};
use wheelhouse_present::table::Cell;

/// The name of the service under test, of which something is asked.
pub(crate) const OURS: &str = "wheelhouse";

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

/// What our service has played of an experiment, if that was right.
fn ours(run: &Run, experiment: Experiment) -> Vec<&Row> {
    let is_ours =
        |row: &&Row| row.experiment == experiment && row.facility == OURS && row.played.is_ok();
    run.rows.iter().filter(is_ours).collect()
}

/// Each bound that is asked of our service, as a sentence without its end, and whether it was kept.
fn judged(asked: &[Asked], rows: &[&Row]) -> Vec<(String, bool)> {
    let samples = samples(rows);
    let judge = |asked: &Asked| {
        let sample = samples.iter().find(|sample| sample.figure.name == asked.figure)?;
        let value = sample.value()?;
        let is_kept = if asked.at_least { value >= asked.bound } else { value <= asked.bound };
        let than = if asked.at_least { "at least" } else { "at most" };
        Some((format!("{} {than} {}", asked.figure, sample.figure.unit.show(asked.bound)), is_kept))
    };
    asked.iter().filter_map(judge).collect()
}

/// Whether our service keeps what is asked of it, in a sentence.
pub(crate) fn verdict(run: &Run, experiment: Experiment) -> Option<String> {
    let judged = judged(&experiment.asked(&run.load), &ours(run, experiment));
    if judged.is_empty() {
        return None;
    }
    let lacks = experiment.lacks(&run.load);
    if !lacks.is_empty() {
        return Some(format!(
            "Asked of {OURS}: not judged, as it is asked of more: needs {}.",
            lacks.join(" ")
        ));
    }
    let sentence = |(bound, is_kept): &(String, bool)| {
        format!("{bound}: {}", if *is_kept { "kept" } else { "MISSED" })
    };
    Some(format!(
        "Asked of {OURS}: {}.",
        judged.iter().map(sentence).collect::<Vec<_>>().join("; ")
    ))
}

/// The bounds that our service was to keep and has not: a line for each.
pub(crate) fn missed(run: &Run) -> Vec<String> {
    let of = |experiment: Experiment| {
        let judged = judged(&experiment.asked(&run.load), &ours(run, experiment)).into_iter();
        judged
            .filter(|(_, is_kept)| !is_kept)
            .map(move |(bound, _)| format!("MISSED: {}: {bound}", experiment.name()))
    };
    Experiment::ALL.into_iter().filter(|it| it.is_judged(&run.load)).flat_map(of).collect()
}
