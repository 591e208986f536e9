//! 1. Exactly once.

use crate::random::Random;
use crate::{fired, fresh, latest, popped};
use std::cell::RefCell;
use std::rc::Rc;
use wheelhouse_core::Timer;
use wheelhouse_core::backend::Backend;

/// Contract 1: a timer fires once, or is cancelled once, or is still live. Its value is returned
/// once and dropped once; the value of a live timer is dropped with the structure.
///
/// # Panics
///
/// If the backend does not keep that promise.
pub fn contract_01_exactly_once<B: Backend>() {
    each_timer_ends_once::<B>();
    a_timer_that_fired_does_not_fire_again::<B>();
    a_cancelled_timer_does_not_fire::<B>();
    a_moved_timer_fires_once::<B>();
    values_are_dropped_once::<B>();
}

/// Many timers, each of which must fire or be cancelled exactly once.
fn each_timer_ends_once<B: Backend>() {
    const COUNT: usize = 5_000;
    let mut random = Random::new(1);
    let mut timer = fresh::<B, usize>();
    let ids: Vec<_> =
        (0..COUNT).map(|value| timer.insert(random.of_any_scale(24), value)).collect();
    let mut ends = vec![0; COUNT];
    assert_eq!(timer.len(), COUNT, "contract 1: all are live");
    let mut ended = 0;
    let last = latest::<B>(0, (1 << 24) - 1);
    for tick in (0..=24).map(|bit| (1 << bit) - 1).chain([last]) {
        for _ in 0..100 {
            let value = random.index(COUNT);
            if let Some(back) = timer.cancel(ids[value]) {
                assert_eq!(
                    back, value,
                    "contract 1: cancel returns the value of the timer of the handle"
                );
                ends[value] += 1;
                ended += 1;
            }
        }
        for (_, value) in fired(&mut timer, tick) {
            ends[value] += 1;
            ended += 1;
        }
        assert_eq!(
            timer.len(),
            COUNT - ended,
            "contract 1: len counts the live timers at tick {tick}"
        );
    }
    assert!(timer.is_empty(), "contract 1: no timer is left after the last deadline");
    assert_eq!(ends, vec![1; COUNT], "contract 1: how often each timer fired or was cancelled");
}

fn a_timer_that_fired_does_not_fire_again<B: Backend>() {
    for deadline in [1, 63, 64, 300, 70_000, 1 << 33] {
        let mut timer = fresh::<B, ()>();
        timer.insert(deadline, ());
        let tick = latest::<B>(0, deadline);
        assert_eq!(fired(&mut timer, tick).len(), 1, "contract 1: a timer due at {deadline} fires");
        for later in [0, 1, 64, 256, 1 << 16, 1 << 34, 1 << 60] {
            assert_eq!(
                fired(&mut timer, tick + later),
                [],
                "contract 1: it fired at {tick} already"
            );
            assert_eq!(
                popped(&mut timer, tick + later),
                [],
                "contract 1: it fired at {tick} already"
            );
        }
        assert_eq!(
            (timer.len(), timer.next_wakeup()),
            (0, None),
            "contract 1: nothing is left of it"
        );
    }
}

fn a_cancelled_timer_does_not_fire<B: Backend>() {
    let mut timer = fresh::<B, usize>();
    for deadline in [0, 1, 64, 300, 70_000, 1 << 33] {
        let ids: Vec<_> = (0..10).map(|value| timer.insert(deadline, value)).collect();
        for odd in (1..10).step_by(2) {
            assert_eq!(timer.cancel(ids[odd]), Some(odd), "contract 1: cancel returns the value");
        }
        let tick = latest::<B>(timer.now(), deadline);
        let values: Vec<_> = fired(&mut timer, tick).into_iter().map(|(_, value)| value).collect();
        assert_eq!(
            values,
            [0, 2, 4, 6, 8],
            "contract 1: the timers due at {deadline} that were not cancelled"
        );
    }
}

fn a_moved_timer_fires_once<B: Backend>() {
    let mut timer = fresh::<B, ()>();
    let id = timer.insert(5, ());
    for deadline in [70_000, 3, 1 << 40, 300, 64, 300, 500] {
        assert!(timer.reschedule(id, deadline), "contract 1: a live timer can be moved");
        assert_eq!(timer.len(), 1, "contract 1: a moved timer is one timer");
    }
    for tick in [3, 5, 64, 300, 499] {
        assert_eq!(fired(&mut timer, tick), [], "contract 1: moved away from {tick}, to 500");
    }
    assert_eq!(
        fired(&mut timer, 1 << 41),
        [(500, ())],
        "contract 1: a moved timer fires once, at its last deadline"
    );
}

/// A value that counts how often it is dropped, by its number.
struct Booked {
    number: usize,
    drops: Rc<RefCell<Vec<u32>>>,
}

impl Drop for Booked {
    fn drop(&mut self) {
        self.drops.borrow_mut()[self.number] += 1;
    }
}

fn values_are_dropped_once<B: Backend>() {
    const COUNT: usize = 600;
    let drops = Rc::new(RefCell::new(vec![0; COUNT]));
    let dropped = || drops.borrow().iter().sum::<u32>() as usize;
    let mut random = Random::new(2);
    let mut timer = fresh::<B, Booked>();
    let ids: Vec<_> = (0..COUNT)
        .map(|number| {
            timer.insert(random.of_any_scale(40), Booked { number, drops: Rc::clone(&drops) })
        })
        .collect();
    for id in ids.iter().skip(3).step_by(7) {
        timer.reschedule(*id, 1 << random.below(40));
    }
    assert_eq!(dropped(), 0, "contract 1: no value is dropped while its timer is live");
    for (number, id) in ids.iter().enumerate().step_by(5) {
        let value = timer.cancel(*id).expect("contract 1: a live timer can be cancelled");
        assert_eq!(
            (value.number, drops.borrow()[number]),
            (number, 0),
            "contract 1: cancel returns the value itself"
        );
    }
    let mut gone = COUNT.div_ceil(5);
    assert_eq!(
        dropped(),
        gone,
        "contract 1: only the values of cancelled timers are dropped, by the caller"
    );
    gone += timer.advance(1 << 12, drop);
    // A run of pops that ends early, so that some timers are due but have not fired.
    gone += (0..20).filter_map(|_| timer.pop_expired(1 << 24)).count();
    assert_eq!(
        (dropped(), timer.len()),
        (gone, COUNT - gone),
        "contract 1: the caller drops the values of timers that fired"
    );
    drop(timer);
    assert_eq!(
        *drops.borrow(),
        vec![1; COUNT],
        "contract 1: how often each value was dropped in the end"
    );
}
