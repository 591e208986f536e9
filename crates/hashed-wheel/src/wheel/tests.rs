use super::*;
use alloc::vec::Vec;
use wheelhouse_conformance::check_random_operations;
use wheelhouse_core::WheelError;
use wheelhouse_core::meter::CountingMeter;

impl<T, M: Meter> HashedWheel<T, M> {
    /// Checks the documented invariants by walking all timers.
    fn check(&mut self) {
        for at in 0..self.slots.len() {
            assert_eq!(self.occupied.next(at, 1, &NoMeter).is_some(), !self.slots[at].is_empty());
            let deadlines: Vec<Tick> =
                self.lists.iter(&self.slots[at]).map(|place| self.deadline_at(place)).collect();
            assert!(deadlines.is_sorted());
            assert!(
                deadlines.iter().all(|deadline| *deadline >= self.next && *deadline >= self.hand)
            );
            assert!(deadlines.iter().all(|deadline| self.slot_of(*deadline) == at));
        }
        assert!(self.hand <= self.now);
    }
}

#[test]
fn invariants_hold_under_random_operations() -> Result<(), WheelError> {
    for slots in [2, 8, 128] {
        let mut wheel = HashedWheel::builder().slots(slots).build()?;
        check_random_operations(&mut wheel, slots as u64, 11, HashedWheel::check);
    }
    Ok(())
}

#[test]
fn an_insertion_passes_the_timers_of_its_slot_that_are_due_before() -> Result<(), WheelError> {
    let mut wheel = HashedWheel::builder().slots(8).meter(CountingMeter::default()).build()?;
    (0..100).for_each(|round| _ = wheel.insert(8 * round + 3, round));
    wheel.meter().reset();
    wheel.insert(8 * 50 + 3, 100);
    assert_eq!(
        wheel.meter().count(Work::Comparison),
        53,
        "the last, 51 that are due before or at the same tick, and the one behind them"
    );
    wheel.meter().reset();
    wheel.insert(4, 101);
    assert_eq!(wheel.meter().count(Work::Comparison), 0, "no timer of another slot");
    wheel.meter().reset();
    wheel.insert(8 * 99 + 3, 102);
    assert_eq!(wheel.meter().count(Work::Comparison), 1, "behind all others without a search");
    Ok(())
}

#[test]
fn a_period_that_is_a_multiple_of_the_wheel_is_kept() -> Result<(), WheelError> {
    let mut wheel = HashedWheel::builder().slots(16).build()?;
    wheel.insert(16, 16);
    wheel.insert(32, 32);
    let mut fired = Vec::new();
    for tick in 1..=96 {
        while let Some(expired) = wheel.pop_expired(tick) {
            fired.push((tick, expired.value));
            wheel.insert(expired.deadline + expired.value, expired.value);
        }
    }
    let of = |period: u64| {
        fired
            .iter()
            .filter(|(_, value)| *value == period)
            .map(|(tick, _)| *tick)
            .collect::<Vec<_>>()
    };
    assert_eq!((of(16), of(32)), ([16, 32, 48, 64, 80, 96].to_vec(), [32, 64, 96].to_vec()));
    Ok(())
}
