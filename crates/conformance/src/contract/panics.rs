//! 9. A panicking callback loses one timer only.

use super::Watched;
use crate::{fresh, latest};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use wheelhouse_core::Timer;
use wheelhouse_core::backend::Backend;

/// Contract 9: if the callback of `advance` panics, only the timer passed to it is lost. All others
/// stay, in order, and the next call continues with them.
pub fn contract_09_a_panic_loses_nothing_else<B: Backend>() {
    the_others_fire_in_the_next_call::<B>();
    every_callback_panics::<B>();
    values_survive_or_are_dropped::<B>();
}

fn the_others_fire_in_the_next_call<B: Backend>() {
    for unit in [1, 50, 300, 1 << 16, 1 << 33] {
        for nth in [0, 1, 10, 38, 39] {
            let mut watched = Watched::<B>::new(0);
            // Twenty deadlines with two timers each, and one that is not due.
            watched.insert_all((0..40).map(|value| (1 + value / 2) * unit));
            watched.insert(1_000 * unit);
            let to = latest::<B>(0, 20 * unit);
            assert_eq!(watched.panic(to, nth).len(), nth + 1, "contract 9: up to the panic");
            watched.wakeup();
            watched.compare_handles();
            let rest = if nth % 2 == 0 { watched.advance(to) } else { watched.pop_all(to) };
            assert_eq!(rest.len(), 39 - nth, "contract 9: the others fire in the next call");
            watched.advance(latest::<B>(0, 1_000 * unit));
            assert!(watched.is_empty(), "contract 9: later timers fire at their deadlines");
        }
    }
}

/// If every callback panics, each call fires one timer.
fn every_callback_panics<B: Backend>() {
    let mut watched = Watched::<B>::with(0, (0..200).map(|value| 1 + (value * 37) % 1_000));
    let to = latest::<B>(0, 1_000);
    (0..200).for_each(|_| _ = watched.panic(to, 0));
    assert_eq!(watched.wakeup(), None, "contract 9: each call fires the next timer");
}

fn values_survive_or_are_dropped<B: Backend>() {
    let value = Rc::new(());
    let mut timer = fresh::<B, Rc<()>>();
    (1..=10).for_each(|deadline| _ = timer.insert(deadline * 100, Rc::clone(&value)));
    let mut fired = 0;
    let advance = AssertUnwindSafe(|| {
        timer.advance(latest::<B>(0, 500), |_| {
            fired += 1;
            if fired == 2 {
                resume_unwind(Box::new("a callback's panic")); // unlike panic!, prints nothing
            }
        })
    });
    assert!(catch_unwind(advance).is_err(), "contract 9: the panic reaches the caller");
    assert_eq!(Rc::strong_count(&value), 9, "contract 9: eight values are in the structure");
    drop(timer);
    assert_eq!(Rc::strong_count(&value), 1, "contract 1: the structure drops its values");
}
