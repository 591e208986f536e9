//! What the heaps of Java's timers cost, and what stays in them of the timers that were cancelled.
//!
//! An entry that a structure has kept shows when its time comes: it is met and thrown away then. So 100,000 far timers are started and cancelled beside one that stays, and
//! the steps of the call that fires this one tell what was left behind. The queue of a `ScheduledThreadPoolExecutor` is a model ([`Marking`]), by its documentation:
//! a cancelled task is marked and stays until it comes up, unless the program asks for `remove` or `purge`.

use super::hold::{curves, hold, largest, sizes, totals};
use crate::count::{LONGEST, Order, Probe, Tally, random};
use crate::experiment::Experiment;
use crate::growth::{Curve, Growth};
use crate::{Chart, Evidence, Finding, Part, Scale, Series, Table};
use rand::RngExt;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use wheelhouse_binary_heap::{Definition, LazyDefinition};
use wheelhouse_core::backend::Backend;
use wheelhouse_core::{Tick, Timer};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "lazy-retention",
    about: "100,000 far timers started and cancelled: what is met when their time comes; steps of insert, cancel and pop of the heaps; a model of a queue that marks",
    run,
};

/// The article's reader cancels so many.
const CANCELLED: u64 = 100_000;
/// Few timers.
const FEW: u64 = 16;
/// Times that so few timers are started and fired.
const ROUNDS: u64 = 64;
/// Entries that are searched for in a sample.
const SEARCHES: u64 = 256;

fn run(scale: &Scale) -> Evidence {
    let heaps = [costs::<Definition<2>>(scale), costs::<Definition<4>>(scale)];
    let searched = Curve::sweep(&scale.linear_sizes(), 1..=scale.seeds, search);
    let logarithmic = |curve: fn(&Costs) -> &Curve| {
        let of_each: Option<Vec<bool>> =
            heaps.iter().map(|it| curve(it).growth().is(Growth::Logarithmic)).collect();
        of_each.map(|of_each| !of_each.contains(&false))
    };
    let kept = kept(1);
    let marking = marked(1);
    let few = few(scale);
    let heap = few
        .iter()
        .filter(|it| it.kind == Kind::Heap)
        .map(|it| it.steps)
        .fold(f64::INFINITY, f64::min);
    let mut parts = vec![
        Part::maybe("to start a timer in a heap is logarithmic", logarithmic(|it| &it.insert)),
        Part::maybe("to cancel one by its handle is logarithmic", logarithmic(|it| &it.cancel)),
        Part::maybe(
            "to cancel one that has to be searched for is logarithmic",
            searched.growth().is(Growth::Logarithmic),
        ),
        Part::maybe("to take the first is logarithmic", logarithmic(|it| &it.pop)),
    ];
    let fewer = |wheel: &Few| {
        Part::new(
            format!("a heap of {FEW} timers takes fewer steps a timer than {}", wheel.name),
            heap < wheel.steps,
        )
    };
    parts.extend(few.iter().filter(|it| it.kind == Kind::Wheel).map(fewer));
    let figure = format!(
        "of {CANCELLED} cancelled tasks {} stay in a queue that marks them; a heap of {} starts a timer in {:.1} steps, cancels in {:.1} and takes the first in {:.1}",
        marking.held,
        largest(scale),
        heaps[0].insert.ends().1,
        heaps[0].cancel.ends().1,
        heaps[0].pop.ends().1
    );
    let tables = vec![operations(&heaps, &searched), retention(&kept, &marking), of_few(&few)];
    Evidence {
        findings: vec![Finding::new("C46", figure, parts)],
        tables,
        charts: vec![chart(&heaps, &searched)],
    }
}

/// The costs of a heap.
struct Costs {
    name: &'static str,
    insert: Curve,
    cancel: Curve,
    pop: Curve,
}

fn costs<B: Backend + 'static>(scale: &Scale) -> Costs {
    let [insert, cancel, pop] = curves(&sizes(scale), scale.seeds(), |n, seed| {
        let log = hold(|_| Probe::of::<B>(), n, seed);
        [totals(&log.insert).mean(), totals(&log.cancel).mean(), totals(&log.pop).mean()]
    });
    Costs { name: B::INFO.name, insert, cancel, pop }
}

/// What 100,000 cancelled timers left behind.
struct Kept {
    name: &'static str,
    /// Steps of a cancellation, on average.
    cancel: f64,
    /// Steps of the call that fires the one that stayed.
    met: u64,
}

