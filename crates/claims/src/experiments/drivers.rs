//! C07, C36, C42, C44: how often a program wakes, and the cost of Kafka's queue of slots.

use super::drive::{Wakeup, advance_by_ticks, wakeups};
use super::models::kafka::KafkaModel;
use crate::count::random;
use crate::growth::Growth::{Constant, Logarithmic};
use crate::growth::{Curve, Sample};
use crate::{Evidence, EvidenceKind, Experiment, Setup, Sweep};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use wheelhouse_core::{Tick, Timer};

pub(super) const WAKEUPS: Experiment = Experiment {
    name: "driver-wakeups",
    about: "wake-ups that fire nothing: one timer at 350 by ticks, by the next wake-up of each \
        structure, by a queue of slots; that queue under three loads; 1,000 timers behind one \
        driver and behind one each",
    run: drivers,
};

/// The deadline of the article's timer.
const ALONE: Tick = 350;

fn drivers(setup: &Setup, e: &mut Evidence) {
    one_driver_for_all(setup, e);
    let ticking = setup.on_each_structure(1, |timer| {
        timer.insert(ALONE, 0);
        ALONE as usize - advance_by_ticks(timer, 1, ALONE).len()
    });
    e.decide_by(EvidenceKind::Arithmetic);
    let quote = "A single task of 350 s at a tick of 1 s brings 349 useless advances.";
    e.equals_everywhere("C42.1", quote, 349, &ticking);
    let vain = setup.on_each_structure(1, |timer| {
        timer.insert(ALONE, 0);
        let mut calls = 0;
        while let Some(tick) = timer.next_wakeup() {
            calls += usize::from(timer.advance(tick, |_| ()) == 0);
        }
        calls
    });
    let most = vain.iter().map(|(_, calls)| *calls).max().unwrap_or(0);
    e.decide_by(EvidenceKind::Counts);
    let quote = "From wake-up to wake-up ours make a few: at most one for each level.";
    e.holds("C42.3", quote, most <= 2, format!("at most {most}"));
    loads(setup, e);
}

/// Compares the wake-ups of one driver for all timers with those of one driver for each timer.
fn one_driver_for_all(setup: &Setup, e: &mut Evidence) {
    const TIMERS: u64 = 1_000;
    let wakes = |ticks: bool, delays: &[Tick]| {
        // A heap returns its exact next deadline, so the structure itself adds no wake-ups.
        let mut counted = setup.build("heap-4");
        counted.fill(delays.iter().copied());
        let last = delays.iter().max().copied().unwrap_or(0);
        if ticks { last } else { wakeups(&mut counted).len() as u64 }
    };
    for (id, quote, ticks, delay) in [
        (
            "C07.1",
            "One scheduler wakes less often than one each: tasks due together.",
            false,
            (|_| TIMERS) as fn(u64) -> Tick,
        ),
        ("C07.3", "It does where schedulers wake at each tick.", true, |at| 1 + at),
    ] {
        let delays: Vec<Tick> = (0..TIMERS).map(delay).collect();
        let together = wakes(ticks, &delays);
        let apart: u64 = delays.iter().map(|delay| wakes(ticks, &[*delay])).sum();
        let number = format!("{together} wake-ups against {apart}");
        e.holds(id, quote, together < apart, number);
    }
}

