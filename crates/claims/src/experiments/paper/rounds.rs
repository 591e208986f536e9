//! Varghese and Lauck's scheme 6 as the paper has it: rounds that are counted down.
//!
//! Ours keeps no rounds, and does not look into a slot in which nothing is due. So what the paper says of its own scheme is asked of this model, which does what
//! the paper describes and counts it: the hand moves to the next slot each tick, and every timer there either has its rounds decremented or expires.

/// What a tick had to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Visit {
    /// Timers with rounds to go.
    pub(crate) decremented: u64,
    /// Timers that expired.
    pub(crate) expired: u64,
}

impl Visit {
    /// Timers that were looked at.
    pub(crate) fn met(&self) -> u64 {
        self.decremented + self.expired
    }

    /// The instructions of the paper's implementation on a VAX: 4 for the slot, 6 to look at a timer and go on to the next, 9 more for one that expires.
    pub(crate) fn instructions(&self) -> u64 {
        4 + 6 * self.met() + 9 * self.expired
    }
}

/// One wheel, each slot a list of the rounds that its timers have to go.
#[derive(Clone, Debug)]
pub(crate) struct Rounds {
    slots: Vec<Vec<u64>>,
    hand: u64,
}

impl Rounds {
    pub(crate) fn new(slots: u64) -> Self {
        Self { slots: vec![Vec::new(); slots as usize], hand: 0 }
    }

    fn count(&self) -> u64 {
        self.slots.len() as u64
    }

    /// Starts a timer, due in so many ticks, one at least.
    pub(crate) fn start(&mut self, delay: u64) {
        let (slot, rounds) = ((self.hand + delay) % self.count(), (delay - 1) / self.count());
        self.slots[slot as usize].push(rounds);
    }

    /// Moves the hand by a tick.
    pub(crate) fn tick(&mut self) -> Visit {
        self.hand += 1;
        let (count, mut visit) = (self.count(), Visit::default());
        self.slots[(self.hand % count) as usize].retain_mut(|rounds| {
            if *rounds == 0 {
                visit.expired += 1;
                return false;
            }
            visit.decremented += 1;
            *rounds -= 1;
            true
        });
        visit
    }

    /// Goes on for so many ticks and starts each timer that expires again: what each tick had to do.
    pub(crate) fn hold(&mut self, ticks: u64, mut delay: impl FnMut() -> u64) -> Vec<Visit> {
        let mut tick = || {
            let visit = self.tick();
            (0..visit.expired).for_each(|_| self.start(delay()));
            visit
        };
        (0..ticks).map(|_| tick()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_expires_at_its_tick_and_is_decremented_once_a_round_before() {
        for delay in 1..=50 {
            let mut model = Rounds::new(8);
            // Not from where the hand begins.
            (0..3).for_each(|_| _ = model.tick());
            model.start(delay);
            let visits: Vec<_> = (0..delay).map(|_| model.tick()).collect();
            let expired: Vec<_> = visits.iter().map(|visit| visit.expired).collect();
            assert!(expired[..delay as usize - 1].iter().all(|expired| *expired == 0), "{delay}");
            assert_eq!(expired[delay as usize - 1], 1, "{delay}");
            assert_eq!(
                visits.iter().map(|visit| visit.decremented).sum::<u64>(),
                (delay - 1) / 8,
                "{delay}"
            );
        }
    }

    /// The mean costs of a tick that the paper's formula gives for a table of 256: 7.75 for 64 timers, 19 for 256, 64 for 1,024.
    #[test]
    fn a_tick_costs_what_the_paper_says_if_each_timer_expires_within_a_revolution() {
        for (n, instructions) in [(64, 7.75), (256, 19.0), (1_024, 64.0)] {
            let mut model = Rounds::new(256);
            (0..n).for_each(|at| model.start(1 + at * 37 % 256));
            let visits = model.hold(512, || 256);
            let sum: u64 = visits.iter().map(Visit::instructions).sum();
            assert_eq!(sum as f64 / 512.0, instructions, "{n}");
        }
    }
}
