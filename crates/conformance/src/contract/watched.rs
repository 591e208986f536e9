//! A structure of which every result is checked.

use crate::script::Pair;
use std::ops::Deref;
use wheelhouse_core::Tick;
use wheelhouse_core::backend::Backend;
use wheelhouse_core::meter::NoMeter;

/// A structure whose results are compared with those of the oracle, or with its own bound if it is
/// late by design. Each method panics at the first wrong result. Timers are numbered in order of
/// insertion, from 0.
pub(crate) struct Watched<B: Backend>(Pair<B::Timer<u64, NoMeter>>);

#[track_caller]
fn right<R>(result: Result<R, String>) -> R {
    match result {
        Ok(result) => result,
        Err(what) => panic!("{what}"),
    }
}

/// Defines a method for each of [`Pair`] with this name, which panics at a wrong result.
macro_rules! checked {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)+) => {
        impl<B: Backend> Watched<B> {
            $(
                #[track_caller]
                pub(crate) fn $name(&mut self, $($argument: $type),*) -> $result {
                    right(self.0.$name($($argument),*))
                }
            )+
        }
    };
}

checked! {
    insert(deadline: Tick) -> u64;
    cancel(timer: u64) -> bool;
    reschedule(timer: u64, deadline: Tick) -> bool;
    postpone(timer: u64, deadline: Tick) -> bool;
    advance(to: Tick) -> Vec<u64>;
    pop(to: Tick) -> Option<u64>;
    panic(to: Tick, nth: usize) -> Vec<u64>;
    wakeup() -> Option<Tick>;
    wake() -> Vec<u64>;
    compare_handles() -> ();
}

impl<B: Backend> Watched<B> {
    /// An empty structure, its clock at `start`.
    pub(crate) fn new(start: Tick) -> Self {
        let mut watched = Self(Pair::new::<B>());
        watched.advance(start);
        watched
    }

    /// A structure with these timers, its clock at `start`.
    #[track_caller]
    pub(crate) fn with(start: Tick, deadlines: impl IntoIterator<Item = Tick>) -> Self {
        let mut watched = Self::new(start);
        watched.insert_all(deadlines);
        watched
    }

    #[track_caller]
    pub(crate) fn insert_all(&mut self, deadlines: impl IntoIterator<Item = Tick>) {
        deadlines.into_iter().for_each(|deadline| _ = right(self.0.insert(deadline)));
    }

    /// The timers that `pop_expired` returns until it returns `None`.
    #[track_caller]
    pub(crate) fn pop_all(&mut self, to: Tick) -> Vec<u64> {
        std::iter::from_fn(|| self.pop(to)).collect()
    }
}

/// Calls that cannot have a wrong result.
impl<B: Backend> Deref for Watched<B> {
    type Target = Pair<B::Timer<u64, NoMeter>>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}
