//! Three ways to count rounds, each by its own rule: does every task fire once, at its tick?

use super::checks::Checks;
use super::laps::{Convention, Life, S0, S1_FROM_ONE, S1_FROM_ZERO, S4};
use crate::experiment::Experiment;
use crate::{Evidence, Finding, Scale, Table};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "lap-conventions",
    about: "wheels with rounds by the rules of S0, S1 and S4, turned tick by tick: every delay of 1 to 10 turns from every slot; 8, 12 and 24 slots",
    run,
};

const SLOTS: [u64; 3] = [8, 12, 24];
const TURNS: u64 = 10;

/// What became of all tasks under a convention.
#[derive(Debug)]
struct Fired {
    tasks: usize,
    once: usize,
    never: usize,
    /// The tick of firing less the delay, over those that fired.
    earliest: i64,
    latest: i64,
    /// Those that fired exactly their delay after the last tick.
    exact: usize,
}

/// All delays from every slot, on each size of wheel; two turns are waited for those that are late.
fn fired(convention: &Convention) -> Fired {
    let of_wheel = |slots: u64| {
        let lives =
            move |cursor| convention.run(slots, cursor, 1..=TURNS * slots, (TURNS + 2) * slots);
        (0..slots).flat_map(lives)
    };
    let lives: Vec<Life> = SLOTS.into_iter().flat_map(of_wheel).collect();
    let offsets = lives
        .iter()
        .flat_map(|life| life.fired.iter().map(|tick| *tick as i64 - life.delay as i64));
    Fired {
        tasks: lives.len(),
        once: lives.iter().filter(|life| life.fired.len() == 1).count(),
        never: lives.iter().filter(|life| life.fired.is_empty()).count(),
        earliest: offsets.clone().min().unwrap_or(0),
        latest: offsets.clone().max().unwrap_or(0),
        exact: offsets.filter(|offset| *offset == 0).count(),
    }
}

fn run(_: &Scale) -> Evidence {
    let mut table = Table::new(
        "Every delay of 1 to 10 turns from every slot of wheels of 8, 12 and 24",
        ["convention", "tasks", "fired once", "never fired", "at their tick", "earliest", "latest"],
    );
    for convention in [S0, S1_FROM_ONE, S1_FROM_ZERO, S4] {
        let Fired { tasks, once, never, earliest, latest, exact } = fired(&convention);
        let counts = [tasks, once, never, exact].map(|count| count.to_string());
        let offsets = [earliest, latest].map(|offset| format!("{offset:+}"));
        table.row(std::iter::once(convention.name.to_owned()).chain(counts).chain(offsets));
    }
    let (c08, first) = test_then_decrement();
    let (c55, second) = decrement_then_test();
    Evidence {
        findings: vec![c08, c55],
        tables: vec![table, first, second, rounds()],
        charts: Vec::new(),
    }
}

fn test_then_decrement() -> (Finding, Table) {
    let fired = fired(&S0);
    let mut checks = Checks::new("S0: test for 0, else take one off");
    checks.is("tasks that fire exactly once", fired.tasks, fired.once);
    let same = format!("{:+} to {:+}", fired.earliest, fired.latest);
    checks.holds("all fire at one distance from their delay", fired.earliest == fired.latest, same);
    checks.holds(
        "none fires before its delay is over",
        fired.earliest >= 0,
        format!("earliest {:+}", fired.earliest),
    );
    checks.into_parts(
        "C08",
        format!("{} of {} tasks fire once, at delay {:+}", fired.once, fired.tasks, fired.latest),
    )
}

fn decrement_then_test() -> (Finding, Table) {
    let (from_one, from_zero) = (fired(&S1_FROM_ONE), fired(&S1_FROM_ZERO));
    let mut checks = Checks::new("S1: take one off, then test for 0");
    checks.is(
        "tasks that fire at their tick, if laps are stored from 1",
        from_one.tasks,
        from_one.exact,
    );
    checks.is(
        "tasks that fire at their tick, if d / n is stored",
        from_zero.tasks,
        from_zero.exact,
    );
    let Fired { tasks, never, earliest, .. } = from_zero;
    let figure = format!(
        "laps from 1: all at their tick; d / n stored: {never} of {tasks} never fire, others up to {} ticks early",
        -earliest
    );
    checks.into_parts("C55", figure)
}

/// Where the rounds of S0 and of S4 differ.
fn rounds() -> Table {
    let mut table = Table::new(
        "Rounds stored by S0, d / n, and by S4, (d - 1) / n",
        ["slots", "delays", "differ", "all at multiples of the slots"],
    );
    for slots in SLOTS {
        let delays = 1..=TURNS * slots;
        let differ: Vec<u64> = delays
            .filter(|delay| (S0.stored)(*delay, slots) != (S4.stored)(*delay, slots))
            .collect();
        let multiples: Vec<u64> = (1..=TURNS).map(|turns| turns * slots).collect();
        let cells = [slots, TURNS * slots, differ.len() as u64].map(|count| count.to_string());
        table.row(
            cells.into_iter().chain([if differ == multiples { "yes" } else { "no" }.to_owned()]),
        );
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conventions_that_are_right_fire_all_at_one_offset() {
        for (convention, offset) in [(S0, 1), (S1_FROM_ONE, 0), (S4, 0)] {
            let Fired { tasks, once, earliest, latest, .. } = fired(&convention);
            assert_eq!((once, earliest, latest), (tasks, offset, offset), "{}", convention.name);
        }
    }
}
