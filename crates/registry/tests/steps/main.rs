//! An independent count of steps: simple models count for themselves, and the meters of the
//! structures must agree.
//!
//! A model is the structure as a textbook or a paper describes it, written in a few lines over a
//! `Vec` or a library's set. It counts by the [rule](wheelhouse_core::meter), with separate
//! counters, and shares neither code nor a meter with the structure. Both play the same random
//! calls, and after each call every kind of step must agree exactly. If a library compares, keys
//! count in their `Ord`.
//!
//! Unit tests of the red-black tree and the skip list check these, since a model of them needs
//! their nodes and their random numbers. The lazy heap and the wheel with rounds are not checked:
//! their models would be as long as the structures. Neither are structures on whose counts no claim
//! rests, unless they share the model of another one.

mod count;
mod levels;
mod ordered;
mod wheels;

use count::{Key, Steps, step, take_steps};
use wheelhouse_conformance::Random;
use wheelhouse_core::backend::Backend;
use wheelhouse_core::meter::{CountingMeter, Work};
use wheelhouse_core::{Tick, Timer, TimerId};
use wheels::WithOverdue;

const CALLS: usize = if cfg!(debug_assertions) { 20_000 } else { 200_000 };

/// The most live timers.
const MOST: usize = 400;

/// A timer by deadline and number, compared without a count.
type UncountedKey = (Tick, u64);

/// A structure in a few lines that counts its steps.
trait Model {
    fn insert(&mut self, key: Key);

    fn remove(&mut self, key: Key);

    fn reschedule(&mut self, from: Key, to: Key) {
        self.remove(from);
        self.insert(to);
    }

    /// Moves the clock and removes the first timer that is due. Returns its number. The clock does
    /// not go back. The comparison with it is counted by the caller.
    fn pop(&mut self, now: Tick) -> Option<u64>;

    /// Asks for the next wake-up. Most structures know it without a search.
    fn next_wakeup(&mut self) {}
}

struct Pair<T, O> {
    timer: T,
    /// Shares its counts with the meter of the timer.
    meter: CountingMeter,
    model: O,
    live: Vec<(Key, TimerId)>,
    /// The number of insertions and moves.
    numbers: u64,
    random: Random,
}

impl<T: Timer<()>, O: Model> Pair<T, O> {
    fn new(timer: T, meter: CountingMeter, model: O) -> Self {
        Self { timer, meter, model, live: Vec::new(), numbers: 0, random: Random::new(16) }
    }

    /// A key whose deadline is near, far, very far, or overdue.
    fn key(&mut self) -> Key {
        let (now, random) = (self.timer.now(), &mut self.random);
        let deadline = match random.below(10) {
            0 => now.saturating_sub(random.below(30)),
            1..6 => now + 1 + random.below(300),
            6..9 => now + 1 + random.below(20_000),
            _ => now + 1 + random.below(1 << 30),
        };
        self.numbers += 1;
        Key(deadline, self.numbers)
    }

    fn random_index(&mut self) -> usize {
        self.random.index(self.live.len())
    }

