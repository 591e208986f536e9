//! Callbacks that take time, run by the driver itself or by workers: how late each starts.

use super::checks::Checks;
use super::structures::each;
use crate::count::{AnyTimer, random};
use crate::experiment::Experiment;
use crate::{Chart, Evidence, Finding, Scale, Series, Table};
use rand::RngExt;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use wheelhouse_core::{Tick, Timer};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "serial-callbacks",
    about: "model of 1, 2, 4 and 8 workers with 1 to 64 callbacks of 300 ms due together: by how much each starts late; lateness of every structure alone",
    run,
};

const WORKERS: [usize; 4] = [1, 2, 4, 8];
const TASKS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];
/// How long a slow callback takes, in ms.
const SLOW: Tick = 300;

/// Callbacks as (due, duration), in order of firing, run by so many workers: by how much each starts late. With one worker it is the driver that runs them.
fn lateness(callbacks: &[(Tick, Tick)], workers: usize) -> Vec<Tick> {
    // When each worker is free again, the soonest first.
    let mut free: BinaryHeap<_> = std::iter::repeat_n(Reverse(0), workers).collect();
    let mut late = Vec::with_capacity(callbacks.len());
    for (due, duration) in callbacks {
        let Reverse(at) = free.pop().unwrap_or(Reverse(0));
        let start = at.max(*due);
        free.push(Reverse(start + duration));
        late.push(start - due);
    }
    late
}

/// The latest start of so many slow callbacks that are due together.
fn latest(tasks: usize, workers: usize) -> Tick {
    lateness(&vec![(0, SLOW); tasks], workers).into_iter().max().unwrap_or(0)
}

fn named(workers: usize) -> String {
    format!("{workers} worker{}", if workers == 1 { "" } else { "s" })
}

fn run(scale: &Scale) -> Evidence {
    let columns = std::iter::once("callbacks".to_owned()).chain(WORKERS.map(named));
    let mut table =
        Table::new("The latest start of callbacks of 300 ms that are due together, in ms", columns);
    for tasks in TASKS {
        let cells = WORKERS.map(|workers| latest(tasks, workers).to_string());
        table.row(std::iter::once(tasks.to_string()).chain(cells));
    }
    let (c41, first) = next_task();
    let (c49, second) = exactness(scale);
    Evidence { findings: vec![c41, c49], tables: vec![table, first, second], charts: vec![chart()] }
}

/// A callback of 300 ms, and another due 10 ms after it.
fn next_task() -> (Finding, Table) {
    let callbacks = [(0, SLOW), (10, 1)];
    let (inline, pool) = (lateness(&callbacks, 1), lateness(&callbacks, 2));
    let mut checks = Checks::new("A callback of 300 ms, and another due 10 ms later");
    checks.is(
        "start of the second after it is due, run by the driver, in ms",
        SLOW - 10,
        inline[1],
    );
    checks.is("start of the second after it is due, with a second worker, in ms", 0, pool[1]);
    checks.into_parts(
        "C41",
        format!(
            "{} ms late behind a callback of {SLOW} ms, {} with a second worker",
            inline[1], pool[1]
        ),
    )
}

fn exactness(scale: &Scale) -> (Finding, Table) {
    let mut checks = Checks::new("What makes a start late");
    let exact = each(DEADLINES, |timer| {
        (1..=scale.seeds).map(|seed| worst(timer, seed)).max().unwrap_or(0)
    });
    let most = exact.iter().map(|(_, late)| *late).max().unwrap_or(0);
    let statement = format!(
        "no structure of {} is exact by itself, driven at each tick or at its wake-ups",
        exact.len()
    );
    checks.holds(
        statement,
        exact.iter().all(|(_, late)| *late > 0),
        format!("{most} ticks late at most"),
    );
    let pairs = TASKS.iter().flat_map(|tasks| WORKERS.map(|workers| (*tasks, workers)));
    let (enough, few): (Vec<_>, Vec<_>) = pairs.partition(|(tasks, workers)| tasks <= workers);
    let on_time = enough.iter().filter(|(tasks, workers)| latest(*tasks, *workers) == 0).count();
    let late = few.iter().filter(|(tasks, workers)| latest(*tasks, *workers) > 0).count();
    checks.is("loads of more slow callbacks than workers in which some wait", few.len(), late);
    checks.beside(
        "loads of no more slow callbacks than workers in which none waits",
        format!("{on_time} of {}", enough.len()),
    );
    let figure = format!(
        "structures {most} ticks late; 64 slow callbacks on 8 workers up to {} ms",
        latest(64, 8)
    );
    checks.into_parts("C49", figure)
}

const DEADLINES: u64 = 500;

/// By how many ticks a structure fires after the deadline, at most, over random deadlines.
fn worst(timer: &mut AnyTimer, seed: u64) -> Tick {
    let mut random = random(seed);
    let start = timer.now();
    for value in 0..DEADLINES {
        timer.insert(start + random.random_range(1..=4_000), value);
    }
    let mut worst = 0;
    // The first half tick by tick, the rest from wake-up to wake-up.
    for tick in start + 1..=start + 2_000 {
        worst = timer
            .fired(tick)
            .into_iter()
            .map(|(deadline, _)| tick - deadline)
            .fold(worst, Tick::max);
    }
    while let Some(tick) = timer.next_wakeup() {
        worst = timer
            .fired(tick)
            .into_iter()
            .map(|(deadline, _)| tick - deadline)
            .fold(worst, Tick::max);
    }
    worst
}

fn chart() -> Chart {
    let line = |workers| {
        let points = TASKS
            .iter()
            .map(|tasks| (*tasks as f64, latest(*tasks, workers) as f64))
            .filter(|(_, late)| *late > 0.0);
        Series { name: named(workers), points: points.collect() }
    };
    Chart {
        title: "Slow callbacks that are due together".to_owned(),
        subtitle:
            "the latest start of callbacks of 300 ms; none waits while there are workers enough"
                .to_owned(),
        x: "callbacks".to_owned(),
        y: "lateness, ms".to_owned(),
        series: WORKERS.map(line).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_callback_waits_for_the_first_worker_that_is_free() {
        assert_eq!(lateness(&[(0, 300), (10, 1)], 1), [0, 290]);
        assert_eq!(lateness(&[(0, 300), (0, 100), (0, 50), (120, 1)], 2), [0, 0, 100, 30]);
        assert_eq!((latest(8, 8), latest(9, 8), latest(64, 1)), (0, 300, 63 * 300));
    }
}
