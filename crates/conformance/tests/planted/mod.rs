//! A small timer facility into which a fault can be planted. It is exact, or rounds deadlines up.

mod fault;

pub(crate) use fault::{FAULT, Fault, STOP_LOOPING};

use fault::has;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::mem::{forget, take};
use std::num::NonZeroU32;
use std::sync::atomic::Ordering;
use wheelhouse_core::backend::{Backend, Bounds, Costs, Info, Precision};
use wheelhouse_core::meter::{Meter, Work};
use wheelhouse_core::{Expired, Tick, Timer, TimerId};

/// The exact backend, with the fault of its thread.
pub(crate) type Planted = Backed<false>;

/// The backend that is late by design, with the fault of its thread. It rounds deadlines up to
/// slots of eight ticks. Its bound allows one slot more.
pub(crate) type Rounding = Backed<true>;

pub(crate) struct Backed<const ROUNDS: bool>;

impl<const ROUNDS: bool> Backend for Backed<ROUNDS> {
    const INFO: Info = Info {
        name: if ROUNDS { "rounding" } else { "planted" },
        structure: "ordered map with a fault",
        source: "this test",
        precision: match ROUNDS {
            true => Precision::Late(|delay| if delay < 64 { 0 } else { 15 }),
            false => Precision::Exact,
        },
        costs: Costs {
            insert: "O(log n)",
            cancel: "O(log n)",
            reschedule: "O(log n)",
            fire: "O(log n)",
        },
        bounds: |n| {
            let log = n.ilog2() as f64 + 2.0;
            let fire = log + 1.0;
            Bounds { insert: log, cancel: log, reschedule: 2.0 * log, fire, ..Bounds::NONE }
        },
        ..Info::EXACT
    };

    type Timer<T, M: Meter> = Faulty<T, M>;

    fn build<T, M: Meter + Default>() -> Faulty<T, M> {
        Faulty::new(ROUNDS)
    }

    fn meter<T, M: Meter>(timer: &Faulty<T, M>) -> Option<&M> {
        Some(&timer.meter)
    }
}

/// The tick at which a timer is due, its order among timers due at that tick, and the place of its
/// handle.
type Key = (Tick, u64, u32);

#[derive(Clone)]
struct Entry<T> {
    id: TimerId,
    deadline: Tick,
    value: T,
}

#[derive(Clone)]
struct Place {
    generation: NonZeroU32,
    key: Option<Key>,
    /// For [`Fault::FiredHandleAnswers`].
    last: Tick,
}

#[derive(Clone)]
pub(crate) struct Faulty<T, M> {
    timers: BTreeMap<Key, Entry<T>>,
    rounds: bool,
    places: Vec<Place>,
    free: Vec<u32>,
    now: Tick,
    insertions: u64,
    remembered: Tick,
    /// Memory that some faults do not free.
    left_behind: Vec<Tick>,
    meter: M,
}

impl<T, M: Meter + Default> Faulty<T, M> {
    fn new(rounds: bool) -> Self {
        Self {
            timers: BTreeMap::new(),
            rounds,
            places: Vec::new(),
            free: Vec::new(),
            now: 0,
            insertions: 0,
            remembered: Tick::MAX,
            left_behind: Vec::new(),
            meter: M::default(),
        }
    }
}

impl<T, M: Meter> Faulty<T, M> {
    fn count(&self) {
        self.meter.tally(Work::Comparison, u64::from(self.timers.len().max(1).ilog2()) + 1);
    }

    /// The tick at which a timer is due, depending on the fault.
    fn due(&self, deadline: Tick, moved: bool) -> Tick {
        let delay = deadline.saturating_sub(self.now);
        if self.rounds && delay > 0 {
            self.end_of_slot(deadline, moved)
        } else if has(Fault::EarlyInAFarSlot) && delay >= 256 {
            deadline & !255
        } else if has(Fault::LateByATurn) && delay > 0 && delay % 256 == 0 {
            deadline.saturating_add(256)
        } else if has(Fault::OverdueLast) {
            deadline.max(self.now)
        } else if has(Fault::OverdueWaits) && delay == 0 {
            self.now.saturating_add(1)
        } else {
            deadline
        }
    }

