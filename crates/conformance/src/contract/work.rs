//! 11. Bounded work.

use crate::random::Random;
use wheelhouse_core::backend::Backend;
use wheelhouse_core::meter::CountingMeter;
use wheelhouse_core::{Timer, TimerId};

/// The longest delay of the reference workload, whose delays are uniform from 1 on.
const LONGEST: u64 = 1 << 20;

/// The binary logarithms of the numbers of timers.
const SIZES: &[u32] = if cfg!(debug_assertions) { &[10, 12, 14] } else { &[10, 12, 14, 16, 18] };

/// The steps allowed for one call over a huge distance, for each timer that it passes: a few steps
/// on each of 64 levels of two slots.
const HUGE_JUMP: u64 = 64 * 8;

/// Contract 11: by the counts of the structure's meter, the average work of each operation is
/// within [`Info::bounds`](wheelhouse_core::backend::Info::bounds), and a call over a huge distance
/// is cheap. The reference workload has n = 2^10, 2^12 and 2^14 timers, in release builds also 2^16
/// and 2^18, but at most [`Info::max_timers`](wheelhouse_core::backend::Info::max_timers). Delays
/// are uniform in 1 to 2^20:
///
/// * insert: n timers into an empty structure;
/// * cancel: a random one of n timers, with another inserted after each;
/// * reschedule: a random one of n timers, to another such delay;
/// * next wake-up: one call, with n live timers;
/// * empty tick: 4,096 advances by one tick, not counting those at which a timer fires;
/// * fire: all n timers in one call.
///
/// If a backend does not count its work ([`Backend::meter`] is `None`), nothing is checked.
pub fn contract_11_bounded_work<B: Backend>() {
    if B::meter(&B::build::<u64, CountingMeter>()).is_none() {
        println!("contract 11: skipped, because {} does not count its work", B::INFO.name);
        return;
    }
    let sizes = SIZES.iter().map(|bits| 1 << bits).filter(|n| *n <= u64::from(B::INFO.max_timers));
    let exceeded: Vec<_> = sizes.flat_map(|n| Counted::<B>::new().exceeded(n)).collect();
    assert!(
        exceeded.is_empty(),
        "contract 11: {}: more work than its bounds:\n{}",
        B::INFO.name,
        exceeded.join("\n")
    );
    a_huge_jump_is_cheap::<B>();
}

struct Counted<B: Backend> {
    timer: B::Timer<u64, CountingMeter>,
    ids: Vec<TimerId>,
    random: Random,
}

impl<B: Backend> Counted<B> {
    fn new() -> Self {
        Self { timer: B::build(), ids: Vec::new(), random: Random::new(11) }
    }

    fn total(&self) -> u64 {
        B::meter(&self.timer).map_or(0, CountingMeter::total)
    }

    /// The work of an operation, and its result.
    fn work<R>(&mut self, act: impl FnOnce(&mut Self) -> R) -> (u64, R) {
        let before = self.total();
        let result = act(self);
        (self.total() - before, result)
    }

    /// Measures all operations with n live timers. Returns a message for each operation that
    /// exceeds its bound.
    fn exceeded(&mut self, n: u64) -> Vec<String> {
        let bounds = (B::INFO.bounds)(n);
        let (insert, ()) = self.work(|this| (0..n).for_each(|_| this.insert()));
        let cancel = (0..n).map(|_| self.replace()).sum();
        let (reschedule, ()) = self.work(|this| (0..n).for_each(|_| this.reschedule()));
        let ask = self.work(|this| this.timer.next_wakeup().map_or(0, |_| 1));
        let (ticks, empty) = self.empty_ticks(4_096);
        let (fire, fired) = self.work(|this| this.timer.advance(u64::MAX, |_| ()) as u64);
        [
            ("insert", insert, n, bounds.insert),
            ("cancel", cancel, n, bounds.cancel),
            ("reschedule", reschedule, n, bounds.reschedule),
            ("empty tick", empty, ticks, bounds.empty_tick),
            ("fire", fire, fired, bounds.fire),
            ("next wake-up", ask.0, ask.1, bounds.next_wakeup),
        ]
        .into_iter()
        .map(|(operation, work, count, bound)| {
            (operation, work as f64 / count.max(1) as f64, bound)
        })
        .filter(|(_, average, bound)| average > bound)
        .map(|(operation, average, bound)| {
            format!("{operation} at n = {n}: {average:.3} steps on average, bound {bound:.3}")
        })
        .collect()
    }

    fn deadline(&mut self) -> u64 {
        self.timer.now() + 1 + self.random.below(LONGEST)
    }

    fn insert(&mut self) {
        let deadline = self.deadline();
        self.ids.push(self.timer.insert(deadline, 0));
    }

    /// Cancels a timer and inserts another. Returns the work of the cancel.
    fn replace(&mut self) -> u64 {
        let id = self.ids.swap_remove(self.random.index(self.ids.len()));
        let (work, value) = self.work(|this| this.timer.cancel(id));
        assert_eq!(value, Some(0), "contract 1: a live timer can be cancelled");
        self.insert();
        work
    }

    fn reschedule(&mut self) {
        let id = self.ids[self.random.index(self.ids.len())];
        let deadline = self.deadline();
        assert!(self.timer.reschedule(id, deadline), "contract 1: a live timer can be moved");
    }

    /// Advances by `ticks` ticks, one at a time. Returns the number of empty ticks and their work.
    fn empty_ticks(&mut self, ticks: u64) -> (u64, u64) {
        let mut empty = (0, 0);
        for _ in 0..ticks {
            let next = self.timer.now() + 1;
            let (work, fired) = self.work(|this| this.timer.advance(next, |_| ()));
            if fired == 0 {
                empty = (empty.0 + 1, empty.1 + work);
            }
        }
        empty
    }
}

/// Checks an absolute bound, independent of the bounds of the backend: distance in ticks must not
/// cost work.
fn a_huge_jump_is_cheap<B: Backend>() {
    for timers in [0, 1, 10] {
        let mut counted = Counted::<B>::new();
        // A wheel of 2^16 slots may read each word of its bitmap, 64 slots at a time, once.
        let allowed = HUGE_JUMP * (timers + 1) + (1 << 10);
        for timer in 0..timers {
            counted.timer.insert((1 << 60) + timer, 0);
        }
        let jumps = [1 << 30, 1 << 50, (1 << 60) - 1, (1 << 60) + timers, 1 << 61, u64::MAX];
        for to in jumps {
            let (work, _) = counted.work(|this| this.timer.advance(to, |_| ()));
            assert!(
                work <= allowed,
                "contract 11: {timers} timers, a jump to {to} takes {work} steps; the limit is \
                 {allowed}"
            );
        }
        let (work, wakeup) = counted.work(|this| this.timer.next_wakeup());
        assert!(wakeup.is_none() && work <= allowed, "contract 11: next_wakeup takes {work} steps");
    }
}
