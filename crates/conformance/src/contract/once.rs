//! 1. Exactly once.

use super::Watched;
use crate::random::Random;
use crate::{fresh, latest};
use std::cell::RefCell;
use std::rc::Rc;
use wheelhouse_core::Timer;
use wheelhouse_core::backend::Backend;

/// Contract 1: a timer fires once, or is cancelled once, or is still live. Its value is returned
/// once and dropped once; the value of a live timer is dropped with the structure.
pub fn contract_01_exactly_once<B: Backend>() {
    each_timer_ends_once::<B>();
    values_are_dropped_once::<B>();
}

fn each_timer_ends_once<B: Backend>() {
    const COUNT: u64 = 5_000;
    let mut random = Random::new(1);
    let mut watched = Watched::<B>::with(0, (0..COUNT).map(|_| random.of_any_scale(24)));
    let mut ended = 0;
    let last = latest::<B>(0, (1 << 24) - 1);
    for tick in (0..=24).map(|bit| (1 << bit) - 1).chain([last]) {
        ended += (0..100).filter(|_| watched.cancel(random.below(COUNT))).count();
        ended += watched.advance(tick).len();
    }
    assert_eq!(ended, COUNT as usize, "contract 1: how many timers fired or were cancelled");
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
    let value = |number| Booked { number, drops: Rc::clone(&drops) };
    let ids: Vec<_> =
        (0..COUNT).map(|number| timer.insert(random.of_any_scale(40), value(number))).collect();
    for id in ids.iter().skip(3).step_by(7) {
        timer.reschedule(*id, 1 << random.below(40));
    }
    assert_eq!(dropped(), 0, "contract 1: no value is dropped while its timer is live");
    for (number, id) in ids.iter().enumerate().step_by(5) {
        let value = timer.cancel(*id).expect("contract 1: a live timer can be cancelled");
        let dropped = drops.borrow()[number];
        assert_eq!((value.number, dropped), (number, 0), "contract 1: cancel returns the value");
    }
    let mut gone = COUNT.div_ceil(5);
    assert_eq!(dropped(), gone, "contract 1: the caller drops the values of cancelled timers");
    gone += timer.advance(1 << 12, drop);
    // A run of pops that ends early, so that some timers are due but have not fired.
    gone += (0..20).filter_map(|_| timer.pop_expired(1 << 24)).count();
    let left = (dropped(), timer.len());
    assert_eq!(left, (gone, COUNT - gone), "contract 1: the caller drops values that fired");
    drop(timer);
    assert_eq!(*drops.borrow(), vec![1; COUNT], "contract 1: how often each value was dropped");
}
