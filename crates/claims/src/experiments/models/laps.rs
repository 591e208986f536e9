//! Wheels with rounds: three articles, three ways to store, visit and count.
//!
//! | article | stored for a delay d of n slots | a tick | a visit |
//! |---|---|---|---|
//! | S0 | `d / n` | visits, then moves | 0 fires, else takes one off |
//! | S1 | the number of the lap, from 1 | moves, then visits | takes one off, then 0 fires |
//! | S4 | `(d - 1) / n` | moves, then visits | 0 fires, else takes one off |

use wheelhouse_core::Tick;

/// A way to do it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Convention {
    pub(crate) name: &'static str,
    /// What is stored for a delay of at least one tick, on so many slots.
    pub(crate) stored: fn(delay: Tick, slots: u64) -> i64,
    /// Whether the cursor moves before the visit.
    pub(crate) moves_first: bool,
    /// Whether one is taken off before the test for 0.
    pub(crate) takes_off_first: bool,
}

/// S0: test for 0, then take one off; the visit is before the move.
pub(crate) const S0: Convention = Convention {
    name: "S0: d / n, test then decrement",
    stored: |delay, slots| (delay / slots) as i64,
    moves_first: false,
    takes_off_first: false,
};

/// S1, with laps counted from 1, as "the seventh lap".
pub(crate) const S1_FROM_ONE: Convention = Convention {
    name: "S1: laps from 1, decrement then test",
    stored: |delay, slots| (delay - 1) as i64 / slots as i64 + 1,
    moves_first: true,
    takes_off_first: true,
};

/// S1, with the whole laps that lie between, as S0 stores them.
pub(crate) const S1_FROM_ZERO: Convention =
    Convention { name: "S1: d / n, decrement then test", stored: S0.stored, ..S1_FROM_ONE };

/// S4, as Netty has it.
pub(crate) const S4: Convention = Convention {
    name: "S4: (d - 1) / n, test then decrement",
    stored: |delay, slots| ((delay - 1) / slots) as i64,
    moves_first: true,
    takes_off_first: false,
};

/// What became of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Life {
    pub(crate) delay: Tick,
    /// The ticks at which its slot was visited and it did not fire.
    pub(crate) passed: Vec<Tick>,
    /// The ticks at which it fired.
    pub(crate) fired: Vec<Tick>,
}

impl Convention {
    /// Tasks of these delays, each at least 1, in one wheel whose cursor is in a slot: what became of them in so many ticks.
    pub(crate) fn run(
        &self,
        slots: u64,
        cursor: u64,
        delays: impl IntoIterator<Item = Tick>,
        ticks: Tick,
    ) -> Vec<Life> {
        let mut lives = Vec::new();
        let mut wheel = vec![Vec::new(); slots as usize];
        for delay in delays {
            wheel[((cursor + delay) % slots) as usize]
                .push((lives.len(), (self.stored)(delay, slots)));
            lives.push(Life { delay, passed: Vec::new(), fired: Vec::new() });
        }
        for tick in 1..=ticks {
            let at = if self.moves_first { cursor + tick } else { cursor + tick - 1 };
            wheel[(at % slots) as usize].retain_mut(|(life, round)| {
                let fires = self.visit(round);
                let life: &mut Life = &mut lives[*life];
                if fires {
                    life.fired.push(tick)
                } else {
                    life.passed.push(tick)
                }
                !fires
            });
        }
        lives
    }

    /// Whether a task with so many rounds fires in a visit; takes one off if that is the rule.
    fn visit(&self, round: &mut i64) -> bool {
        if self.takes_off_first {
            *round -= 1;
            return *round == 0;
        }
        let fires = *round == 0;
        *round -= i64::from(!fires);
        fires
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_convention_is_as_the_article_has_it() {
        let fired = |convention: Convention, slots, delay| {
            convention.run(slots, 0, [delay], 100)[0].clone()
        };
        // S0's delays of 16, 15, 12 and 24 on 12 slots fire a tick later, as its cursor is visited before it moves.
        for (delay, tick) in [(16, 17), (15, 16), (12, 13), (24, 25)] {
            assert_eq!(fired(S0, 12, delay).fired, [tick]);
        }
        // S4's 50 on 8 slots: index 2 is passed six times.
        let life = fired(S4, 8, 50);
        assert_eq!((life.passed, life.fired), (vec![2, 10, 18, 26, 34, 42], vec![50]));
        // S1's "seventh lap": six laps are passed.
        let life = S1_FROM_ONE.run(24, 10, [167], 200)[0].clone();
        assert_eq!((life.passed.len(), life.fired), (6, vec![167]));
    }

    #[test]
    fn a_stored_zero_that_is_decremented_first_never_fires() {
        let life = &S1_FROM_ZERO.run(12, 0, [5], 1_000)[0];
        assert_eq!((life.fired.len(), life.passed.len()), (0, 83));
    }
}
