//! The second opinion: instructions, counted by valgrind's callgrind, where that is installed.
//!
//! Steps are what the structures say of themselves; instructions are what the processor is given,
//! whatever they say. This program runs itself under callgrind, which counts within
//! [`measured_operations`] and nowhere else: a structure is filled with n timers, and then a pair
//! of operations that leaves n as it is goes on for a while.

use crate::callgrind;
use anyhow::Result;
use clap::ValueEnum;
use rand::RngExt;
use std::hint::black_box;
use wheelhouse_claims::count::{LONGEST, random};
use wheelhouse_claims::growth::Curve;
use wheelhouse_core::backend::Backend;
use wheelhouse_core::meter::NoMeter;
use wheelhouse_core::{Timer, TimerId};
use wheelhouse_present::table::{Cell, Column, Table};
use wheelhouse_present::units;
use wheelhouse_registry::Visitor;

/// A pair of operations that leaves the number of timers as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Pair {
    /// Stop a timer at random, start another.
    StopStart,
    /// Take the earliest, start another.
    Hold,
}

impl Pair {
    /// The name on the command line and in tables.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::StopStart => "stop-start",
            Self::Hold => "hold",
        }
    }
}

/// What is played under callgrind.
#[derive(Clone, Debug)]
pub(crate) struct Play {
    /// The structure.
    pub(crate) backend: String,
    /// What is counted.
    pub(crate) pair: Pair,
    /// Timers.
    pub(crate) n: u64,
    /// For the random numbers.
    pub(crate) seed: u64,
}

/// Which timer is stopped, and after how long the next is due.
type Draw = (usize, u64);

/// Pairs of operations in a run.
const PAIRS: u64 = 4_000;

/// Each twice the one before, as the classifier needs it; small, since callgrind takes fifty times
/// as long.
const SIZES: [u64; 5] = [1 << 9, 1 << 10, 1 << 11, 1 << 12, 1 << 13];
const SEEDS: std::ops::RangeInclusive<u64> = 1..=3;

/// Those whose instructions are counted: one of each kind.
const BACKENDS: [&str; 8] = [
    "hierarchical-wheel",
    "round-wheel",
    "kafka-wheel",
    "binary-heap",
    "heap-4",
    "skip-list",
    "red-black-tree",
    "sorted-list",
];

/// Counts the instructions of each pair of operations, and says how they grow. A few minutes.
///
/// # Errors
///
/// If callgrind fails.
pub(crate) fn table() -> Result<Table> {
    let head = |n| format!("n = {}", units::count(n));
    let sizes = SIZES.map(|n| Column::right(head(n)).keyed(n.to_string()));
    let columns = [Column::left("structure"), Column::left("operations")].into_iter().chain(sizes);
    let mut table = Table::new(
        "Instructions of a pair of operations, by callgrind",
        columns.chain([Column::left("growth")]).collect(),
    );
    for pair in [Pair::StopStart, Pair::Hold] {
        for backend in BACKENDS {
            let mut failed = None;
            let curve = Curve::sweep(&SIZES, SEEDS, |n, seed| {
                let play = Play { backend: backend.to_owned(), pair, n, seed };
                under_callgrind(&play).unwrap_or_else(|error| {
                    failed.get_or_insert(error);
                    f64::NAN
                })
            });
            if let Some(error) = failed {
                return Err(error);
            }
            let points = curve.points().into_iter();
            let figures = points.map(|(_, cost)| Cell::figure(cost, format!("{cost:.0}")));
            let names = [Cell::text(backend), Cell::text(pair.name())].into_iter();
            let growth = Cell::text(curve.growth().name());
            table.rows.push(names.chain(figures).chain([growth]).collect());
        }
    }
    let classifier = "The classifier is that of the steps: constant here means less than a \
                      twentieth of an instruction from n to 2n, which few structures can meet.";
    table.notes.push(classifier.to_owned());
    Ok(table)
}

/// Instructions of one pair.
fn under_callgrind(play: &Play) -> Result<f64> {
    let (n, seed) = (play.n.to_string(), play.seed.to_string());
    let pair = play.pair.name();
    let whom = ["play", "--backend", &play.backend, "--pair", pair].into_iter();
    let arguments = whom.chain(["--n", &n, "--seed", &seed]).map(str::to_owned);
    let counted = callgrind::count(FUNCTION, &arguments.collect::<Vec<_>>(), &[])?;
    Ok(counted.calls.iter().sum::<u64>() as f64 / PAIRS as f64)
}

/// Fills a structure and does the operations: what runs under callgrind.
///
/// # Errors
///
/// If there is no such structure.
pub(crate) fn play(play: &Play) -> Result<()> {
    struct Find<'a>(&'a Play, bool);
    impl Visitor for Find<'_> {
        fn visit<B: Backend + 'static>(&mut self) {
            if B::INFO.name == self.0.backend {
                run::<B>(self.0);
                self.1 = true;
            }
        }
    }
    let mut find = Find(play, false);
    wheelhouse_registry::visit(&mut find);
    anyhow::ensure!(find.1, "no backend is called '{}'", play.backend);
    Ok(())
}

fn run<B: Backend>(play: &Play) {
    let mut random = random(play.seed);
    let mut timer = B::build::<u64, NoMeter>();
    let mut ids: Vec<TimerId> =
        (0..play.n).map(|value| timer.insert(random.random_range(1..=LONGEST), value)).collect();
    // Drawn beforehand, so that only the structure is counted, and the same few instructions around
    // it.
    let mut draw = || (random.random_range(0..ids.len()), random.random_range(1..=LONGEST));
    let draws: Vec<Draw> = (0..PAIRS).map(|_| draw()).collect();
    measured_operations(&mut timer, &mut ids, &draws, play.pair);
    black_box(timer.len());
}

/// The name by which callgrind finds [`measured_operations`].
const FUNCTION: &str = "instructions::measured_operations";

/// What callgrind counts. Not inlined, for it to be found by its name.
#[inline(never)]
fn measured_operations<T>(timer: &mut T, ids: &mut [TimerId], draws: &[Draw], pair: Pair)
where
    T: Timer<u64>,
{
    for &(at, delay) in draws {
        match pair {
            Pair::StopStart => {
                black_box(timer.cancel(ids[at]));
                ids[at] = timer.insert(delay, 0);
            }
            Pair::Hold => {
                // Wheels may have to be woken more than once on the way to the earliest.
                while let Some(tick) = timer.next_wakeup() {
                    if let Some(expired) = timer.pop_expired(tick) {
                        timer.insert(expired.deadline + delay, 0);
                        break;
                    }
                }
            }
        }
    }
}
