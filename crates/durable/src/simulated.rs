//! The calls that a simulation on the same thread takes over. Without the feature `sim`, no code
//! asks for it.

use crate::store::{Key, Outcome};
use std::cell::RefCell;
use std::rc::Rc;

pub(crate) trait Simulation {
    /// Waits until `is_done` returns `true`.
    fn wait(&self, is_done: &dyn Fn() -> bool);

    /// A caller receives the outcome of a change to the job of a key.
    fn told(&self, key: &Key, outcome: Outcome);

    /// Draws a number that follows from the seed.
    fn random(&self) -> u64;
}

thread_local! {
    /// The simulation that this thread plays.
    static CURRENT: RefCell<Option<Rc<dyn Simulation>>> = const { RefCell::new(None) };
}

/// Sets the simulation that this thread plays, and returns the one before.
pub(crate) fn set(simulation: Option<Rc<dyn Simulation>>) -> Option<Rc<dyn Simulation>> {
    CURRENT.replace(simulation)
}

/// Returns the simulation that this thread plays.
pub(crate) fn current() -> Option<Rc<dyn Simulation>> {
    CURRENT.with_borrow(Clone::clone)
}
