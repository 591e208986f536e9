use super::*;
use wheelhouse_core::WheelError;
use wheelhouse_core::meter::CountingMeter;

impl<T, M: Meter> KafkaWheel<T, M> {
    /// What the comments promise, checked by walking everything.
    fn check(&mut self) {
        let mut occupied = 0;
        for number in 0..self.levels.len() {
            for slot in 0..self.levels[number].count() as Tick {
                let Some(tick) = self.levels[number].nth(self.hand, slot) else { break };
                let slot = *self.levels[number].slot(tick);
                let start = self.levels[number].start_of(tick);
                assert_eq!(self.queue.contains(&(start, Reverse(number))), !slot.is_empty());
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

/// A small generator, so that the unit tests need no crate.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

#[test]
fn stays_whole_under_random_operations() -> Result<(), WheelError> {
    for slots in [2, 3, 20, 60] {
        let mut wheel = KafkaWheel::<u64>::builder().slots(slots).build()?;
        let mut ids = Vec::new();
        let mut state = slots as u64;
        for step in 0..5_000 {
            let deadline = wheel.now() + random(&mut state) % (1 << (random(&mut state) % 12));
            match random(&mut state) % 8 {
                0..4 => ids.push(wheel.insert(deadline, step)),
                4 if !ids.is_empty() => {
                    _ = wheel.cancel(ids.swap_remove(random(&mut state) as usize % ids.len()))
                }
                5 if !ids.is_empty() => {
                    _ = wheel.reschedule(ids[random(&mut state) as usize % ids.len()], deadline)
                }
                6 => _ = wheel.pop_expired(deadline),
                _ => _ = wheel.advance(deadline, |_| ()),
            }
            if step % 10 == 0 {
                wheel.check();
            }
        }
    }
    Ok(())
}

/// The example of the article: ticks of a second, ten slots a wheel.
#[test]
fn a_timer_of_the_second_wheel_comes_down_once_and_fires_in_its_second() -> Result<(), WheelError> {
    let mut wheel = KafkaWheel::builder().slots(10).meter(CountingMeter::default()).build()?;
    wheel.insert(15, ());
    assert_eq!((wheel.levels(), wheel.next_wakeup()), (2, Some(10)));
    assert_eq!((wheel.advance(10, |_| ()), wheel.next_wakeup()), (0, Some(15)));
    assert_eq!(wheel.meter().count(Work::CascadeMove), 1);
    assert_eq!((wheel.advance(14, |_| ()), wheel.advance(15, |_| ())), (0, 1));
    assert_eq!(wheel.occupied_slots(), 0);
    Ok(())
}

#[test]
fn what_comes_down_two_levels_at_once_stays_before_what_comes_down_one() {
    let mut wheel = KafkaWheel::new();
    wheel.insert(405, 'a'); // third wheel: 405 is twenty slots of the second ahead
    wheel.advance(50, |_| ());
    wheel.insert(405, 'b'); // second
    wheel.advance(395, |_| ());
    wheel.insert(405, 'c'); // lowest
    wheel.check();
    let mut fired = alloc::string::String::new();
    wheel.advance(405, |expired| fired.push(expired.value));
    assert_eq!(fired, "abc");
}

/// The article's wheel moves its clock only when a slot is emptied: after an hour without any, a
/// timer of 5 ms is put into the seventh wheel.
#[test]
fn after_idling_a_short_timer_goes_to_the_lowest_wheel() {
    let mut wheel = KafkaWheel::new();
    wheel.advance(3_600_000, |_| ());
    wheel.insert(3_600_005, ());
    assert_eq!((wheel.levels(), wheel.next_wakeup()), (1, Some(3_600_005)));
}

#[test]
fn slots_without_timers_leave_the_queue() {
    let mut wheel = KafkaWheel::new();
    let ids: Vec<_> = (0..10_000).map(|n| wheel.insert(n * 37 % 100_000, n)).collect();
    assert!(wheel.occupied_slots() < 100);
    ids.into_iter().for_each(|id| _ = wheel.cancel(id));
    assert_eq!((wheel.occupied_slots(), wheel.next_wakeup()), (0, None));
}
