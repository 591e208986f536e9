//! A wheel with rounds, by the rules of each article and of the paper.
//!
//! | rules | stored for a delay d on n slots | order in a tick | visit of a timer |
//! |---|---|---|---|
//! | S0 | `d / n` | visits, then moves | fires at 0, otherwise decrements |
//! | S1 | the number of the lap, from 1 | moves, then visits | decrements, then fires at 0 |
//! | S4, scheme 6 | `(d - 1) / n` | moves, then visits | fires at 0, otherwise decrements |
//!
//! S0's code adds two things. After it has removed a task that fired, it asks the removed task for
//! its successor. Go's `container/list` returns none, so the visit ends. And a task that repeats is
//! put back by the same rule while its slot is being visited.

use wheelhouse_core::Tick;

/// The rules of a wheel with rounds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// The number that is stored for a delay of at least one tick.
    pub(crate) stored: fn(delay: Tick, slots: u64) -> i64,
    moves_first: bool,
    decrements_first: bool,
    /// `true` if a visit ends with the first task that fires.
    ends_visit_on_fire: bool,
}

/// S0 as printed.
pub(crate) const S0: Rules = Rules {
    stored: |delay, slots| (delay / slots) as i64,
    moves_first: false,
    decrements_first: false,
    ends_visit_on_fire: true,
};

/// S0, fixed: the successor is read before the removal, as such loops are usually written.
pub(crate) const S0_FIXED: Rules = Rules { ends_visit_on_fire: false, ..S0 };

/// S1, with laps counted from 1, as in "the seventh lap".
pub(crate) const S1: Rules = Rules {
    stored: |delay, slots| (delay - 1) as i64 / slots as i64 + 1,
    moves_first: true,
    decrements_first: true,
    ends_visit_on_fire: false,
};

/// S4, which equals Varghese and Lauck's scheme 6.
pub(crate) const S4: Rules =
    Rules { stored: |delay, slots| ((delay - 1) / slots) as i64, decrements_first: false, ..S1 };

/// The number of runs of a task that repeats.
pub(crate) const FOREVER: i64 = -1;

#[derive(Clone, Copy, Debug)]
struct Task {
    name: u64,
    delay: Tick,
    rounds: i64,
    times: i64,
}

/// A wheel with rounds.
#[derive(Clone, Debug)]
pub(crate) struct RoundsModel {
    rules: Rules,
    slots: Vec<Vec<Task>>,
    cursor: u64,
    ticks: Tick,
}

/// The result of a tick: the tasks that fired, and those that were visited and stay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Visit {
    pub(crate) fired: Vec<u64>,
    pub(crate) passed: Vec<u64>,
}

impl Visit {
    /// The number of tasks that were visited.
    pub(crate) fn visited(&self) -> u64 {
        (self.fired.len() + self.passed.len()) as u64
    }
}

impl RoundsModel {
    /// An empty wheel with its cursor at a slot.
    pub(crate) fn new(rules: Rules, slots: u64, cursor: u64) -> Self {
        Self { rules, slots: vec![Vec::new(); slots as usize], cursor, ticks: 0 }
    }

    fn count(&self) -> u64 {
        self.slots.len() as u64
    }

    /// Adds a task that runs `times` times, every `delay` ticks.
    pub(crate) fn add(&mut self, name: u64, delay: Tick, times: i64) {
        let (slots, rounds) = (self.count(), (self.rules.stored)(delay, self.count()));
        let slot = (self.cursor + delay) % slots;
        self.slots[slot as usize].push(Task { name, delay, rounds, times });
    }

    /// Advances by one tick.
    pub(crate) fn tick(&mut self) -> Visit {
        let next = (self.cursor + 1) % self.count();
        self.ticks += 1;
        if self.rules.moves_first {
            self.cursor = next;
        }
        let visit = self.visit();
        self.cursor = next;
        visit
    }

    fn visit(&mut self) -> Visit {
        let (slot, mut at, mut visit) = (self.cursor as usize, 0, Visit::default());
        while let Some(task) = self.slots[slot].get_mut(at) {
            task.rounds -= i64::from(self.rules.decrements_first);
            if task.rounds != 0 {
                task.rounds -= i64::from(!self.rules.decrements_first);
                visit.passed.push(task.name);
                at += 1;
                continue;
            }
            let Task { name, delay, times, .. } = self.slots[slot].remove(at);
            visit.fired.push(name);
            let was_last = at == self.slots[slot].len();
            if times > 1 {
                self.add(name, delay, times - 1);
            } else if times == FOREVER {
                self.add(name, delay, times);
            }
            if was_last || self.rules.ends_visit_on_fire {
                break;
            }
        }
        visit
    }

    /// Advances by a number of ticks. Returns (tick, name) of each firing.
    pub(crate) fn run(&mut self, ticks: Tick) -> Vec<(Tick, u64)> {
        let mut fired = Vec::new();
        for _ in 0..ticks {
            let names = self.tick().fired;
            fired.extend(names.into_iter().map(|name| (self.ticks, name)));
        }
        fired
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ticks at which a task with this delay fires, alone in a wheel.
    fn ticks_of(rules: Rules, slots: u64, delay: Tick) -> Vec<Tick> {
        let mut wheel = RoundsModel::new(rules, slots, 0);
        wheel.add(0, delay, 1);
        wheel.run(200).into_iter().map(|(tick, _)| tick).collect()
    }

    #[test]
    fn each_rule_gives_the_ticks_of_its_article() {
        // S0's delays of 16, 15, 12 and 24 on 12 slots fire a tick later, because the slot is
        // visited before the cursor moves.
        for (delay, tick) in [(16, 17), (15, 16), (12, 13), (24, 25)] {
            assert_eq!(ticks_of(S0, 12, delay), [tick]);
        }
        // S4's 50 on 8 slots: index 2 is passed six times.
        let mut wheel = RoundsModel::new(S4, 8, 0);
        wheel.add(0, 50, 1);
        let passed = (1..=50).filter(|_| !wheel.tick().passed.is_empty()).collect::<Vec<Tick>>();
        assert_eq!(passed, [2, 10, 18, 26, 34, 42]);
        assert_eq!(ticks_of(S4, 8, 50), [50]);
        assert_eq!(ticks_of(S1, 24, 167), [167]);
    }
}