    fn end_of_slot(&self, deadline: Tick, moved: bool) -> Tick {
        let in_a_run = self.timers.keys().next().is_some_and(|first| first.0 <= self.now);
        let width = match deadline - self.now {
            _ if has(Fault::KeepsWideSlots) && moved => 1_024,
            _ if has(Fault::HandOfTheRun) && in_a_run => 1_024,
            ..64 => 1,
            _ => 8,
        };
        let past_the_last = if has(Fault::EndWraps) { 0 } else { Tick::MAX };
        let up = deadline.checked_next_multiple_of(width).unwrap_or(past_the_last);
        match width {
            _ if has(Fault::RoundsDown) => deadline - deadline % width,
            8 if has(Fault::BeyondTheBound) => up.saturating_add(16),
            8 if has(Fault::TiesOutOfOrder) && self.timers.len() % 2 == 1 => up.saturating_add(8),
            _ => up,
        }
    }

    fn order(&self, deadline: Tick) -> u64 {
        if has(Fault::WrongTieOrder) {
            u64::MAX - self.insertions
        } else if has(Fault::CascadeLosesOrder) && deadline.saturating_sub(self.now) >= 4_096 {
            self.insertions + (1 << 40)
        } else {
            self.insertions
        }
    }

    fn put(&mut self, id: TimerId, deadline: Tick, value: T, moved: bool) {
        self.count();
        self.insertions += 1;
        let key = (self.due(deadline, moved), self.order(deadline), id.index());
        self.timers.insert(key, Entry { id, deadline, value });
        self.places[id.index() as usize].key = Some(key);
        self.remembered = self.remembered.min(deadline);
    }

    fn key(&self, id: TimerId) -> Option<Key> {
        let place = self.places.get(id.index() as usize)?;
        place.key.filter(|_| place.generation == id.generation())
    }

    fn take(&mut self, key: Key) -> Option<Entry<T>> {
        self.count();
        let entry = self.timers.remove(&key)?;
        let place = &mut self.places[key.2 as usize];
        place.key = None;
        place.last = entry.deadline;
        self.free.push(key.2);
        Some(entry)
    }

    fn is_due(&self, due: Tick) -> bool {
        match due {
            _ if has(Fault::EarlyByOne) => due <= self.now.saturating_add(1),
            _ if has(Fault::LateByOne) => due < self.now,
            _ if has(Fault::SignedComparison) => self.now.wrapping_sub(due) as i64 >= 0,
            Tick::MAX if has(Fault::LastTickNeverComes) => false,
            _ => due <= self.now,
        }
    }

    fn first_due(&self) -> Option<Key> {
        self.timers.keys().next().copied().filter(|key| self.is_due(key.0))
    }

    fn set_now(&mut self, now: Tick) {
        let distance = now.saturating_sub(self.now);
        if has(Fault::LoopsOverDistance) {
            let ticks = (0..distance).take_while(|_| !STOP_LOOPING.load(Ordering::Relaxed));
            ticks.for_each(|tick| _ = black_box(tick));
        }
        if has(Fault::VisitsEverySlot) {
            self.meter.tally(Work::SlotVisit, distance.min(1 << 20));
        }
        if has(Fault::ScansOnEveryTick) {
            self.meter.tally(Work::EntryScan, self.timers.len() as u64);
        }
        self.now = if has(Fault::TimeRunsBack) { now } else { self.now.max(now) };
        if has(Fault::LazyCancelWithoutBound) {
            self.left_behind.retain(|deadline| *deadline > now);
        }
    }

    fn pop(&mut self) -> Option<Expired<T>> {
        let key = self.first_due()?;
        let Entry { id, deadline, value } = self.take(key)?;
        if has(Fault::PostponedIsLost) && deadline > self.now {
            return self.pop();
        }
        if key.0 == self.remembered {
            self.remembered = self.timers.keys().next().map_or(Tick::MAX, |key| key.0);
        }
        Some(Expired { id, deadline, value })
    }

    fn place(&mut self) -> TimerId {
        let index = self.free.pop().unwrap_or_else(|| {
            self.places.push(Place { generation: NonZeroU32::MIN, key: None, last: 0 });
            (self.places.len() - 1) as u32
        });
        let place = &mut self.places[index as usize];
        let last = if has(Fault::AliasingAfterManyReuses) { 256 } else { u32::MAX };
        if !has(Fault::AliasingHandle) {
            let next = place.generation.checked_add(1).filter(|next| next.get() <= last);
            place.generation = next.unwrap_or(NonZeroU32::MIN);
        }
        TimerId::from_parts(index, place.generation)
    }
}

impl<T, M: Meter> Timer<T> for Faulty<T, M> {
    fn now(&self) -> Tick {
        self.now
    }

    fn len(&self) -> usize {
        self.timers.len()
    }

