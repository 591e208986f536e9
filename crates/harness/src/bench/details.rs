//! The parts of a run after the timed rounds: single operations and memory.

use super::{PLAY_TIME, Settings};
use crate::latency::{OperationTimes, PASSES};
use crate::model::{Failure, Run};
use crate::stream::{ExpectedAnswers, Stream};
use crate::structure::Structure;
use std::time::Duration;
use wheelhouse_frame::run::order;
use wheelhouse_machine::interrupt;
use wheelhouse_present::progress::Progress;
use wheelhouse_workload::Measure;

/// Returns `true` if single operations of the stream are timed. To save time, streams of the hold
/// model are left out: no user waits for a call of a simulation.
pub(super) fn has_single_operations(stream: &Stream) -> bool {
    stream.measures().iter().any(|(measure, _)| *measure != Measure::Hold)
}

/// Plays each operation by itself: in [`PASSES`] passes to measure its time, and in one more to
/// count its steps. Each timed pass over the structures has another order.
pub(super) fn time_single_operations(
    structures: &[&dyn Structure],
    stream: &Stream,
    expected: &ExpectedAnswers,
    run: &mut Run,
) {
    let mut times: Vec<OperationTimes> =
        structures.iter().map(|_| OperationTimes::default()).collect();
    for at in (0..PASSES).flat_map(|pass| order(structures.len(), pass)) {
        if interrupt::requested() {
            return;
        }
        let structure = structures[at];
        if structure.time_operations(stream, expected, &mut times[at]) != expected.checksum() {
            let message = "a wrong checksum while single operations were timed".to_owned();
            run.add_failure(Failure::new(structure.name(), &stream.name, stream.n, message));
        }
    }
    for (structure, times) in structures.iter().zip(&times) {
        run.latency.extend(times.rows(structure.name(), &stream.name, stream.n));
    }
    for structure in structures {
        if interrupt::requested() {
            return;
        }
        let longest = structure.count_steps(stream);
        let rows = longest.map(|it| it.rows(structure.name(), &stream.name, stream.n));
        run.steps.extend(rows.into_iter().flatten());
    }
}

pub(super) fn measure_memory(settings: &Settings, run: &mut Run, progress: &Progress) {
    let whole = expected_memory(settings);
    let timers: u64 = settings.sizes.iter().map(|n| u64::from(*n)).sum();
    let mut done = 0;
    for &n in &settings.sizes {
        for (at, structure) in settings.structures.iter().enumerate() {
            if interrupt::requested() {
                return;
            }
            progress.say(format!("memory of {} at n={n}", structure.name()));
            let part = at as f64 / settings.structures.len() as f64;
            progress.within_part(whole, (done as f64 + part * f64::from(n)) / timers as f64);
            // Memory is not verified, so a structure that answered wrongly has no figure.
            if run.failures.iter().all(|it| it.backend != structure.name()) {
                run.memory.extend(structure.memory(n, settings.seed));
            }
        }
        done += u64::from(n);
    }
}

/// Expected time for measuring memory at all sizes.
pub(super) fn expected_memory(settings: &Settings) -> Duration {
    let timers: f64 = settings.sizes.iter().map(|n| f64::from(*n)).sum();
    let play = PLAY_TIME.mul_f64(timers * settings.structures.len() as f64);
    if settings.details { play } else { Duration::ZERO }
}
