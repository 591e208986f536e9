//! S0's wheel, by the rules of its printed code.
//!
//! Durations are cut to whole seconds. A task waits in slot `(cursor + delay / interval) mod slots` with circle `delay / (slots · interval)`. A tick
//! visits the slot under the cursor and moves the cursor *then*: a task whose circle is above 0 loses one, the others fire. What repeats is put back
//! by the same rule while its slot is being visited: if its number of runs is -1, or is above 1, and is then one less.

use std::time::Duration;
use wheelhouse_core::Tick;

/// The number of runs of a task that repeats.
pub(crate) const WITHOUT_END: i64 = -1;

/// Which element the loop over a slot goes on with when it has removed the task that fired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Successor {
    /// That which the removed element names, as printed: a removed element of Go's `container/list` names none, and the visit ends.
    AfterRemoval,
    /// The one that was asked for before the removal, as such loops are usually written.
    Saved,
}

#[derive(Clone, Copy, Debug)]
struct Task {
    name: u64,
    delay: Duration,
    circle: u64,
    times: i64,
}

/// The wheel.
#[derive(Debug)]
pub(crate) struct CircleWheel {
    slots: Vec<Vec<Task>>,
    interval: Duration,
    cursor: u64,
    ticks: Tick,
    successor: Successor,
}

impl CircleWheel {
    /// An empty wheel with slots of a second, its cursor at 0.
    pub(crate) fn new(slots: usize, successor: Successor) -> Self {
        Self {
            slots: vec![Vec::new(); slots],
            interval: Duration::from_secs(1),
            cursor: 0,
            ticks: 0,
            successor,
        }
    }

    /// Adds a task that is to run so many times.
    pub(crate) fn add(&mut self, name: u64, delay: Duration, times: i64) {
        let (slot, circle) =
            slot_and_circle(self.cursor, self.slots.len() as u64, delay, self.interval)
                .expect("an interval of a second is not cut to 0");
        self.slots[slot as usize].push(Task { name, delay, circle, times });
    }

    /// A tick: the names of the tasks that fire.
    pub(crate) fn tick(&mut self) -> Vec<u64> {
        let slot = self.cursor as usize;
        let (mut at, mut fired) = (0, Vec::new());
        while let Some(task) = self.slots[slot].get_mut(at) {
            if task.circle > 0 {
                task.circle -= 1;
                at += 1;
                continue;
            }
            let Task { name, delay, times, .. } = self.slots[slot].remove(at);
            fired.push(name);
            let was_last = at == self.slots[slot].len();
            if times > 1 {
                self.add(name, delay, times - 1);
            } else if times == WITHOUT_END {
                self.add(name, delay, times);
            }
            if was_last || self.successor == Successor::AfterRemoval {
                break;
            }
        }
        self.cursor = (self.cursor + 1) % self.slots.len() as u64;
        self.ticks += 1;
        fired
    }

    /// So many ticks: the number of the tick and the name, of each firing.
    pub(crate) fn run(&mut self, ticks: Tick) -> Vec<(Tick, u64)> {
        let mut fired = Vec::new();
        for _ in 0..ticks {
            let names = self.tick();
            fired.extend(names.into_iter().map(|name| (self.ticks, name)));
        }
        fired
    }
}

/// Slot and circle of a delay, with the cursor in a slot. `None` where the code divides by zero.
pub(crate) fn slot_and_circle(
    cursor: u64,
    slots: u64,
    delay: Duration,
    interval: Duration,
) -> Option<(u64, u64)> {
    let (delay, interval) = (delay.as_secs(), interval.as_secs());
    let circle = delay.checked_div(slots * interval)?;
    Some(((cursor + delay / interval) % slots, circle))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn ticks_of(name: u64, fired: &[(Tick, u64)]) -> Vec<Tick> {
        fired.iter().filter(|(_, fired)| *fired == name).map(|(tick, _)| *tick).collect()
    }

    #[test]
    fn only_the_first_due_task_of_a_visit_fires_as_printed() {
        let mut printed = CircleWheel::new(12, Successor::AfterRemoval);
        let mut mended = CircleWheel::new(12, Successor::Saved);
        for name in 0..4 {
            printed.add(name, seconds(5), 1);
            mended.add(name, seconds(5), 1);
        }
        assert_eq!(printed.run(60), [(6, 0), (18, 1), (30, 2), (42, 3)]);
        assert_eq!(mended.run(60), [(6, 0), (6, 1), (6, 2), (6, 3)]);
    }

    #[test]
    fn a_period_of_whole_turns_waits_a_turn_more() {
        for (period, expected) in [(12, vec![13, 37, 61]), (24, vec![25, 61])] {
            let mut wheel = CircleWheel::new(12, Successor::AfterRemoval);
            wheel.add(1, seconds(period), WITHOUT_END);
            assert_eq!(ticks_of(1, &wheel.run(70)), expected, "period {period}");
        }
    }

    #[test]
    fn with_the_successor_saved_a_neighbour_changes_the_period() {
        let mut wheel = CircleWheel::new(12, Successor::Saved);
        wheel.add(1, seconds(12), WITHOUT_END);
        wheel.add(2, seconds(12), 1);
        assert_eq!(ticks_of(1, &wheel.run(80)), [13, 25, 49, 73]);
    }

    #[test]
    fn durations_are_cut_to_seconds() {
        let milliseconds = Duration::from_millis;
        assert_eq!(slot_and_circle(3, 12, seconds(5), seconds(1)), Some((8, 0)));
        assert_eq!(slot_and_circle(0, 12, milliseconds(1_999), seconds(1)), Some((1, 0)));
        assert_eq!(slot_and_circle(0, 12, seconds(15), milliseconds(1_500)), Some((3, 1)));
        assert_eq!(slot_and_circle(0, 12, seconds(15), milliseconds(500)), None);
    }
}
