use super::*;
use alloc::string::ToString;
use wheelhouse_conformance::check_random_operations;
use wheelhouse_core::ConfigError;

impl<T, M: Meter> SingleWheel<T, M> {
    fn check(&mut self) {
        for at in 0..self.slots.len() {
            assert_eq!(self.occupied.next(at, 1, &NoMeter).is_some(), !self.slots[at].is_empty());
            for place in self.lists.iter(&self.slots[at]) {
                let deadline = self.timers.at(place).map(|entry| entry.deadline).unwrap();
                assert_eq!(
                    (self.slot_of(deadline), self.timers.link_at(place)),
                    (at, Some(&IN_SLOT))
                );
                assert!(
                    deadline >= self.hand.max(self.next) && deadline - self.hand < self.range()
                );
            }
        }
        let end = self.turn_of(self.hand).saturating_add(self.range());
        for (Metered { key: turn, .. }, overflow) in &self.overflow {
            assert!(*turn >= end && *turn >= self.next && !overflow.timers.is_empty());
            for place in self.lists.iter(&overflow.timers) {
                let deadline = self.timers.at(place).map(|entry| entry.deadline).unwrap();
                assert!(self.turn_of(deadline) == *turn && deadline >= overflow.earliest);
                assert_eq!(self.timers.link_at(place), Some(&IN_OVERFLOW));
            }
        }
        assert!(self.hand <= self.now);
    }
}

#[test]
fn invariants_hold_under_random_operations() -> Result<(), ConfigError> {
    for slots in [2, 8, 128] {
        let mut wheel = SingleWheel::builder().slots(slots).build()?;
        check_random_operations(&mut wheel, slots as u64, 11, SingleWheel::check);
    }
    Ok(())
}

#[test]
fn a_timer_past_the_range_is_refused_with_its_value() -> Result<(), ConfigError> {
    let mut wheel = SingleWheel::builder().slots(8).start(100).build()?;
    assert!(wheel.insert_within(107, "last").is_ok() && wheel.insert_within(3, "overdue").is_ok());
    let error = wheel.insert_within(108, "past").unwrap_err();
    assert_eq!(error, OutOfRange { deadline: 108, range: 8, value: "past" });
    assert!(error.to_string().contains("choose more slots"));
    assert_eq!((wheel.len(), wheel.advance(107, |_| ())), (2, 2));
    Ok(())
}
