//! Plays experiments on contenders in interleaved rounds, since the load of a machine changes
//! within minutes. Each round plays each experiment once on every contender, in another [`order`].

use crate::experiment::{Contender, Experiment};
use crate::figure::{Played, Sample};
use anyhow::{Context, Result};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;
use wheelhouse_machine::allocator;
use wheelhouse_machine::interrupt::{self, INTERRUPTED};
use wheelhouse_machine::provenance::{self, Provenance};
use wheelhouse_present::progress::Progress;

/// The plan of a run.
pub struct Plan<E: Experiment> {
    /// The contenders, in the order of the tables.
    pub contenders: Vec<Contender<E>>,
    /// The experiments, in the order of the report.
    pub experiments: Vec<E>,
    /// `true` if each contender plays each experiment that it can, `false` if it plays its
    /// [defaults](Contender::only).
    pub on_all: bool,
    /// The sizes of the experiments.
    pub load: E::Load,
    /// The number of rounds.
    pub rounds: usize,
    /// The seed of the load.
    pub seed: u64,
}

/// One play.
#[derive(Clone, Debug)]
pub struct Row<E> {
    /// The experiment.
    pub experiment: E,
    /// The name of the contender.
    pub contender: &'static str,
    /// The number of the round, counted from 1.
    pub round: usize,
    /// The figures, or a sentence that says what was wrong.
    pub played: Played,
}

/// All plays.
#[derive(Clone, Debug)]
pub struct Run<E: Experiment> {
    /// The machine, the time, the commit and the command.
    pub provenance: Provenance,
    /// The sizes of the experiments.
    pub load: E::Load,
    /// Names and descriptions, in the order of the tables.
    pub contenders: Vec<(&'static str, &'static str)>,
    /// The plays, in the order in which they were played.
    pub rows: Vec<Row<E>>,
    /// `true` if the run ended before it was complete.
    pub interrupted: bool,
}

impl<E: Experiment> Run<E> {
    /// The exit code of a program that made this run: 0 if it is complete and nothing was wrong, 1
    /// after a wrong answer, [`INTERRUPTED`] after an interruption.
    pub fn exit_code(&self) -> u8 {
        // A missed bound is reported but is not an error: a busy machine misses it, too.
        if self.interrupted { INTERRUPTED } else { u8::from(self.wrong().next().is_some()) }
    }

    /// The plays that went wrong, each with what was wrong.
    pub fn wrong(&self) -> impl Iterator<Item = (&Row<E>, &str)> {
        self.rows.iter().filter_map(|row| Some((row, row.played.as_ref().err()?.as_str())))
    }

    /// Returns `true` if an experiment was played.
    pub fn has_plays_of(&self, experiment: E) -> bool {
        self.rows.iter().any(|row| row.experiment == experiment)
    }

    /// The figures of a contender in an experiment. `None` if it did not play the experiment, and
    /// `Err` with what was wrong if any play went wrong.
    pub fn samples_of(&self, experiment: E, contender: &str) -> Option<Result<Vec<Sample>, &str>> {
        let is_its = |row: &&Row<E>| row.experiment == experiment && row.contender == contender;
        let mut plays = Vec::new();
        for row in self.rows.iter().filter(is_its) {
            match &row.played {
                Ok(figures) => plays.push(figures.as_slice()),
                Err(wrong) => return Some(Err(wrong)),
            }
        }
        (!plays.is_empty()).then(|| Ok(Sample::all(plays.into_iter())))
    }
}

impl<E: Experiment> Plan<E> {
    pub(crate) fn contenders_of(&self, experiment: E) -> Vec<&Contender<E>> {
        let plays =
            |it: &&Contender<E>| (self.on_all && !it.is_limited) || it.plays.contains(&experiment);
        self.contenders.iter().filter(plays).collect()
    }
}

/// Plays everything, or until Ctrl-C.
///
/// # Errors
///
/// If a contender cannot be prepared.
pub fn play_all<E: Experiment>(plan: &Plan<E>) -> Result<Run<E>> {
    play_and_save(plan, |_| ())
}

/// [`play_all`], which calls `save` after each experiment of a round.
pub(crate) fn play_and_save<E: Experiment>(
    plan: &Plan<E>,
    mut save: impl FnMut(&Run<E>),
) -> Result<Run<E>> {
    interrupt::watch();
    let mut run = Run {
        provenance: provenance::gather(plan.seed),
        load: plan.load.clone(),
        contenders: plan.contenders.iter().map(|it| (it.name(), it.about)).collect(),
        rows: Vec::new(),
        interrupted: true, // until the end: a run that is killed must not look complete
    };
    let one = |experiment: E| experiment.expected(&plan.load);
    let all = |it: &E| one(*it) * plan.contenders_of(*it).len() as u32;
    let round: Duration = plan.experiments.iter().map(all).sum();
    for contender in &plan.contenders {
        let prepared = (contender.prepare)(&plan.load);
        prepared.with_context(|| format!("{} cannot take part", contender.name()))?;
    }
    let mut progress = Progress::new(round * plan.rounds as u32);
    for round in 1..=plan.rounds {
        for &experiment in &plan.experiments {
            let contenders = plan.contenders_of(experiment);
            for contender in order(contenders.len(), round - 1).map(|at| contenders[at]) {
                if interrupt::requested() {
                    return Ok(run);
                }
                progress.say(format!("{} on {}", experiment.name(), contender.name()));
                // Otherwise the next contender would pay for memory that the previous one freed.
                allocator::return_freed_memory();
                // A contender that hangs or panics gets a row with the reason; the others continue.
                let play = AssertUnwindSafe(|| contender.play(experiment, &plan.load));
                let played = catch_unwind(play).unwrap_or_else(|panic| Ok(Err(panicked(&*panic))));
                let played = played.unwrap_or_else(|error| Err(format!("{error:#}")));
                run.rows.push(Row { experiment, contender: contender.name(), round, played });
                progress.finish_part(one(experiment));
            }
            save(&run);
        }
    }
    run.interrupted = false;
    Ok(run)
}