    fn insert(&mut self, deadline: Tick, value: T) -> TimerId {
        if has(Fault::LeakingMemory) {
            self.left_behind.push(deadline);
        }
        if has(Fault::QuadraticWork) {
            self.meter.tally(Work::EntryScan, self.timers.len() as u64);
        }
        assert!(!has(Fault::PanicsWithThree) || self.timers.len() < 2, "no room");
        let id = self.place();
        self.put(id, deadline, value, false);
        id
    }

    fn cancel(&mut self, id: TimerId) -> Option<T> {
        let key = self.key(id)?;
        let Entry { deadline, value, .. } = self.take(key)?;
        if has(Fault::LostOnCancel) {
            // Removes its neighbour too.
            let neighbour =
                self.timers.range(key..).next().map(|(key, _)| *key).filter(|next| next.0 == key.0);
            neighbour.and_then(|neighbour| self.take(neighbour));
        }
        if has(Fault::LazyCancelWithoutBound) && deadline > self.now {
            self.left_behind.push(deadline);
        }
        Some(value)
    }

    fn reschedule(&mut self, id: TimerId, deadline: Tick) -> bool {
        let Some(key) = self.key(id) else { return false };
        if has(Fault::MoveKeepsItsPlace) && key.0 == deadline {
            return true;
        }
        self.count();
        let Some(entry) = self.timers.remove(&key) else { return false };
        if has(Fault::LostOnReschedule) && deadline < self.now {
            self.places[id.index() as usize].key = None;
            return true;
        }
        self.put(id, deadline, entry.value, true);
        true
    }

    /// Calls `reschedule`, or only writes the deadline, depending on the fault.
    fn postpone(&mut self, id: TimerId, deadline: Tick) -> bool {
        let later = has(Fault::PostponedIsLost) || has(Fault::PostponedFiresEarly);
        let writes = |old: Tick| match deadline > old {
            true => later,
            false => has(Fault::PostponedBackIsLate),
        };
        let entry = self.key(id).and_then(|key| self.timers.get_mut(&key));
        match entry.filter(|entry| writes(entry.deadline)) {
            Some(entry) => {
                entry.deadline = deadline;
                true
            }
            None => self.reschedule(id, deadline),
        }
    }

    fn deadline(&self, id: TimerId) -> Option<Tick> {
        if has(Fault::FiredHandleAnswers) {
            let place = self.places.get(id.index() as usize)?;
            if place.generation == id.generation() && place.key.is_none() {
                return Some(place.last);
            }
        }
        let key = self.key(id)?;
        let deadline = self.timers.get(&key)?.deadline;
        Some(if has(Fault::ForgetsDeadlines) { key.0 } else { deadline })
    }

    fn next_wakeup(&self) -> Option<Tick> {
        let Some((key, entry)) = self.timers.iter().next() else {
            return has(Fault::WakeupOfNothing).then_some(self.now);
        };
        Some(match if self.rounds { key.0 } else { key.0.min(entry.deadline) } {
            _ if has(Fault::WakeupForTheCancelled) => self.remembered,
            deadline if has(Fault::WakeupTooLate) => deadline.saturating_add(1),
            deadline if has(Fault::WakeupAtEveryTick) => deadline.min(self.now.saturating_add(1)),
            deadline => deadline,
        })
    }

    fn pop_expired(&mut self, now: Tick) -> Option<Expired<T>> {
        self.set_now(now);
        self.meter.tally(Work::Comparison, 1);
        self.pop()
    }

    fn advance(&mut self, now: Tick, mut on_expiry: impl FnMut(Expired<T>)) -> usize {
        self.set_now(now);
        self.meter.tally(Work::Comparison, 1);
        if has(Fault::PanicLosesOthers) || has(Fault::JumpsReversed) {
            let mut due: Vec<_> = std::iter::from_fn(|| self.pop()).collect();
            if has(Fault::JumpsReversed) {
                due.reverse();
            }
            return due.into_iter().map(on_expiry).count();
        }
        let most = match has(Fault::Capped) {
            true if self.rounds => 10,
            true => 1_000,
            false => usize::MAX,
        };
        let mut fired = 0;
        while let Some(expired) = (fired < most).then(|| self.pop()).flatten() {
            fired += 1;
            on_expiry(expired);
        }
        fired
    }
}

impl<T, M> Drop for Faulty<T, M> {
    fn drop(&mut self) {
        if has(Fault::ForgetsValues) {
            forget(take(&mut self.timers));
        }
    }
}
