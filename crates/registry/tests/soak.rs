//! A long comparison of the hierarchical wheel, which is made for many timers, with two structures
//! that share only the contract with it: the list wheel and the binary heap.
//!
//! The conformance suite plays millions of operations on few timers. Here up to 200,000 timers are
//! live, so the hierarchical wheel is large: slots open ahead on several levels, and lists are read
//! ahead. Each epoch has other parameters. `WHEELHOUSE_SOAK=1000000000` plays a billion operations
//! instead of some millions.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg as Random;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use wheelhouse_core::backend::Backend;
use wheelhouse_core::meter::NoMeter;
use wheelhouse_core::{Tick, Timer, TimerId};

type Wheel = <wheelhouse_hierarchical_wheel::Definition as Backend>::Timer<u64, NoMeter>;
type Lists = <wheelhouse_hierarchical_wheel::list::Definition as Backend>::Timer<u64, NoMeter>;
type Heap = <wheelhouse_binary_heap::Definition as Backend>::Timer<u64, NoMeter>;

/// The three structures, which get the same operations.
struct ThreeStructures {
    wheel: Wheel,
    lists: Lists,
    heap: Heap,
    /// The handles of all timers of an epoch, live or not, by value.
    ids: Vec<[TimerId; 3]>,
    /// The values of timers that were postponed since they were inserted or rescheduled.
    postponed: HashSet<u64>,
    now: Tick,
    operations: u64,
    fired: u64,
}

struct Epoch {
    /// About how many timers are live.
    target: usize,
    /// Delays are below a random power of two up to `1 << bits`. In a crowd, all are nearly equal.
    bits: u32,
    is_crowd: bool,
    /// How many of ten operations cancel, and how many move. The others insert.
    cancels: u32,
    moves: u32,
    /// How many of two moves postpone.
    postpones: u32,
    /// The clock moves once in `every` operations, by less than `1 << step` ticks.
    every: u64,
    step: u32,
}

impl Epoch {
    fn random(random: &mut Random) -> Self {
        Self {
            target: 1 << random.random_range(0..18),
            bits: random.random_range(1..44),
            is_crowd: random.random_range(0..4) == 0,
            cancels: random.random_range(0..6),
            moves: random.random_range(0..5),
            postpones: random.random_range(0..3),
            every: 1 << random.random_range(0..16),
            step: random.random_range(1..30),
        }
    }

    fn delay(&self, random: &mut Random) -> Tick {
        if self.is_crowd {
            return (1 << self.bits) + random.random_range(0..3);
        }
        let bits = random.random_range(0..=self.bits);
        random.random_range(0..1 << bits)
    }
}

impl ThreeStructures {
    fn new() -> Self {
        let (wheel, lists) = (Wheel::default(), Lists::default());
        let heap = <wheelhouse_binary_heap::Definition as Backend>::build();
        let (ids, postponed) = Default::default();
        Self { wheel, lists, heap, ids, postponed, now: 0, operations: 0, fired: 0 }
    }

    fn insert(&mut self, deadline: Tick) {
        let value = self.ids.len() as u64;
        self.ids.push([
            self.wheel.insert(deadline, value),
            self.lists.insert(deadline, value),
            self.heap.insert(deadline, value),
        ]);
    }

    fn cancel(&mut self, at: usize) {
        let [a, b, c] = self.ids[at];
        let answers = [self.wheel.cancel(a), self.lists.cancel(b), self.heap.cancel(c)];
        assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    }

    fn reschedule(&mut self, at: usize, to: Tick) {
        let [a, b, c] = self.ids[at];
        let moved = [
            self.wheel.reschedule(a, to),
            self.lists.reschedule(b, to),
            self.heap.reschedule(c, to),
        ];
        self.postponed.remove(&(at as u64));
        self.compare_moved(at, moved);
    }

    fn postpone(&mut self, at: usize, to: Tick) {
        let [a, b, c] = self.ids[at];
        let moved =
            [self.wheel.postpone(a, to), self.lists.postpone(b, to), self.heap.postpone(c, to)];
        if moved[0] {
            self.postponed.insert(at as u64);
        }
        self.compare_moved(at, moved);
    }

    fn compare_moved(&self, at: usize, moved: [bool; 3]) {
        let [a, b, c] = self.ids[at];
        assert!(moved == [moved[0]; 3], "{moved:?}");
        let deadline = self.heap.deadline(c);
        assert_eq!([self.wheel.deadline(a), self.lists.deadline(b)], [deadline; 2]);
    }

    /// Moves the postponed timers behind the others with the same deadline, because their order is
    /// not defined.
    fn order(&self, fired: &mut [(Tick, u64)]) {
        assert!(fired.is_sorted_by_key(|(deadline, _)| *deadline), "{fired:?}");
        let postponed = |value| self.postponed.contains(&value).then_some(value);
        fired.sort_by_key(|(deadline, value)| (*deadline, postponed(*value)));
    }