/// The sentence about a panic.
fn panicked(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("it panicked: {}", text.unwrap_or("see the message above"))
}

/// The order of the items in a round. Each round begins with another item, and an item follows
/// different ones in different rounds. So if a play slows down the next, the rounds average it out.
///
/// Round 0 of six items is 0, 1, 5, 2, 4, 3. The steps between neighbours are 1, -2, 3, -4, 5, and
/// a round adds its number to all items. With an even number of items all steps differ, so after as
/// many rounds each item has followed each other once. With an odd number, rounds with an odd
/// number negate the steps, and twice as many rounds are needed (E. J. Williams 1949).
pub fn order(items: usize, round: usize) -> impl Iterator<Item = usize> {
    let is_negated = items % 2 == 1 && round % 2 == 1;
    (0..items).map(move |at| {
        let is_up = (at % 2 == 1) != is_negated;
        let from_first = if is_up { at.div_ceil(2) } else { items - at.div_ceil(2) };
        (from_first + round) % items
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestExperiment, plan};
    use std::collections::BTreeSet;

    #[test]
    fn rounds_start_with_each_item_in_turn() {
        let shown = |round| order(3, round).map(|at| at + 1).collect::<Vec<_>>();
        assert_eq!([0, 1, 2, 3].map(shown), [[1, 2, 3], [2, 1, 3], [3, 1, 2], [1, 3, 2]]);
        assert_eq!(order(6, 0).collect::<Vec<_>>(), [0, 1, 5, 2, 4, 3]);
        assert_eq!(order(0, 5).count(), 0);
    }

    #[test]
    fn an_item_follows_different_ones_in_different_rounds() {
        for items in [3, 4, 5, 9, 10] {
            let mut neighbours = BTreeSet::new();
            for round in 0..2 * items {
                let order: Vec<_> = order(items, round).collect();
                assert_eq!(order.iter().collect::<BTreeSet<_>>().len(), items, "{order:?}");
                neighbours.extend(order.windows(2).map(|pair| (pair[1], pair[0])));
            }
            let followed = |item| neighbours.range((item, 0)..(item + 1, 0)).count();
            assert!((0..items).all(|item| followed(item) == items - 1), "{items}: {neighbours:?}");
        }
    }

    #[test]
    fn each_round_plays_each_experiment_on_its_default_contenders() {
        let run = play_all(&plan(TestExperiment::ALL, 10, false)).unwrap();
        let plays_of = |experiment| {
            let rows = run.rows.iter().filter(|row| row.experiment == experiment);
            rows.map(|row| (row.round, row.contender)).collect::<Vec<_>>()
        };
        let both =
            [(1, "ours"), (1, "other"), (2, "other"), (2, "ours"), (3, "ours"), (3, "other")];
        assert_eq!(plays_of(TestExperiment::PairsNear), both);
        assert_eq!(plays_of(TestExperiment::Burst), [(1, "ours"), (2, "ours"), (3, "ours")]);
        assert_eq!(run.exit_code(), 0);
        assert_eq!(play_all(&plan(TestExperiment::ALL, 10, true)).unwrap().rows.len(), 2 * 3 * 3);
    }

    #[test]
    fn a_panic_is_a_wrong_answer_and_the_run_is_incomplete_until_its_end() {
        let mut plan = plan(&[TestExperiment::Burst, TestExperiment::PairsFar], 10, true);
        plan.contenders.push(Contender::new("panics", "as planned", |_, _| panic!("oh {}", 1)));
        let mut saved = Vec::new();
        let run = play_and_save(&plan, |run| saved.push((run.rows.len(), run.interrupted)));
        let run = run.unwrap();
        assert_eq!(saved, [3, 6, 9, 12, 15, 18].map(|rows| (rows, true)));
        let is_panic = |(row, wrong): (&Row<_>, &str)| {
            (row.contender, wrong) == ("panics", "it panicked: oh 1")
        };
        assert!(run.wrong().all(is_panic));
        assert_eq!((run.wrong().count(), run.rows.len(), run.exit_code()), (6, 18, 1));
    }

    #[test]
    fn one_wrong_answer_removes_the_figures_and_fails_the_run() {
        let mut run = play_all(&plan(TestExperiment::ALL, 10, false)).unwrap();
        assert!(matches!(run.samples_of(TestExperiment::Burst, "ours"), Some(Ok(_))));
        assert!(run.samples_of(TestExperiment::Burst, "other").is_none());
        run.rows[0].played = Err("1 did not run".to_owned());
        let Row { experiment, contender, .. } = run.rows[0];
        assert_eq!(run.samples_of(experiment, contender).unwrap().unwrap_err(), "1 did not run");
        assert_eq!((run.exit_code(), run.wrong().count()), (1, 1));
    }
}
