//! A model of the wheels that the third article prints, after Kafka: levels on demand, and a delay queue in which each slot stands by its expiry.
//!
//! It is our own account of the printed rules and not the printed code. It differs from kafka-wheel in two: a slot whose timers were all cancelled stays in the queue
//! until it is polled, and the clock moves with what is polled only.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use wheelhouse_core::Tick;

/// The model.
#[derive(Debug)]
pub(super) struct Printed {
    size: Tick,
    wheels: Vec<Wheel>,
    /// The first tick and the level of each slot that was offered; of those of one tick the highest level first.
    queue: BinaryHeap<Reverse<(Tick, Reverse<usize>)>>,
    /// By the number of the timer; none once it has fired or was cancelled.
    deadlines: Vec<Option<Tick>>,
    /// How often each slot was offered in each lap. A level and a first tick name both.
    offers: HashMap<(usize, Tick), u64>,
    /// Comparisons of the queue, as many for each operation as a heap has levels.
    pub(super) comparisons: u64,
    /// The most slots that were in the queue at a time.
    pub(super) longest_queue: usize,
}

#[derive(Debug)]
struct Wheel {
    tick: Tick,
    now: Tick,
    slots: Vec<Slot>,
}

#[derive(Clone, Debug, Default)]
struct Slot {
    expiry: Option<Tick>,
    timers: Vec<usize>,
}

/// A slot that was polled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Poll {
    pub(super) tick: Tick,
    /// Its level, the lowest 0.
    pub(super) level: usize,
    /// The timers that were in it.
    pub(super) taken: u64,
    /// How many of them fired; the others went to lower wheels.
    pub(super) fired: u64,
}

impl Wheel {
    fn new(tick: Tick, now: Tick, size: Tick) -> Self {
        Self { tick, now: now - now % tick, slots: vec![Slot::default(); size as usize] }
    }

    fn slot(&mut self, deadline: Tick) -> &mut Slot {
        let at = deadline / self.tick % self.slots.len() as Tick;
        &mut self.slots[at as usize]
    }
}

impl Printed {
    /// No timers, one wheel of so many slots of a tick, the clock at 0.
    pub(super) fn new(size: Tick) -> Self {
        Self {
            size,
            wheels: vec![Wheel::new(1, 0, size)],
            queue: BinaryHeap::new(),
            deadlines: Vec::new(),
            offers: HashMap::new(),
            comparisons: 0,
            longest_queue: 0,
        }
    }

    /// Starts a timer, or fires it, if it is due by the wheel's clock. Its number.
    pub(super) fn insert(&mut self, deadline: Tick) -> usize {
        let number = self.deadlines.len();
        self.deadlines.push(Some(deadline));
        if !self.add(number, deadline) {
            self.deadlines[number] = None;
        }
        number
    }

    /// Takes a timer out of its slot, which stays in the queue.
    pub(super) fn cancel(&mut self, number: usize) {
        self.deadlines[number] = None;
    }

    /// Puts a timer into the lowest wheel whose span, from its own clock on, has its deadline. False if it is due.
    fn add(&mut self, number: usize, deadline: Tick) -> bool {
        let mut level = 0;
        loop {
            let wheel = &mut self.wheels[level];
            if deadline < wheel.now + wheel.tick {
                return false;
            }
            let span = wheel.tick * self.size;
            if deadline < wheel.now + span {
                let start = deadline - deadline % wheel.tick;
                let slot = wheel.slot(deadline);
                slot.timers.push(number);
                // The expiry tells whether the slot was offered in this lap.
                if slot.expiry.replace(start) != Some(start) {
                    self.offer(level, start);
                }
                return true;
            }
            let now = wheel.now;
            level += 1;
            if level == self.wheels.len() {
                self.wheels.push(Wheel::new(span, now, self.size));
            }
        }
    }

    fn offer(&mut self, level: usize, start: Tick) {
        self.queue.push(Reverse((start, Reverse(level))));
        self.count_comparisons();
        self.longest_queue = self.longest_queue.max(self.queue.len());
        *self.offers.entry((level, start)).or_default() += 1;
    }

    fn count_comparisons(&mut self) {
        self.comparisons += u64::from(self.queue.len().max(1).ilog2()) + 1;
    }

