use super::*;
use alloc::string::ToString;
use alloc::vec::Vec;
use wheelhouse_conformance::check_random_operations;
use wheelhouse_core::WheelError;
use wheelhouse_core::meter::CountingMeter;

impl<T, M: Meter> SingleWheel<T, M> {
    /// Checks the documented invariants by walking all timers.
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
fn invariants_hold_under_random_operations() -> Result<(), WheelError> {
    for slots in [2, 8, 128] {
        let mut wheel = SingleWheel::builder().slots(slots).build()?;
        check_random_operations(&mut wheel, slots as u64, 11, SingleWheel::check);
    }
    Ok(())
}

#[test]
fn timers_of_one_deadline_keep_their_order_whether_they_came_by_the_list_or_not()
-> Result<(), WheelError> {
    let mut wheel = SingleWheel::builder().slots(8).build()?;
    wheel.insert(20, 'a');
    wheel.insert(21, 'z');
    wheel.insert(20, 'b');
    wheel.advance(13, |_| ()); // now 20 is in range, and 'a' and 'b' are still in the list
    wheel.check();
    wheel.insert(20, 'c');
    let mut fired = Vec::new();
    wheel.advance(21, |expired| fired.push(expired.value));
    assert_eq!(fired, ['a', 'b', 'c', 'z']);
    Ok(())
}

#[test]
fn a_timer_of_the_overflow_is_moved_once_and_ticks_before_it_cost_a_comparison()
-> Result<(), WheelError> {
    let mut wheel = SingleWheel::builder().slots(8).meter(CountingMeter::default()).build()?;
    (0..100).for_each(|n| _ = wheel.insert(8_000 + n, n));
    wheel.meter().reset();
    (1..8_000).for_each(|tick| assert_eq!(wheel.advance(tick, |_| ()), 0));
    assert_eq!((wheel.meter().total(), wheel.next_wakeup()), (7_999, Some(8_000)));
    assert_eq!(wheel.advance(8_007, |_| ()), 8);
    assert_eq!(wheel.meter().count(Work::CascadeMove), 8);
    assert_eq!(
        (wheel.advance(Tick::MAX, |_| ()), wheel.meter().count(Work::CascadeMove)),
        (92, 100)
    );
    Ok(())
}

#[test]
fn a_timer_past_the_range_is_refused_with_its_value() -> Result<(), WheelError> {
    let mut wheel = SingleWheel::builder().slots(8).start(100).build()?;
    assert!(wheel.insert_within(107, "last").is_ok() && wheel.insert_within(3, "overdue").is_ok());
    let error = wheel.insert_within(108, "past").unwrap_err();
    assert_eq!(error, OutOfRange { deadline: 108, range: 8, value: "past" });
    assert!(error.to_string().contains("choose more slots"));
    assert_eq!((wheel.len(), wheel.advance(107, |_| ())), (2, 2));
    Ok(())
}
