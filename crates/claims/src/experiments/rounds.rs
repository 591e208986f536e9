//! C16, V9, V12: what a tick of a wheel with rounds looks at.
//!
//! Ours keeps the deadline instead of the rounds, and for each slot a tick before which nothing in
//! it is due; such a slot it passes in a step. What is said of scheme 6 is asked of a model that
//! counts rounds down, and of ours where a timer is due at each tick.

use super::drive::{exponential, hold};
use super::models::rounds::{Rounds, S4, Visit};
use crate::count::{Tally, random};
use crate::growth::Growth::{Constant, Linear};
use crate::growth::line;
use crate::thresholds::Threshold::{Formula, Mean};
use crate::{Evidence, Experiment, Lab, Sweep, Test};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use wheelhouse_core::meter::Work;
use wheelhouse_core::{Tick, Timer};

pub(super) const VISITS: Experiment = Experiment {
    name: "round-wheel-visits",
    about: "round-wheel and a model of scheme 6, n timers with rounds to go: entries read by a \
        tick over a revolution; 64, 256 and 4,096 slots, then four timers a slot; all timers in \
        one slot",
    run: visits,
};

/// The timers wait for at least so many rounds.
const ROUNDS: Tick = 1_000;
/// Timers for each slot where these are in proportion.
const EACH: u64 = 4;

fn visits(lab: &Lab, e: &mut Evidence) {
    let sizes = lab.scale.sizes();
    let mut sweep = Sweep::new(
        "A tick of a wheel with rounds",
        "entries read by a tick, n timers have rounds to go",
    );
    for slots in [64, 256, 4_096] {
        let busy = lab.curve(&sizes, |n, seed| busy(lab, n, slots, false, seed).mean());
        sweep.add(format!("round-wheel, {slots} slots, one due at each tick"), busy);
    }
    let few: Vec<u64> = lab.sizes_to(EACH << 16);
    let in_proportion = lab.curve(&few, |n, seed| busy(lab, n, n / EACH, false, seed).mean());
    sweep.add("round-wheel, n / 4 slots, one due at each tick", in_proportion);
    let crowded = lab.curve(&sizes, |n, seed| busy(lab, n, 256, true, seed).max() as f64);
    sweep.add("round-wheel, all others in one slot, the tick of that slot", crowded);
    let idle = lab.curve(&sizes, |n, seed| {
        let mut wheel = Rounds::new(S4, 256, 0);
        delays(n, 256, false, seed).for_each(|delay| wheel.add(0, delay, 1));
        (0..256).map(|_| wheel.tick().met()).sum::<u64>() as f64 / 256.0
    });
    sweep.add("scheme 6 (model), 256 slots, none due", idle);
    let quote = "With rounds every tick scans a slot's list: O(n) at a fixed number of slots.";
    e.class("C16.1", quote, sweep.all(&["scheme 6"]), Linear);
    let quote = "So does ours, which keeps deadlines, where one is due at each tick.";
    e.class("C16.2", quote, sweep.all(&["round-wheel", "slots, one due"]).take(3), Linear);
    let quote = "Long lists are unacceptable: one tick may scan all timers.";
    e.class("C16.3", quote, sweep.all(&["all others in one slot"]), Linear);
    let quote = "A tick scans more, the more timers, with slots in proportion to them.";
    e.grows("C16.4", quote, sweep.all(&["n / 4"]));
    e.sweep(&sweep);
}

/// Delays of timers that have rounds to go, each a revolution before the last.
fn delays(n: u64, slots: u64, one_slot: bool, seed: u64) -> impl Iterator<Item = Tick> {
    let mut random = random(seed);
    (0..n).rev().map(move |left| {
        let slot = if one_slot { slots } else { 1 + random.random_range(0..slots) };
        (ROUNDS + left) * slots + slot
    })
}