    /// Moves the clocks to the first slot in the queue and empties it.
    pub(super) fn poll(&mut self) -> Option<Poll> {
        let Reverse((start, Reverse(level))) = self.queue.pop()?;
        self.count_comparisons();
        let mut now = start;
        for wheel in &mut self.wheels {
            if now < wheel.now + wheel.tick {
                break;
            }
            wheel.now = now - now % wheel.tick;
            now = wheel.now;
        }
        let Slot { timers, .. } = std::mem::take(self.wheels[level].slot(start));
        let mut poll = Poll { tick: start, level, taken: 0, fired: 0 };
        for number in timers {
            let Some(deadline) = self.deadlines[number] else { continue };
            poll.taken += 1;
            if !self.add(number, deadline) {
                poll.fired += 1;
                self.deadlines[number] = None;
            }
        }
        Some(poll)
    }

    /// How many wheels there are.
    pub(super) fn levels(&self) -> usize {
        self.wheels.len()
    }

    /// How often each slot that was offered in a lap was offered in it.
    pub(super) fn offers(&self) -> impl Iterator<Item = u64> {
        self.offers.values().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::count::random;
    use crate::experiments::configured;
    use rand::RngExt;
    use wheelhouse_core::Timer;

    impl Printed {
        fn queued(&self) -> usize {
            self.queue.len()
        }

        /// The first tick of the slot that is polled next.
        fn next(&self) -> Option<Tick> {
            self.queue.peek().map(|Reverse((start, _))| *start)
        }
    }

    /// Where nothing is cancelled, kafka-wheel does the same at the same ticks, with as many slots in its queue.
    #[test]
    fn does_as_kafka_wheel_where_nothing_is_cancelled() {
        for size in [8, 20, 64] {
            let (mut printed, mut wheel, mut random) =
                (Printed::new(size), configured::kafka_wheel(size as usize, 0), random(size));
            for _ in 0..1_000 {
                let deadline = 1 + random.random_range(0..100_000);
                printed.insert(deadline);
                wheel.timer.insert(deadline, 0);
            }
            while let Some(tick) = printed.next() {
                assert_eq!((wheel.timer.next_wakeup(), wheel.timer.occupied_slots()), (Some(tick), printed.queued()));
                let (mut fired, mut moved) = (0, 0);
                while let Some(poll) = printed.next().filter(|next| *next == tick).and_then(|_| printed.poll()) {
                    fired += poll.fired;
                    moved += if poll.level > 0 { poll.taken } else { 0 };
                }
                let before = wheel.steps();
                assert_eq!(wheel.fired(tick).len() as u64, fired);
                assert_eq!(wheel.steps().since(&before).of(wheelhouse_core::meter::Work::CascadeMove), moved);
            }
            assert!(wheel.timer.is_empty());
            assert_eq!(wheel.timer.levels(), printed.levels());
        }
    }

    /// The article's example: ticks of a second, ten slots, 15 s.
    #[test]
    fn demotes_once_in_the_example() {
        let mut printed = Printed::new(10);
        printed.insert(15);
        assert_eq!(printed.poll(), Some(Poll { tick: 10, level: 1, taken: 1, fired: 0 }));
        assert_eq!(printed.poll(), Some(Poll { tick: 15, level: 0, taken: 1, fired: 1 }));
        assert_eq!((printed.poll(), printed.offers().sum::<u64>()), (None, 2));
    }

    #[test]
    fn a_slot_without_timers_is_polled_all_the_same() {
        let mut printed = Printed::new(10);
        let number = printed.insert(5);
        printed.cancel(number);
        assert_eq!(printed.poll(), Some(Poll { tick: 5, level: 0, taken: 0, fired: 0 }));
    }

    /// After an hour without any, the clock is where it was: a timer of 5 ms goes to the sixth wheel and needs four offers.
    #[test]
    fn a_clock_that_stood_still_puts_a_short_timer_far_up() {
        let mut printed = Printed::new(20);
        printed.insert(3_600_005);
        let levels = printed.levels();
        let path: Vec<usize> = std::iter::from_fn(|| printed.poll()).map(|poll| poll.level + 1).collect();
        assert_eq!((levels, path, printed.offers().sum()), (6, vec![6, 5, 4, 1], 4_u64));
    }
}