/// Kafka's queue of slots as printed, with 20 slots in each wheel.
fn loads(setup: &Setup, e: &mut Evidence) {
    let names = [
        "20 timers of 1 to 2^20 ticks, of any magnitude",
        "20,000 timers of 1 to 2,000 ticks",
        "2,000 timers of 1 to 1,000,000 ticks, all but 20 cancelled",
    ];
    // Ticks, wake-ups, wake-ups that only demote, wake-ups that find no timer, the longest queue,
    // slots, timers.
    let mut seen = [[0_u64; 7]; 3];
    for seed in setup.seeds() {
        for (load, sum) in seen.iter_mut().enumerate() {
            let mut printed = KafkaModel::new(1, 20, 0);
            let timers = timers(load, &mut random(seed));
            for (name, (deadline, cancelled)) in (0..).zip(&timers) {
                printed.add(*deadline, name);
                if *cancelled {
                    printed.cancel(name);
                }
            }
            let wakeups = wakeups_of_queue(&mut printed);
            let vain = |moves: bool| {
                wakeups.iter().filter(|it| it.fired == 0 && (it.moved > 0) == moves).count()
            };
            let last = wakeups.last().map_or(0, |last| last.tick);
            let counts = [last, wakeups.len() as u64, vain(true) as u64, vain(false) as u64];
            counts.iter().enumerate().for_each(|(at, count)| sum[at] += count);
            sum[4] = sum[4].max(printed.longest_queue() as u64);
            sum[5] = sum[5].max(printed.levels() as u64 * 20);
            sum[6] = timers.len() as u64;
        }
    }
    let [sparse, dense, cancelled] = seen;
    let quote = "Kafka's queue of slots makes fewer advances than there are ticks.";
    e.holds("C44.1", quote, sparse[1] < sparse[0], format!("{} of {} ticks", sparse[1], sparse[0]));
    let quote = "After a mass cancel none finds cancelled tasks only.";
    e.holds("C44.3", quote, cancelled[3] == 0, format!("{} of {} do", cancelled[3], cancelled[1]));
    let quote = "It trades space for time: the queue holds no more entries than slots.";
    e.holds(
        "C44.4",
        quote,
        seen.iter().all(|it| it[4] <= it[5]),
        format!("{} of {}", dense[4], dense[5]),
    );
    let quote = "It holds slots rather than tasks: far fewer where these are dense.";
    e.exceeds(
        "C44.5",
        quote,
        (dense[6] as f64, dense[4] as f64),
        crate::thresholds::Threshold::Much,
    );
    let quote = "It holds fewer entries than tasks where these are sparse.";
    e.holds("C44.6", quote, sparse[4] < sparse[6], format!("{} of {} tasks", sparse[4], sparse[6]));
    let columns = [
        "load",
        "ticks",
        "wake-ups",
        "only demote",
        "find none",
        "longest queue",
        "slots",
        "timers",
    ];
    let row = |(name, counts): (&str, [u64; 7])| {
        let [a, b, c, d, e, f, g] = counts.map(|count| count.to_string());
        [name.to_owned(), a, b, c, d, e, f, g]
    };
    e.table(
        "A queue of slots as printed, all seeds together",
        columns,
        names.into_iter().zip(seen).map(row),
    );
}

/// The deadlines of a load, and whether each timer is cancelled at the start.
fn timers(load: usize, random: &mut Pcg64Mcg) -> Vec<(Tick, bool)> {
    let mut sparse = || {
        let bits = random.random_range(1..=20_u32);
        (random.random_range(1..=1 << bits), false)
    };
    match load {
        0 => (0..20).map(|_| sparse()).collect(),
        1 => (0..20_000).map(|_| (random.random_range(1..=2_000), false)).collect(),
        _ => (0..2_000).map(|at| (random.random_range(1..=1_000_000), at % 100 != 0)).collect(),
    }
}

/// Polls until the queue is empty. Polls at the same tick are one wake-up.
fn wakeups_of_queue(wheels: &mut KafkaModel) -> Vec<Wakeup> {
    let mut wakeups: Vec<Wakeup> = Vec::new();
    while let Some(poll) = wheels.poll_next() {
        if wakeups.last().is_none_or(|last| last.tick != poll.expiry) {
            wakeups.push(Wakeup { tick: poll.expiry, ..Wakeup::default() });
        }
        if let Some(last) = wakeups.last_mut() {
            last.fired += poll.ran.len() as u64;
            last.moved += poll.moved.len() as u64;
        }
    }
    wakeups
}

pub(super) const QUEUE: Experiment = Experiment {
    name: "bucket-queue-ops",
    about: "Kafka's wheels as printed, 8, 20 and 64 slots: offers and polls of the queue for each \
        timer where timers are dense, sparse, or cancelled; its length",
    run: queue,
};

