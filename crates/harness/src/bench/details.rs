//! The parts of a run after the timed rounds: single operations and memory.

use super::{PLAY_TIME, Settings, add_failure};
use crate::contender::Contender;
use crate::latency::{OperationTimes, PASSES};
use crate::model::{Failure, Run};
use crate::stream::{ExpectedAnswers, Stream};
use std::time::Duration;
use wheelhouse_machine::interrupt;
use wheelhouse_present::progress::Progress;
use wheelhouse_workload::Measure;

/// Returns `true` if single operations of the stream are timed. To save time, streams of the hold
/// model are left out: no user waits for a call of a simulation.
pub(super) fn has_single_operations(stream: &Stream) -> bool {
    stream.measures().iter().any(|(measure, _)| *measure != Measure::Hold)
}

/// Plays each operation by itself: in [`PASSES`] passes to measure its time, and in one more to
/// count its steps. Each timed pass over the contenders begins with another one.
pub(super) fn time_single_operations(
    contenders: &[&dyn Contender],
    stream: &Stream,
    expected: &ExpectedAnswers,
    run: &mut Run,
) {
    let mut times: Vec<OperationTimes> =
        contenders.iter().map(|_| OperationTimes::default()).collect();
    for turn in 0..PASSES * contenders.len() {
        if interrupt::requested() {
            return;
        }
        let at = (turn + turn / contenders.len()) % contenders.len();
        let contender = contenders[at];
        if contender.time_operations(stream, expected, &mut times[at]) != expected.checksum() {
            let failure = Failure {
                backend: contender.name().to_owned(),
                workload: stream.name.clone(),
                n: stream.n,
                message: "a wrong checksum while single operations were timed".to_owned(),
            };
            add_failure(&mut run.failures, Some(failure));
        }
    }
    for (contender, times) in contenders.iter().zip(&times) {
        run.latency.extend(times.rows(contender.name(), &stream.name, stream.n));
    }
    for contender in contenders {
        if interrupt::requested() {
            return;
        }
        let longest = contender.count_steps(stream);
        let rows = longest.map(|it| it.rows(contender.name(), &stream.name, stream.n));
        run.steps.extend(rows.into_iter().flatten());
    }
}

pub(super) fn measure_memory(settings: &Settings, run: &mut Run, progress: &Progress) {
    let whole = expected_memory(settings);
    let timers: u64 = settings.sizes.iter().map(|n| u64::from(*n)).sum();
    let mut done = 0;
    for &n in &settings.sizes {
        for (at, contender) in settings.contenders.iter().enumerate() {
            if interrupt::requested() {
                return;
            }
            progress.say(format!("memory of {} at n={n}", contender.name()));
            let part = at as f64 / settings.contenders.len() as f64;
            progress.within_part(whole, (done as f64 + part * f64::from(n)) / timers as f64);
            run.memory.extend(contender.memory(n, settings.seed));
        }
        done += u64::from(n);
    }
}

/// Expected time for measuring memory at all sizes.
pub(super) fn expected_memory(settings: &Settings) -> Duration {
    let timers: f64 = settings.sizes.iter().map(|n| f64::from(*n)).sum();
    let play = PLAY_TIME.mul_f64(timers * settings.contenders.len() as f64);
    if settings.details { play } else { Duration::ZERO }
}
