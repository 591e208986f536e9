//! How many entries a tick reads in a wheel with rounds: against the number of timers, at a fixed number of slots, and with slots in proportion.

use super::ours::{self, all_are};
use crate::count::{Probe, random};
use crate::experiment::Experiment;
use crate::experiments::configured;
use crate::experiments::paper::rounds::Rounds;
use crate::growth::{Curve, Growth};
use crate::{Chart, Evidence, Finding, Part, Scale, Series, Table};
use rand::RngExt;
use wheelhouse_core::meter::Work;
use wheelhouse_core::{Tick, Timer};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "round-wheel-visits",
    about: "round-wheel, hashed-wheel and a wheel with counted rounds, n timers with rounds to go: entries read and slots visited by a tick, over a \
            revolution; 64, 256 and 4,096 slots, then four timers a slot; and all timers in one slot",
    run,
};

/// Slots where they are fixed.
const SLOTS: [u64; 3] = [64, 256, 4_096];
/// Timers for each slot where these are in proportion.
const EACH: u64 = 4;
/// The most slots of a wheel.
const MOST: u64 = 1 << 16;
/// The timers wait for at least so many rounds.
const ROUNDS: Tick = 1_000;

/// Which slots the timers are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spread {
    Random,
    OneSlot,
}

/// A cost against n.
struct Cost {
    structure: &'static str,
    load: &'static str,
    slots: String,
    curve: Curve,
}

impl Cost {
    fn new(
        structure: &'static str,
        load: &'static str,
        slots: impl ToString,
        curve: Curve,
    ) -> Self {
        Self { structure, load, slots: slots.to_string(), curve }
    }
}

const BUSY: &str = "a timer due at each tick";
const IDLE: &str = "none due";
const CROWDED: &str = "a timer due at each tick, all others in one slot: the dearest tick";
const IN_PROPORTION: &str = "n / 4";

fn run(scale: &Scale) -> Evidence {
    let mut costs = Vec::new();
    for slots in SLOTS {
        let [idle, busy] =
            ours::curves(&scale.sizes(), scale.seeds(), |n, seed| round_wheel(n, slots, seed));
        costs.push(Cost::new("round-wheel", IDLE, slots, idle));
        costs.push(Cost::new("round-wheel", BUSY, slots, busy));
    }
    let proportional: Vec<u64> = scale.sizes().into_iter().filter(|n| n / EACH <= MOST).collect();
    let [idle, busy] =
        ours::curves(&proportional, scale.seeds(), |n, seed| round_wheel(n, n / EACH, seed));
    costs.push(Cost::new("round-wheel", IDLE, IN_PROPORTION, idle));
    costs.push(Cost::new("round-wheel", BUSY, IN_PROPORTION, busy));
    let crowded = Curve::sweep(&scale.sizes(), scale.seeds(), |n, seed| {
        let mut probe = filled(configured::round_wheel(256), n, 256, Spread::OneSlot, seed);
        busy_revolution(&mut probe, 256, Work::EntryScan).1
    });
    costs.push(Cost::new("round-wheel", CROWDED, 256, crowded));
    let counted =
        Curve::sweep(&scale.sizes(), scale.seeds(), |n, seed| counted_rounds(n, 256, seed));
    costs.push(Cost::new("rounds counted down", IDLE, 256, counted));
    let sorted = Curve::sweep(&scale.sizes(), scale.seeds(), |n, seed| {
        let mut probe = filled(configured::hashed_wheel(256), n, 256, Spread::Random, seed);
        busy_revolution(&mut probe, 256, Work::SlotVisit).0
    });
    costs.push(Cost::new("hashed-wheel, slots visited", BUSY, 256, sorted));
    Evidence {
        findings: vec![finding(&costs)],
        tables: vec![table(&costs)],
        charts: vec![chart(&costs)],
    }
}

/// Delays of timers that have rounds to go. Each is a revolution before the last, so that a wheel with sorted slots has nothing to search.
fn delays(n: u64, slots: u64, spread: Spread, seed: u64) -> impl Iterator<Item = Tick> {
    let mut random = random(seed);
    let slot =
        move |_: u64| if spread == Spread::Random { random.random_range(0..slots) } else { 0 };
    (0..n)
        .rev()
        .map(move |left| (ROUNDS + left) * slots)
        .zip((0..n).map(slot))
        .map(|(rounds, slot)| rounds + slot)
}

fn filled<T: Timer<u64>>(
    mut probe: Probe<T>,
    n: u64,
    slots: u64,
    spread: Spread,
    seed: u64,
) -> Probe<T> {
    probe.fill(delays(n, slots, spread, seed));
    probe
}