/// Entries read by each tick of a revolution, at each of which one timer is due and started again
/// for the next.
fn busy(lab: &Lab, n: u64, slots: u64, one_slot: bool, seed: u64) -> Tally {
    let mut probe = lab.slots("round-wheel", slots);
    probe.fill(delays(n, slots, one_slot, seed));
    probe.timer.insert(1, 0);
    let tick = |tick| {
        let mut read = 0;
        loop {
            let (steps, fired) = probe.work(|timer| timer.pop_expired(tick));
            read += steps.of(Work::EntryScan);
            if fired.is_none() {
                return read;
            }
            probe.timer.insert(tick + 1, 0);
        }
    };
    (1..=slots).map(tick).collect()
}

pub(super) const PER_TICK: Experiment = Experiment {
    name: "vl-per-tick",
    about: "round-wheel and a model of scheme 6, 256 slots, n = 0, 64 .. 2^14 held, each due once \
        a revolution: work of a tick against n/M",
    run: per_tick,
};

const SLOTS: u64 = 256;
/// The paper's own: no timer, 64, as many as slots, 200 connections of 3 timers, 1,024.
const PRINTED: [u64; 5] = [0, 64, 256, 600, 1_024];
const SIZES: [u64; 5] = [1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14];
const REVOLUTIONS: u64 = 8;

fn per_tick(lab: &Lab, e: &mut Evidence) {
    let model = |n, seed| {
        let (mut model, mut random) = (Rounds::new(S4, SLOTS, 0), random(seed));
        (0..n).for_each(|_| model.add(0, random.random_range(1..=SLOTS), 1));
        let visits = model.hold(REVOLUTIONS * SLOTS, || SLOTS);
        visits.iter().map(Visit::instructions).sum::<u64>() as f64 / visits.len() as f64
    };
    let ours = |n, slots: u64, seed| {
        let (mut probe, mut random) = (lab.slots("round-wheel", slots), random(seed));
        probe.fill((0..n).map(|_| random.random_range(1..=slots)));
        hold(&mut probe, 1..=REVOLUTIONS * slots, || slots).per_tick()
    };
    let printed = lab.curve(&PRINTED, model);
    let pairs =
        printed.points().into_iter().map(|(n, found)| (found, 4.0 + 15.0 * n / SLOTS as f64));
    let pairs: Vec<_> = pairs.collect();
    let number = format!("{:.2} instructions with 600 timers", pairs[3].0);
    let quote = "A tick costs 4 + 15 n/M instructions, if each timer expires in a scan.";
    e.say("V9.1", quote, Test::Near(pairs, Formula), number);
    let mut sweep =
        Sweep::new("A tick of scheme 6", "steps of a tick, 256 slots; the model: instructions");
    sweep.add("round-wheel", lab.curve(&SIZES, |n, seed| ours(n, SLOTS, seed)));
    sweep.add("round-wheel, n / 4 slots", lab.curve(&SIZES, |n, seed| ours(n, n / 4, seed)));
    sweep.add("scheme 6 (model)", lab.curve(&SIZES, model));
    e.class("V9.2", "A tick of ours is linear in n, too.", [&sweep["round-wheel"]], Linear);
    let quote = "It is the same at every n if n/M is.";
    e.at_most("V9.3", quote, [&sweep["round-wheel, n / 4 slots"]], Constant);
    let empty = ours(0, SLOTS, 1);
    e.holds("V9.4", "An empty slot costs something.", empty > 0.0, format!("{empty:.0} steps"));
    let points = sweep["round-wheel"].points();
    let (at_zero, slope) =
        line(&points.iter().map(|(n, cost)| (n / SLOTS as f64, *cost)).collect::<Vec<_>>());
    e.beside("a tick of ours, in steps", format!("{at_zero:.1} + {slope:.2} n/M"));
    e.sweep(&sweep);
}

pub(super) const HASH: Experiment = Experiment {
    name: "vl-hash-variance",
    about: "round-wheel and a model of scheme 6, 64 slots, 4,096 timers held in 64, 16, 4 and 1 of \
        the slots: mean, deviation and maximum of a tick",
    run: hash,
};

