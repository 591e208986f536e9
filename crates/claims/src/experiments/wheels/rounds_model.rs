//! A model of the wheel with rounds as the articles have it: each timer counts its rounds, and the hand takes one off each timer of the slot it gets to. round-wheel
//! keeps no count, and passes over a slot in which nothing is due in this round.

use wheelhouse_core::Tick;

/// The model: the rounds of each timer, slot by slot.
#[derive(Clone, Debug)]
pub(super) struct Rounds {
    slots: Vec<Vec<Tick>>,
    hand: usize,
}

impl Rounds {
    /// No timers, the hand at slot 0.
    pub(super) fn new(slots: usize) -> Self {
        Self { slots: vec![Vec::new(); slots], hand: 0 }
    }

    /// Starts a timer with a delay of at least one tick.
    pub(super) fn insert(&mut self, delay: Tick) {
        let count = self.slots.len();
        let at = (self.hand + (delay % count as Tick) as usize) % count;
        self.slots[at].push((delay - 1) / count as Tick);
    }

    /// Moves the hand on by a tick: how many timers it looked at, and how many fired.
    pub(super) fn tick(&mut self) -> (u64, u64) {
        self.hand = (self.hand + 1) % self.slots.len();
        let slot = &mut self.slots[self.hand];
        let visited = slot.len();
        slot.retain_mut(|rounds| {
            let waits = *rounds > 0;
            *rounds = rounds.saturating_sub(1);
            waits
        });
        (visited as u64, (visited - slot.len()) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the fourth article: eight slots, 5 s and 50 s; and the multiples of the slots, where a count of rounds goes wrong first.
    #[test]
    fn fires_at_the_tick() {
        for delay in [1, 5, 8, 16, 48, 50] {
            let mut wheel = Rounds::new(8);
            (0..3).for_each(|_| _ = wheel.tick());
            wheel.insert(delay);
            let ticks: Vec<_> = (1..=delay).map(|_| wheel.tick()).collect();
            assert_eq!(ticks.iter().map(|tick| tick.1).sum::<u64>(), 1);
            assert_eq!(ticks.last(), Some(&(1, 1)), "{delay}");
            assert_eq!(ticks.iter().map(|tick| tick.0).sum::<u64>(), delay.div_ceil(8), "a visit a round");
        }
    }
}