    /// Plays one call on both. Returns its name.
    fn play(&mut self) -> &'static str {
        match self.random.below(100) {
            0..45 if self.live.len() < MOST => {
                let key = self.key();
                self.model.insert(key);
                self.live.push((key, self.timer.insert(key.0, ())));
                "insert"
            }
            45..60 if !self.live.is_empty() => {
                let at = self.random_index();
                let (key, id) = self.live.swap_remove(at);
                self.model.remove(key);
                assert!(self.timer.cancel(id).is_some());
                "cancel"
            }
            60..70 if !self.live.is_empty() => {
                let (at, to) = (self.random_index(), self.key());
                self.model.reschedule(self.live[at].0, to);
                assert!(self.timer.reschedule(self.live[at].1, to.0));
                self.live[at].0 = to;
                "reschedule"
            }
            70..75 => {
                self.model.next_wakeup();
                self.timer.next_wakeup();
                "next wake-up"
            }
            75..85 => {
                let now = self.timer.now() + self.random.below(50);
                self.pop(now);
                "pop"
            }
            85..86 => {
                let now = self.timer.now() + self.random.below(1 << 20);
                while self.pop(now) {}
                "pop until a far tick"
            }
            _ => {
                // Only a few timers fire: a heap sorts many due timers at once, its model does not.
                let now = self.timer.now() + self.random.below(10);
                let mut ids = Vec::new();
                self.timer.advance(now, |expired| ids.push(expired.id));
                ids.into_iter().for_each(|id| assert!(self.expect_fired(now, id)));
                assert!(self.pop_model(now).is_none());
                "advance"
            }
        }
    }

    /// Removes the first due timer from both. Returns `true` if there was one.
    fn pop(&mut self, now: Tick) -> bool {
        match self.timer.pop_expired(now) {
            Some(expired) => self.expect_fired(now, expired.id),
            None => self.pop_model(now).is_some(),
        }
    }

    fn pop_model(&mut self, now: Tick) -> Option<u64> {
        step(Work::Comparison);
        self.model.pop(now)
    }

    /// Checks that the model fires this timer, and returns `true`.
    fn expect_fired(&mut self, now: Tick, id: TimerId) -> bool {
        let number = self.pop_model(now);
        let at = self.live.iter().position(|(_, other)| *other == id).expect("it was live");
        let (key, _) = self.live.swap_remove(at);
        assert_eq!(number, Some(key.1));
        true
    }

    /// Plays all calls and compares all counts after each. Returns the sums of the counts.
    fn check(mut self) -> Steps {
        let mut all = Steps::default();
        for at in 0..CALLS {
            self.meter.reset();
            take_steps();
            let call = self.play();
            let (metered, counted) = (Work::ALL.map(|work| self.meter.count(work)), take_steps());
            let kinds = Work::ALL.map(Work::name);
            assert_eq!(metered, counted, "{call}, call {at}: meter and model, of {kinds:?}");
            (0..all.len()).for_each(|kind| all[kind] += metered[kind]);
        }
        all
    }
}

/// Compares a structure in its default configuration with a model. Exactly the steps of these kinds
/// must occur.
fn check<B: Backend>(model: impl Model, kinds: &[Work]) {
    let timer = B::build::<(), CountingMeter>();
    let meter = B::meter(&timer).expect("it counts its work").clone();
    let all = Pair::new(timer, meter, model).check();
    let seen: Vec<_> = Work::ALL.into_iter().filter(|work| all[*work as usize] > 0).collect();
    assert_eq!(seen, kinds, "{}", B::INFO.name);
}

macro_rules! checks {
    ($($name:ident: $backend:ty, $model:expr, [$($kind:ident),+];)+) => {
        $(#[test]
        fn $name() {
            check::<$backend>($model, &[$(Work::$kind),+]);
        })+
    };
}

use wheelhouse_baselines as baselines;
use wheelhouse_binary_heap as heap;

checks! {
    btree_map: baselines::OrderedMapDefinition, ordered::Map::default(), [Comparison];
    sorted_slice: baselines::SortedSliceDefinition, ordered::Slice::default(),
        [Comparison, ElementMove];
    sorted_list: baselines::SortedListDefinition, ordered::List::searched(false),
        [Comparison, Link];
    sorted_list_from_rear: baselines::SortedListFromRearDefinition, ordered::List::searched(true),
        [Comparison, Link];
    unordered_list: baselines::UnorderedListDefinition, ordered::Unordered::new(false),
        [Comparison, EntryScan, ElementMove];
    hash_map: baselines::HashedMapDefinition, ordered::Unordered::new(true),
        [Comparison, EntryScan, ElementMove];
    binary_heap: heap::Definition<2>, ordered::Heap::<2>::default(), [Comparison, ElementMove];
    heap_4: heap::Definition<4>, ordered::Heap::<4>::default(), [Comparison, ElementMove];
    single_wheel: wheelhouse_single_wheel::Definition, WithOverdue::of(wheels::Single::new(4_096)),
        [Comparison, Link, SlotVisit, CascadeMove];
    list_wheel: wheelhouse_hierarchical_wheel::list::Definition,
        WithOverdue::of(levels::Levels::default()), [Comparison, Link, SlotVisit, CascadeMove];
    hierarchical_wheel: wheelhouse_hierarchical_wheel::Definition,
        WithOverdue::of(levels::Levels::default()), [Comparison, Link, SlotVisit, CascadeMove];
    kafka_wheel: wheelhouse_kafka_wheel::Definition, WithOverdue::of(levels::Kafka::new(20)),
        [Comparison, Link, SlotVisit, CascadeMove];
}
