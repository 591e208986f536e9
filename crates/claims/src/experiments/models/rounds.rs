//! A wheel with rounds, by the rules of S0 and of S4.
//!
//! | rules | stored for a delay d on n slots | order in a tick |
//! |---|---|---|
//! | S0 | `d / n` | visits, then moves |
//! | S4, scheme 6 | `(d - 1) / n` | moves, then visits |
//!
//! A visit fires a timer whose number is 0, and otherwise decrements the number. S0's code adds two
//! things. After it has removed a task that fired, it asks the removed task for its successor. Go's
//! `container/list` returns none, so the visit ends. And a task that repeats is put back by the
//! same rule while its slot is being visited.

use wheelhouse_core::Tick;

/// The rules of a wheel with rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rules {
    /// S0, as printed.
    S0,
    /// S4, which equals Varghese and Lauck's scheme 6.
    S4,
}

/// The number of runs of a task that repeats.
pub(crate) const FOREVER: i64 = -1;

#[derive(Clone, Copy, Debug)]
struct Task {
    name: u64,
    delay: Tick,
    rounds: u64,
    times: i64,
}

#[derive(Clone, Debug)]
pub(crate) struct RoundsModel {
    rules: Rules,
    slots: Vec<Vec<Task>>,
    ticks: Tick,
}

/// The result of a tick: the tasks that fired, and how many were visited.
#[derive(Clone, Debug, Default)]
pub(crate) struct Visit {
    pub(crate) fired: Vec<u64>,
    pub(crate) visited: u64,
}

impl RoundsModel {
    /// An empty wheel with its cursor at slot 0.
    pub(crate) fn new(rules: Rules, slots: u64) -> Self {
        Self { rules, slots: vec![Vec::new(); slots as usize], ticks: 0 }
    }

    /// Adds a task that runs `times` times, every `delay` ticks.
    pub(crate) fn add(&mut self, name: u64, delay: Tick, times: i64) {
        let (slots, s0) = (self.slots.len() as u64, self.rules == Rules::S0);
        let rounds = if s0 { delay / slots } else { (delay - 1) / slots };
        // While S0 visits a slot, the cursor is still there.
        let slot = (self.ticks + delay) % slots;
        self.slots[slot as usize].push(Task { name, delay, rounds, times });
    }

    pub(crate) fn tick(&mut self) -> Visit {
        self.ticks += u64::from(self.rules == Rules::S4);
        let visit = self.visit();
        self.ticks += u64::from(self.rules == Rules::S0);
        visit
    }

    fn visit(&mut self) -> Visit {
        let (mut at, mut visit) = (0, Visit::default());
        let slot = (self.ticks % self.slots.len() as u64) as usize;
        while let Some(task) = self.slots[slot].get_mut(at) {
            visit.visited += 1;
            if task.rounds > 0 {
                task.rounds -= 1;
                at += 1;
                continue;
            }
            let Task { name, delay, times, .. } = self.slots[slot].remove(at);
            visit.fired.push(name);
            let was_last = at == self.slots[slot].len();
            if times > 1 || times == FOREVER {
                self.add(name, delay, if times == FOREVER { times } else { times - 1 });
            }
            if was_last || self.rules == Rules::S0 {
                break;
            }
        }
        visit
    }

    /// Advances by a number of ticks. Returns (tick, name) of each firing.
    pub(crate) fn run(&mut self, ticks: Tick) -> Vec<(Tick, u64)> {
        let of_tick = |tick| self.tick().fired.into_iter().map(move |name| (tick, name));
        (1..=ticks).flat_map(of_tick).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// S0's delays on 12 slots fire a tick later, because the slot is visited before the cursor
    /// moves. S4's fire at their tick, and are visited once a round.
    #[test]
    fn each_rule_gives_the_ticks_of_its_article() {
        for delay in [1, 12, 15, 16, 24, 50, 167] {
            let mut s0 = RoundsModel::new(Rules::S0, 12);
            s0.add(0, delay, 1);
            assert_eq!(s0.run(200), [(delay + 1, 0)]);
            let mut s4 = RoundsModel::new(Rules::S4, 8);
            s4.add(0, delay, 1);
            let visited: Vec<_> = (1..=delay).filter(|_| s4.tick().visited > 0).collect();
            let expected: Vec<_> = (1..=delay).filter(|tick| (delay - tick) % 8 == 0).collect();
            assert_eq!(visited, expected);
            assert_eq!(visited.len() as u64, delay.div_ceil(8));
        }
    }
}