fn kept(seed: u64) -> Vec<Kept> {
    vec![
        keep::<Definition<2>>(seed),
        keep::<Definition<4>>(seed),
        keep::<LazyDefinition>(seed),
        keep::<wheelhouse_hierarchical_wheel::Definition>(seed),
        keep::<wheelhouse_round_wheel::Definition>(seed),
        keep::<wheelhouse_kafka_wheel::Definition>(seed),
        keep::<wheelhouse_calendar_queue::Definition>(seed),
    ]
}

/// Far deadlines, all before that of the timer that stays.
fn far(seed: u64) -> impl Iterator<Item = Tick> {
    Order::Random.delays(CANCELLED, seed).into_iter().map(|delay| LONGEST + delay)
}

fn keep<B: Backend + 'static>(seed: u64) -> Kept {
    let mut probe = Probe::of::<B>();
    let last = 4 * LONGEST;
    probe.timer.insert(last, 0);
    let ids = probe.fill(far(seed));
    let cancels: Tally =
        ids.into_iter().map(|id| probe.work(|timer| timer.cancel(id)).0.total()).collect();
    let (steps, fired) = probe.work(|timer| timer.advance(last, |_| ()));
    assert_eq!(fired, 1, "{}: one timer has stayed", B::INFO.name);
    Kept { name: B::INFO.name, cancel: cancels.mean(), met: steps.total() }
}

/// A priority queue whose cancelled tasks are marked and stay in it until they come up.
#[derive(Default)]
struct Marking {
    queue: BinaryHeap<Reverse<(Tick, usize)>>,
    /// Of each task that was ever started.
    is_cancelled: Vec<bool>,
}

impl Marking {
    fn start(&mut self, deadline: Tick) -> usize {
        self.is_cancelled.push(false);
        let task = self.is_cancelled.len() - 1;
        self.queue.push(Reverse((deadline, task)));
        task
    }

    fn cancel(&mut self, task: usize) {
        self.is_cancelled[task] = true;
    }

    /// Takes out all that are due: how many ran, and how many were taken out in vain.
    fn advance(&mut self, now: Tick) -> (usize, usize) {
        let (mut ran, mut vain) = (0, 0);
        while self.queue.peek().is_some_and(|Reverse((deadline, _))| *deadline <= now) {
            let cancelled =
                self.queue.pop().is_some_and(|Reverse((_, task))| self.is_cancelled[task]);
            if cancelled { vain += 1 } else { ran += 1 }
        }
        (ran, vain)
    }

    /// Takes out what is cancelled, looking at each.
    fn purge(&mut self) {
        let is_cancelled = &self.is_cancelled;
        self.queue.retain(|Reverse((_, task))| !is_cancelled[*task]);
    }
}

/// What the model holds after all were cancelled, and after it was purged.
struct Marked {
    held: usize,
    purged: usize,
    vain: usize,
}

fn marked(seed: u64) -> Marked {
    let cancelled = || {
        let mut queue = Marking::default();
        queue.start(4 * LONGEST);
        let tasks: Vec<_> = far(seed).map(|deadline| queue.start(deadline)).collect();
        tasks.into_iter().for_each(|task| queue.cancel(task));
        queue
    };
    let mut queue = cancelled();
    // All but the one that stays.
    let held = queue.queue.len() - 1;
    let (_, vain) = queue.advance(4 * LONGEST);
    let mut queue = cancelled();
    queue.purge();
    Marked { held, purged: queue.queue.len() - 1, vain }
}

/// The entries of the array that are read to find one of them, which is what `remove(Object)` of a priority queue without an index does.
fn search(n: u64, seed: u64) -> f64 {
    let mut random = random(seed);
    let queue: BinaryHeap<(Tick, u64)> =
        Order::Random.delays(n, seed).into_iter().zip(0..).collect();
    let entries = queue.as_slice();
    let read = |stratum: u64| {
        let wanted = entries[((stratum * n + random.random_range(0..n)) / SEARCHES) as usize];
        queue.iter().take_while(|entry| **entry != wanted).count() as u64 + 1
    };
    (0..SEARCHES).map(read).collect::<Tally>().mean()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Heap,
    Wheel,
}

/// Steps of a few timers from their start to their firing, each on average.
struct Few {
    name: &'static str,
    kind: Kind,
    steps: f64,
}