    /// Moves all clocks. The callback panics after `panics_after` timers, if that is set.
    fn advance(&mut self, to: Tick, panics_after: Option<usize>) {
        self.now = self.now.max(to);
        let mut fired = [Vec::new(), Vec::new(), Vec::new()];
        fn play<B: Timer<u64>>(
            timer: &mut B,
            to: Tick,
            most: Option<usize>,
            into: &mut Vec<(Tick, u64)>,
        ) {
            let stopped = catch_unwind(AssertUnwindSafe(|| {
                timer.advance(to, |expired| {
                    into.push((expired.deadline, expired.value));
                    if most == Some(into.len()) {
                        std::panic::resume_unwind(Box::new(()));
                    }
                })
            }));
            if stopped.is_err() {
                timer.advance(to, |expired| into.push((expired.deadline, expired.value)));
            }
        }
        play(&mut self.wheel, to, panics_after, &mut fired[0]);
        play(&mut self.lists, to, panics_after, &mut fired[1]);
        play(&mut self.heap, to, panics_after, &mut fired[2]);
        fired.iter_mut().for_each(|fired| self.order(fired));
        assert!(fired[0] == fired[1] && fired[0] == fired[2], "at {to}");
        self.fired += fired[0].len() as u64;
        fired[0].iter().for_each(|(_, value)| _ = self.postponed.remove(value));
        let wakeups = [self.wheel.next_wakeup(), self.lists.next_wakeup(), self.heap.next_wakeup()];
        assert!(wakeups.iter().all(|wakeup| wakeup.is_some() == wakeups[2].is_some()));
        assert!(wakeups[0] <= wakeups[2] && wakeups[1] <= wakeups[2], "{wakeups:?} at {to}");
        assert_eq!((self.wheel.len(), self.lists.len()), (self.heap.len(), self.heap.len()));
    }

    fn play(&mut self, epoch: &Epoch, operations: u64, random: &mut Random) {
        for operation in 0..operations {
            let deadline = self.now.saturating_add(epoch.delay(random));
            let any = random.random_range(0..self.ids.len().max(1));
            match random.random_range(0..10) {
                _ if self.wheel.len() < epoch.target / 2 => self.insert(deadline),
                kind if kind < epoch.cancels && !self.ids.is_empty() => self.cancel(any),
                kind if kind < epoch.cancels + epoch.moves && !self.ids.is_empty() => {
                    // One of the newest timers, since few of all are live.
                    let newest = random.random_range(0..self.ids.len().min(4 * epoch.target));
                    let at = self.ids.len() - 1 - newest;
                    let postpones = random.random_range(0..2) < epoch.postpones;
                    let call = if postpones { Self::postpone } else { Self::reschedule };
                    call(self, at, deadline);
                }
                _ if self.wheel.len() < 2 * epoch.target => self.insert(deadline),
                _ if !self.ids.is_empty() => self.cancel(any),
                _ => {}
            }
            if operation % epoch.every == 0 {
                let to = self.now.saturating_add(random.random_range(0..1 << epoch.step));
                self.advance(to, (random.random_range(0..8) == 0).then_some(2));
            }
        }
        self.operations += operations;
    }

    /// Ends an epoch: a copy of the wheel continues, or all timers are cancelled, or all fire, or
    /// nothing happens.
    fn end(&mut self, random: &mut Random) {
        match random.random_range(0..4) {
            0 => self.wheel = self.wheel.clone(),
            1 => (0..self.ids.len()).for_each(|at| self.cancel(at)),
            2 => self.advance(self.now.saturating_add(1 << 46), None),
            _ => return,
        }
        if self.wheel.is_empty() {
            self.ids.clear();
            self.postponed.clear();
            self.advance(self.now, None);
        }
    }
}

#[test]
fn three_structures_agree_over_millions_of_operations() {
    let named = std::env::var("WHEELHOUSE_SOAK").ok();
    let default = if cfg!(debug_assertions) { 1_000_000 } else { 10_000_000 };
    let operations = named.map_or(default, |count| count.parse().expect("a number of operations"));
    let (mut random, mut three, mut most, mut epochs) =
        (Random::seed_from_u64(10), ThreeStructures::new(), 0, 0);
    while three.operations < operations {
        let epoch = Epoch::random(&mut random);
        let length = 1 << random.random_range(10..20);
        three.play(&epoch, length, &mut random);
        most = most.max(three.wheel.len());
        three.end(&mut random);
        epochs += 1;
        // Old handles are kept to test that stale ones are refused, but not forever.
        if three.ids.len() > 4_000_000 || three.now > 1 << 60 {
            let (operations, fired) = (three.operations, three.fired);
            three = ThreeStructures { operations, fired, ..ThreeStructures::new() };
        }
    }
    let ThreeStructures { operations, fired, .. } = three;
    println!("{operations} operations, {fired} timers fired, at most {most} live, {epochs} epochs");
    assert!(most > 1 << 17 || operations < 5_000_000, "at most {most} live");
}