const FEW: u64 = 64;
const TIMERS: u64 = 4_096;
/// Over how many slots deadlines spread: all of them, as random ones do, down to one.
const USED: [u64; 4] = [64, 16, 4, 1];
/// One in so many timers of a slot is due at a visit, so that ours looks at it, too.
const LIFE: f64 = 4.0;

/// An interval of whole revolutions, so that a timer that starts again stays in its slot:
/// geometric. What is left of one is distributed as the whole.
fn revolutions(random: &mut Pcg64Mcg) -> Tick {
    let scale = -(1.0 - 1.0 / LIFE).ln();
    (1 + (exponential(random) / scale) as Tick) * FEW
}

/// Work of each tick of ours, and timers that the model looks at.
fn ticks(lab: &Lab, used: u64, seed: u64) -> [Vec<u64>; 2] {
    let (mut random, turns) = (random(seed), 1..=FEW * FEW);
    let mut first =
        || 1 + random.random_range(0..used) * (FEW / used) + revolutions(&mut random) - FEW;
    let (mut probe, mut model) = (lab.slots("round-wheel", FEW), Rounds::new(S4, FEW, 0));
    probe.fill((0..TIMERS).map(|_| first()));
    (0..TIMERS).for_each(|_| model.add(0, first(), 1));
    let ours = hold(&mut probe, turns.clone(), || revolutions(&mut random)).ticks;
    let visits = model.hold(*turns.end(), || revolutions(&mut random));
    [ours, visits.iter().map(Visit::met).collect()]
}

fn hash(lab: &Lab, e: &mut Evidence) {
    let (mut rows, mut means, mut deviations, mut most) =
        (Vec::new(), [const { Vec::new() }; 2], Vec::new(), 0);
    for used in USED {
        for (whose, who) in ["ours, steps", "scheme 6 (model), timers met"].into_iter().enumerate()
        {
            let all: Vec<u64> = lab
                .seeds()
                .flat_map(|seed| std::mem::take(&mut ticks(lab, used, seed)[whose]))
                .collect();
            let tally: Tally = all.iter().copied().collect();
            let mean = tally.mean();
            let squares = all.iter().map(|steps| (*steps as f64 - mean).powi(2)).sum::<f64>();
            let deviation = (squares / all.len() as f64).sqrt();
            means[whose].push(mean);
            if whose == 0 {
                deviations.push(deviation);
                most = tally.max();
            }
            let [mean, deviation] = [mean, deviation].map(|figure| format!("{figure:.1}"));
            rows.push([used.to_string(), who.to_owned(), mean, deviation, tally.max().to_string()]);
        }
    }
    for (id, whose, quote) in [
        ("V12.1", 1, "The quality of the hash does not change the mean of a tick."),
        ("V12.2", 0, "Nor does it in ours, where something is due at each visit."),
    ] {
        let mean = means[whose].iter().sum::<f64>() / means[whose].len() as f64;
        let pairs = means[whose].iter().map(|one| (*one, mean)).collect();
        let number =
            format!("{:.0} with all slots, {:.0} with one", means[whose][0], means[whose][3]);
        e.say(id, quote, Test::Near(pairs, Mean), number);
    }
    let number = format!("{:.0} to {:.0} steps", deviations[0], deviations[3]);
    let quote = "It changes the deviation: the fewer slots are used, the greater.";
    e.holds("V12.3", quote, deviations.is_sorted(), number);
    let quote = "With one slot a tick looks at all timers.";
    e.holds("V12.4", quote, most >= TIMERS, format!("{most} steps, of {TIMERS} timers"));
    e.table(
        "Work of a tick, by the slots that deadlines use",
        ["slots used", "whose", "mean", "deviation", "most"],
        rows,
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scale;

    #[test]
    fn a_tick_reads_a_slot_if_something_in_it_is_due() {
        let lab = Lab::new(&Scale::REDUCED);
        // Sixteen a slot, and the one that is due.
        assert_eq!(busy(&lab, 1_024, 64, false, 1).mean(), 17.0);
        let met: u64 = ticks(&lab, 4, 1)[1].iter().sum();
        assert_eq!(met, TIMERS * FEW, "the model looks at each timer once a revolution");
    }
}