/// Wheel sizes; the longest delay of the dense load, that of Kafka's own timeouts; ticks for each
/// timer of the sparse load.
const SIZES: [u64; 3] = [8, 20, 64];
const DENSE: Tick = 200;
const SPARSE: Tick = 1_000;

fn queue(setup: &Setup, e: &mut Evidence) {
    let sizes = setup.sizes_to(1 << 16);
    let mut sweep = Sweep::new("The queue of slots", "offers and polls for each timer");
    let (mut within, mut polled, mut vain) = (true, 0, 0);
    for size in SIZES {
        for load in ["dense", "sparse", "cancelled"] {
            let curve = setup.curve(&sizes, |n, seed| {
                let (mut wheels, mut random) = (KafkaModel::new(1, size as usize, 0), random(seed));
                let longest = if load == "dense" { DENSE } else { SPARSE * n };
                for name in 0..n {
                    wheels.add(random.random_range(1..=longest), name);
                    if load == "cancelled" && !name.is_multiple_of(n / 16) {
                        wheels.cancel(name);
                    }
                }
                let mut polls = 0;
                while let Some(poll) = wheels.poll_next() {
                    polls += 1;
                    let is_vain = poll.ran.is_empty() && poll.moved.is_empty();
                    vain += u64::from(load == "cancelled" && is_vain);
                }
                polled += if load == "cancelled" { polls } else { 0 };
                within &= wheels.longest_queue() as u64 <= wheels.levels() as u64 * size;
                (wheels.offers() + polls) as f64 / n as f64
            });
            sweep.add(format!("{size} slots, {load}"), curve);
        }
    }
    let quote = "There are few slots: the queue is never longer than their number.";
    e.holds("C36.1", quote, within, "in wheels of 8, 20 and 64 slots");
    let quote = "With many tasks a slot Kafka's queue costs no more, however many there are.";
    let in_all = |curve: &Curve| {
        let all = |it: &Sample| it.costs.iter().map(|each| each * it.n as f64).collect();
        Curve(curve.from(1 << 10).0.iter().map(|it| Sample { n: it.n, costs: all(it) }).collect())
    };
    let in_all: Vec<Curve> = sweep.all(&["dense"]).map(in_all).collect();
    e.at_most("C36.2", quote, &in_all, Constant);
    let quote = "No slot is polled whose tasks were all cancelled.";
    e.holds("C36.4", quote, vain == 0, format!("{vain} of {polled} polls"));
    e.sweep(&sweep);
    comparisons(setup, e);
}

/// The steps of an offer to the queue of kafka-wheel, against the number of slots in the queue.
fn comparisons(setup: &Setup, e: &mut Evidence) {
    let mut sweep = Sweep::over(
        "slots in the queue",
        "An offer to the queue",
        "steps of an insertion into kafka-wheel",
    );
    // One timer in each of `slots` slots, all on the lowest level, which has enough slots for them.
    let offer = setup.curve(&crate::scale::powers(4, 12), |slots, seed| {
        let mut counted = setup.build_with_slots("kafka-wheel", 4 * slots);
        let mut random = random(seed);
        counted.fill((1..slots).map(|at| 2 * at));
        let mut tick = || 2 * random.random_range(1..slots) + 1;
        let fresh: Vec<Tick> = (0..16).map(|_| tick()).collect();
        counted.mean(16, |timer, at| {
            let id = timer.insert(fresh[at as usize], 0);
            timer.cancel(id);
        })
    });
    e.at_most("C36.5", "An offer is O(log n) in the slots of the queue.", [&offer], Logarithmic);
    sweep.add("kafka-wheel", offer);
    e.sweep(&sweep);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_of_slots_wakes_once_for_each_slot() {
        let mut printed = KafkaModel::new(1, 20, 0);
        printed.add(350, 0);
        let wakeups = wakeups_of_queue(&mut printed);
        assert_eq!(
            wakeups.iter().map(|it| (it.tick, it.fired)).collect::<Vec<_>>(),
            [(340, 0), (350, 1)]
        );
    }
}
