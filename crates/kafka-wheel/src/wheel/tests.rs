use super::*;
use wheelhouse_conformance::check_random_operations;
use wheelhouse_core::ConfigError;
use wheelhouse_core::meter::CountingMeter;

impl Level {
    fn count(&self) -> usize {
        self.slots.len()
    }

    /// The first tick, at or after the hand, of the slot that is `slot` slots after that of the
    /// hand. `None` if it is after `Tick::MAX`.
    fn nth(&self, hand: Tick, slot: Tick) -> Option<Tick> {
        Some((hand / self.width).checked_add(slot)?.checked_mul(self.width)?.max(hand))
    }
}

impl<T, M: Meter> KafkaWheel<T, M> {
    fn check(&mut self) {
        let mut occupied = 0;
        for number in 0..self.levels.len() {
            for slot in 0..self.levels[number].count() as Tick {
                let Some(tick) = self.levels[number].nth(self.hand, slot) else { break };
                let slot = *self.levels[number].slot(tick);
                let start = self.levels[number].start_of(tick);
                let queued = Metered::new((start, Reverse(number)), &self.meter);
                assert_eq!(self.queue.contains(&queued), !slot.is_empty());
                occupied += usize::from(!slot.is_empty());
                for place in self.lists.iter(&slot) {
                    let deadline = self.timers.at(place).map(|entry| entry.deadline).unwrap();
                    assert!(
                        deadline >= self.hand && self.levels[number].start_of(deadline) == start
                    );
                    assert_eq!(
                        self.timers.link_at(place).map(|link| link.get() as usize),
                        Some(number + 1)
                    );
                }
            }
        }
        assert_eq!(occupied, self.queue.len());
    }
}

#[test]
fn invariants_hold_under_random_operations() -> Result<(), ConfigError> {
    for slots in [2, 3, 20, 60] {
        let mut wheel = KafkaWheel::builder().slots(slots).build()?;
        check_random_operations(&mut wheel, slots as u64, 11, KafkaWheel::check);
    }
    Ok(())
}

/// The example of the article, with ticks of a second and ten slots a wheel.
#[test]
fn a_timer_of_the_second_wheel_comes_down_once_and_fires_in_its_second() -> Result<(), ConfigError>
{
    let mut wheel = KafkaWheel::builder().slots(10).meter(CountingMeter::default()).build()?;
    wheel.insert(15, ());
    assert_eq!((wheel.levels.len(), wheel.next_wakeup()), (2, Some(10)));
    assert_eq!((wheel.advance(10, |_| ()), wheel.next_wakeup()), (0, Some(15)));
    assert_eq!(wheel.meter().count(Work::CascadeMove), 1);
    assert_eq!((wheel.advance(14, |_| ()), wheel.advance(15, |_| ())), (0, 1));
    assert!(wheel.queue.is_empty());
    Ok(())
}

/// The article's wheel moves its clock only when a slot is emptied. So after an hour without
/// timers, a timer of 5 ms goes to the seventh wheel.
#[test]
fn after_idling_a_short_timer_goes_to_the_lowest_wheel() {
    let mut wheel = KafkaWheel::new();
    wheel.advance(3_600_000, |_| ());
    wheel.insert(3_600_005, ());
    assert_eq!((wheel.levels.len(), wheel.next_wakeup()), (1, Some(3_600_005)));
}
