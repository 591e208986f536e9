//! `wheelhouse play`, which `wheelhouse claims --instructions` runs under callgrind.
//!
//! This program runs itself under callgrind, which counts only inside [`measured_operations`]. The
//! function is in this crate and not with the claims, because other uses of a structure in the same
//! crate would change what the compiler inlines. This crate has no other uses.

use anyhow::{Result, ensure};
use rand::RngExt;
use std::hint::black_box;
use std::process::ExitCode;
use wheelhouse_claims::count::{LONGEST, random};
use wheelhouse_claims::front::cache;
use wheelhouse_claims::instructions::{Pair, Play};
use wheelhouse_core::backend::Backend;
use wheelhouse_core::meter::NoMeter;
use wheelhouse_core::{Timer, TimerId};
use wheelhouse_machine::callgrind;
use wheelhouse_registry::Visitor;

/// The index of the timer to stop, and the delay of the next one.
type Draw = (usize, u64);

/// The number of pairs of operations in a run.
const PAIRS: u64 = 4_000;

/// The name by which callgrind finds [`measured_operations`].
const FUNCTION: &str = "play::measured_operations";

/// Counts the instructions of each pair.
pub(super) fn under_callgrind(play: &Play) -> Result<Vec<f64>> {
    let (n, seed) = (play.n.to_string(), play.seed.to_string());
    let pairs = play.pairs.iter().map(|pair| pair.name()).collect::<Vec<_>>().join(",");
    let whom = ["play", "--backend", &play.backend, "--pairs", &pairs].into_iter();
    let arguments = whom.chain(["--n", &n, "--seed", &seed]).map(str::to_owned);
    let counted = callgrind::count(FUNCTION, &arguments.collect::<Vec<_>>())?.calls;
    let expected = play.pairs.len();
    ensure!(counted.len() == expected, "{} calls instead of {expected}", counted.len());
    Ok(counted.iter().map(|call| *call as f64 / PAIRS as f64).collect())
}

/// Counts the cache lines of all operations of a structure.
pub(super) fn lines_under_callgrind(structure: &str) -> Result<Vec<[u64; 2]>> {
    let arguments = ["play-operations", structure].map(str::to_owned);
    callgrind::cache_lines(cache::MARKER, &cache::GEOMETRY, &arguments)
}

/// Runs under callgrind: fills a structure and does the operations.
pub(super) fn run(play: &Play) -> Result<ExitCode> {
    struct Find<'a>(&'a Play, bool);
    impl Visitor for Find<'_> {
        fn visit<B: Backend + 'static>(&mut self) {
            if B::INFO.name == self.0.backend {
                fill_and_play::<B>(self.0);
                self.1 = true;
            }
        }
    }
    let mut find = Find(play, false);
    wheelhouse_registry::visit(&mut find);
    ensure!(find.1, "no backend is called '{}'", play.backend);
    Ok(ExitCode::SUCCESS)
}

fn fill_and_play<B: Backend>(play: &Play) {
    let mut random = random(play.seed);
    let mut timer = B::build::<u64, NoMeter>();
    let mut ids: Vec<TimerId> =
        (0..play.n).map(|value| timer.insert(random.random_range(1..=LONGEST), value)).collect();
    for &pair in &play.pairs {
        // Drawn beforehand, so that the count has only the structure and the few instructions of
        // the loop.
        let mut draw = || (random.random_range(0..ids.len()), random.random_range(1..=LONGEST));
        let draws: Vec<Draw> = (0..PAIRS).map(|_| draw()).collect();
        measured_operations(&mut timer, &mut ids, &draws, pair);
    }
    black_box(timer.len());
}

/// The operations that callgrind counts. Never inlined: callgrind finds the function by its name.
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
            Pair::Move => _ = black_box(timer.reschedule(ids[at], delay)),
            Pair::Hold => {
                // A wheel may need several wake-ups before its earliest timer fires.
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