/// Entries that a tick reads on average over a revolution, with nothing due and with one timer due at each tick.
fn round_wheel(n: u64, slots: u64, seed: u64) -> [f64; 2] {
    let mut probe = filled(configured::round_wheel(slots as usize), n, slots, Spread::Random, seed);
    let before = probe.steps();
    (1..=slots).for_each(|tick| _ = probe.timer.advance(tick, |_| ()));
    let idle = probe.steps().since(&before).of(Work::EntryScan) as f64 / slots as f64;
    [idle, busy_revolution(&mut probe, slots, Work::EntryScan).0]
}

/// Work of one kind that a tick does, on average over a revolution and at most: at each tick one timer is due, which is started again for the next.
fn busy_revolution<T: Timer<u64>>(probe: &mut Probe<T>, slots: u64, work: Work) -> (f64, f64) {
    let start = probe.timer.now();
    probe.timer.insert(start + 1, 0);
    let (mut sum, mut most) = (0, 0);
    for tick in start + 1..=start + slots {
        let mut steps = 0;
        loop {
            let (done, expired) = probe.work(|timer| timer.pop_expired(tick));
            steps += done.of(work);
            if expired.is_none() {
                break;
            }
            probe.timer.insert(tick + 1, 0);
        }
        sum += steps;
        most = most.max(steps);
    }
    (sum as f64 / slots as f64, most as f64)
}

/// The same where each timer counts its rounds, with nothing due.
fn counted_rounds(n: u64, slots: u64, seed: u64) -> f64 {
    let mut wheel = Rounds::new(slots);
    delays(n, slots, Spread::Random, seed).for_each(|delay| wheel.start(delay));
    (0..slots).map(|_| wheel.tick().met()).sum::<u64>() as f64 / slots as f64
}

fn finding(costs: &[Cost]) -> Finding {
    let busy = || costs.iter().filter(|cost| cost.structure == "round-wheel" && cost.load == BUSY);
    let fixed = busy().filter(|cost| cost.slots != IN_PROPORTION).map(|cost| cost.curve.growth());
    let proportional =
        busy().filter(|cost| cost.slots == IN_PROPORTION).map(|cost| cost.curve.growth());
    let of = |load: &str| {
        costs
            .iter()
            .filter(|cost| cost.load == load)
            .map(|cost| cost.curve.growth())
            .collect::<Vec<_>>()
    };
    let counted = costs
        .iter()
        .filter(|cost| cost.structure == "rounds counted down")
        .map(|cost| cost.curve.growth());
    let parts = [
        Part::maybe(
            "with counted rounds a tick reads in proportion to the timers, at a fixed number of slots",
            all_are(Growth::Linear, counted),
        ),
        Part::maybe(
            "so it does where the deadline says whether a timer is due, if one is due at each tick",
            all_are(Growth::Linear, fixed),
        ),
        Part::maybe("one tick may read all timers", all_are(Growth::Linear, of(CROWDED))),
        Part::maybe(
            "a tick reads more, too, where the slots are in proportion to the timers",
            all_are(Growth::Linear, proportional),
        ),
    ];
    let ends = |slots: &str| {
        busy().find(|cost| cost.slots == slots).map_or(f64::NAN, |cost| cost.curve.ends().1)
    };
    let n = costs
        .iter()
        .filter_map(|cost| cost.curve.0.last())
        .map(|sample| sample.n)
        .max()
        .unwrap_or(0);
    let figure = format!(
        "{:.0} entries a tick at n = {n} in 256 slots, {:.0} in 4,096, and {:.1} at any n where there are {EACH} timers a slot",
        ends("256"),
        ends("4096"),
        ends(IN_PROPORTION)
    );
    Finding::new("C16", figure, parts)
}

fn table(costs: &[Cost]) -> Table {
    let columns = ["wheel, load", "slots", "smallest n", "largest n", "growth"];
    let mut table = Table::new(
        "Entries that a tick reads, on average over a revolution; n timers have rounds to go",
        columns,
    );
    for Cost { structure, load, slots, curve } in costs {
        table.row([format!("{structure}, {load}"), slots.clone()].into_iter().chain(curve.cells()));
    }
    table
}

fn chart(costs: &[Cost]) -> Chart {
    let shown =
        costs.iter().filter(|cost| cost.load == BUSY || cost.structure == "rounds counted down");
    let series = |cost: &Cost| Series {
        name: format!("{}, {} slots", cost.structure, cost.slots),
        points: cost.curve.points(),
    };
    Chart {
        title: "A tick of a wheel with rounds".to_owned(),
        subtitle:
            "entries read by a tick at which one timer is due; counted rounds: at which none is"
                .to_owned(),
        x: "timers".to_owned(),
        y: "entries".to_owned(),
        series: shown.map(series).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tick_reads_a_slot_if_something_in_it_is_due() {
        let [idle, busy] = round_wheel(1_024, 64, 1);
        assert_eq!((idle, busy), (0.0, 17.0), "16 a slot, and the one that is due");
        assert_eq!(counted_rounds(1_024, 64, 1), 16.0);
    }
}
