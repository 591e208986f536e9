//! C08, C55: wheels with rounds, by the rules of the articles.

use super::models::rounds::{RoundsModel, Rules, S0_FIXED, S1};
use crate::{Evidence, EvidenceKind, Experiment, Setup};
use wheelhouse_core::Tick;

pub(super) const LAPS: Experiment = Experiment {
    name: "lap-conventions",
    about: "wheels with rounds by the rules of S0, S1 and S4, turned tick by tick: every delay of \
        1 to 10 turns from every slot; 8, 12 and 24 slots",
    run: laps,
};

/// Runs a task of every delay of 1 to 10 turns from every slot. Returns the number of all tasks, of
/// those that fire once, and of those that fire at their tick; then the least and the greatest
/// offset.
fn offsets(rules: Rules) -> ([usize; 3], i64, i64) {
    let (mut counts, mut earliest, mut latest) = ([0; 3], i64::MAX, i64::MIN);
    for slots in [8, 12, 24] {
        for cursor in 0..slots {
            let mut wheel = RoundsModel::new(rules, slots, cursor);
            let delays = 1..=10 * slots;
            delays.clone().for_each(|delay| wheel.add(delay, delay, 1));
            // Two more turns, for tasks that are late.
            let fired = wheel.run(12 * slots);
            for delay in delays {
                let ticks: Vec<Tick> =
                    fired.iter().filter(|it| it.1 == delay).map(|it| it.0).collect();
                counts[0] += 1;
                counts[1] += usize::from(ticks.len() == 1);
                counts[2] += usize::from(ticks == [delay]);
                for offset in ticks.iter().map(|tick| *tick as i64 - delay as i64) {
                    (earliest, latest) = (earliest.min(offset), latest.max(offset));
                }
            }
        }
    }
    (counts, earliest, latest)
}

fn laps(_: &Setup, e: &mut Evidence) {
    // All tasks of a slot are to fire here. B1 tests the printed loop, which fires only the first.
    let ([tasks, once, _], earliest, latest) = offsets(S0_FIXED);
    e.decide_by(EvidenceKind::Arithmetic);
    e.equals("C08.1", "A task runs once, on the visit that finds its circle at 0.", tasks, once);
    let quote = "That is at one distance from its delay, and never early.";
    let number = format!("{earliest:+} to {latest:+} ticks");
    e.holds("C08.2", quote, earliest == latest && earliest >= 0, number);
    let quote = "Taking one off first, then running those at 0, is right with laps from 1.";
    let ([tasks, _, exact], ..) = offsets(S1);
    e.equals("C55.1", quote, tasks, exact);
}
