//! A wheel with more timers than in the conformance suite: enough that the wheel is large and its
//! slots remember timers. Each result is compared with an ordered map.

use std::collections::BTreeMap;
use wheelhouse_hierarchical_wheel::{HierarchicalWheel, Tick, Timer, TimerId};

/// Slots remember timers from 131,072 timers on.
const MANY: usize = 150_000;

/// The number of deadlines that many timers share.
const CROWDS: Tick = 5;

/// The order of firing: by deadline, then by the number of the call that set the deadline.
type Key = (Tick, u64);

struct Beside {
    wheel: HierarchicalWheel<usize>,
    live: BTreeMap<Key, usize>,
    /// All timers, live or not. The value of a timer is its index.
    timers: Vec<(TimerId, Key)>,
    calls: u64,
    random: u64,
}

impl Beside {
    fn new(seed: u64) -> Self {
        let (wheel, live, timers) = (HierarchicalWheel::new(), BTreeMap::new(), Vec::new());
        Self { wheel, live, timers, calls: 0, random: seed }
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.random =
            self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (self.random >> 16) % bound
    }

    /// A deadline up to `span` ticks away. One in four is shared by many timers.
    fn deadline(&mut self, span: Tick) -> Tick {
        match self.below(4) {
            0 => (self.wheel.now() / span + 1) * span + self.below(CROWDS) * 300,
            _ => self.wheel.now() + self.below(span),
        }
    }

    fn insert(&mut self, span: Tick) {
        self.calls += 1;
        let (key, value) = ((self.deadline(span), self.calls), self.timers.len());
        self.timers.push((self.wheel.insert(key.0, value), key));
        self.live.insert(key, value);
    }

    fn any(&mut self) -> usize {
        self.below(self.timers.len() as u64) as usize
    }

    fn cancel(&mut self, value: usize) {
        let (id, key) = self.timers[value];
        assert_eq!(self.wheel.cancel(id), self.live.remove(&key));
    }

    fn reschedule(&mut self, value: usize, span: Tick) {
        self.calls += 1;
        let (id, before) = self.timers[value];
        let key = (self.deadline(span), self.calls);
        let was_live = self.live.remove(&before).is_some();
        assert_eq!(self.wheel.reschedule(id, key.0), was_live);
        if was_live {
            self.timers[value].1 = key;
            self.live.insert(key, value);
        }
    }

    fn advance(&mut self, to: Tick) {
        let Self { wheel, live, timers, .. } = self;
        wheel.advance(to, |expired| {
            let (key, value) = live.pop_first().expect("a timer that fires is live");
            assert_eq!((expired.deadline, expired.value), (key.0, value));
            assert_eq!(expired.id, timers[value].0);
        });
        assert!(self.live.keys().next().is_none_or(|(deadline, _)| *deadline > to));
        self.check();
    }

    /// Checks that there is a wake-up if and only if there are timers, and that it is not after the
    /// earliest deadline.
    fn check(&self) {
        let first = self.live.keys().next().map(|(deadline, _)| *deadline);
        let wakeup = self.wheel.next_wakeup();
        assert_eq!((wakeup.is_some(), self.wheel.len()), (first.is_some(), self.live.len()));
        assert!(wakeup <= first);
    }
}

/// Fills the wheel, reschedules a third of the timers, cancels all but one in fifty, and fills it
/// again. Then advances by many ticks at a time while timers are inserted, cancelled and
/// rescheduled, and finally goes from wake-up to wake-up until all have fired.
fn storms_and_jumps(span: Tick) {
    let mut beside = Beside::new(span);
    (0..MANY).for_each(|_| beside.insert(span));
    for _ in 0..2 {
        for _ in 0..MANY / 3 {
            let any = beside.any();
            beside.reschedule(any, span);
        }
        beside.check();
        let stride = 49_999; // coprime to fifty and to the number of timers
        for n in 0..beside.timers.len() {
            let value = n * stride % beside.timers.len();
            if value % 50 > 0 {
                beside.cancel(value);
            }
            if n % 64 == 0 {
                beside.check();
            }
        }
        (0..MANY / 2).for_each(|_| beside.insert(span));
    }
    for _ in 0..50 {
        for _ in 0..500 {
            beside.insert(span);
            let (one, other) = (beside.any(), beside.any());
            beside.cancel(one);
            beside.reschedule(other, span);
        }
        beside.check();
        let to = beside.wheel.now() + beside.below(span / 30);
        beside.advance(to);
    }
    while let Some(tick) = beside.wheel.next_wakeup() {
        beside.advance(tick);
    }
    assert!(beside.live.is_empty());
}

#[test]
fn many_in_slots_of_level_1() {
    storms_and_jumps(1 << 12);
}

#[test]
fn many_in_slots_of_level_2() {
    storms_and_jumps(1 << 19);
}

#[test]
fn many_in_slots_of_level_4() {
    storms_and_jumps(1 << 36);
}
