use super::*;
use alloc::vec::Vec;
use wheelhouse_conformance::check_random_operations;
use wheelhouse_core::ConfigError;

impl<T, M: Meter> HashedWheel<T, M> {
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
fn invariants_hold_under_random_operations() -> Result<(), ConfigError> {
    for slots in [2, 8, 128] {
        let mut wheel = HashedWheel::builder().slots(slots).build()?;
        check_random_operations(&mut wheel, slots as u64, 11, HashedWheel::check);
    }
    Ok(())
}