fn few(scale: &Scale) -> Vec<Few> {
    vec![
        start_and_fire::<Definition<2>>(Kind::Heap, scale),
        start_and_fire::<Definition<4>>(Kind::Heap, scale),
        start_and_fire::<wheelhouse_hierarchical_wheel::Definition>(Kind::Wheel, scale),
        start_and_fire::<wheelhouse_round_wheel::Definition>(Kind::Wheel, scale),
        start_and_fire::<wheelhouse_kafka_wheel::Definition>(Kind::Wheel, scale),
    ]
}

fn start_and_fire<B: Backend + 'static>(kind: Kind, scale: &Scale) -> Few {
    let mut steps = 0;
    for seed in 1..=scale.seeds * ROUNDS {
        let mut probe = Probe::of::<B>();
        probe.fill(Order::Random.delays(FEW, seed));
        while let Some(next) = probe.timer.next_wakeup() {
            probe.timer.advance(next, |_| ());
        }
        steps += probe.steps().total();
    }
    Few { name: B::INFO.name, kind, steps: steps as f64 / (scale.seeds * ROUNDS * FEW) as f64 }
}

fn operations(heaps: &[Costs], searched: &Curve) -> Table {
    let mut table = Table::new(
        "Steps of a heap's operations",
        ["heap", "operation", "smallest n", "largest n", "growth"],
    );
    let mut row = |heap: &str, operation: &str, curve: &Curve| {
        table.row([heap, operation].map(str::to_owned).into_iter().chain(curve.cells()));
    };
    for Costs { name, insert, cancel, pop } in heaps {
        row(name, "insert", insert);
        row(name, "cancel by handle", cancel);
        row(name, "take the first", pop);
    }
    row("without an index", "entries read to cancel by search", searched);
    table
}

fn retention(kept: &[Kept], marking: &Marked) -> Table {
    let title = format!("{CANCELLED} far timers cancelled: what is met when their time comes");
    let mut table =
        Table::new(title, ["structure", "steps of a cancel", "steps when their time comes"]);
    for Kept { name, cancel, met } in kept {
        table.row([(*name).to_owned(), format!("{cancel:.2}"), met.to_string()]);
    }
    table.row([
        "model that marks: entries held".to_owned(),
        String::new(),
        marking.held.to_string(),
    ]);
    table.row([
        "model that marks: taken out in vain".to_owned(),
        String::new(),
        marking.vain.to_string(),
    ]);
    table.row([
        "model that marks: held after a purge".to_owned(),
        String::new(),
        marking.purged.to_string(),
    ]);
    table
}

fn of_few(few: &[Few]) -> Table {
    let title = format!("{FEW} timers started and fired, from wake-up to wake-up: steps a timer");
    let mut table = Table::new(title, ["structure", "steps"]);
    for Few { name, steps, .. } in few {
        table.row([(*name).to_owned(), format!("{steps:.2}")]);
    }
    table
}

fn chart(heaps: &[Costs], searched: &Curve) -> Chart {
    let line = |name: String, curve: &Curve| Series { name, points: curve.points() };
    let of = |it: &Costs| {
        let kinds = [("insert", &it.insert), ("cancel", &it.cancel), ("take the first", &it.pop)];
        kinds.map(|(kind, curve)| line(format!("{}, {kind}", it.name), curve))
    };
    let mut series: Vec<_> = heaps.iter().flat_map(of).collect();
    series.push(line("cancel by search".to_owned(), searched));
    Chart {
        title: "What a heap's operations take".to_owned(),
        subtitle: "comparisons, moves, or entries read; n timers, uniform delays".to_owned(),
        x: "timers".to_owned(),
        y: "steps".to_owned(),
        series,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What was seen of a `ScheduledThreadPoolExecutor`: 100,000 tasks cancelled, 100,000 in its queue.
    #[test]
    fn a_queue_that_marks_keeps_all_until_their_time() {
        let Marked { held, purged, vain } = marked(1);
        assert_eq!((held, purged, vain), (100_000, 0, 100_000));
    }

    #[test]
    fn the_model_runs_what_is_not_cancelled() {
        let mut queue = Marking::default();
        let tasks = [5, 3, 9].map(|deadline| queue.start(deadline));
        queue.cancel(tasks[1]);
        assert_eq!((queue.advance(5), queue.advance(9), queue.queue.len()), ((1, 1), (1, 0), 0));
    }

    #[test]
    fn a_search_reads_half_of_the_entries_on_average() {
        assert!((search(1_024, 1) - 512.5).abs() < 2.0, "{}", search(1_024, 1));
    }
}
