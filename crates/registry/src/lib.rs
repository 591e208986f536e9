//! The list of backends: the one place that names them all.
//!
//! Adding a backend is a crate and a line in [`for_each_backend!`]; every test, bench, table and plot goes through
//! [`visit`] and finds it there.

use wheelhouse_core::backend::{Backend, Info};

/// Something to do with a backend, whichever it is. A closure cannot be generic; a visitor is one that can.
pub trait Visitor {
    /// Is called with each backend in turn.
    fn visit<B: Backend + 'static>(&mut self);
}

/// Passes the list of backends to a macro: `name!(First, Second, ...)`. The order is that of tables and plots.
#[macro_export]
macro_rules! for_each_backend {
    ($each:path) => {
        $each!(
            wheelhouse_hierarchical_wheel::Definition,
            wheelhouse_round_wheel::Definition,
            wheelhouse_binary_heap::Definition,
            wheelhouse_skip_list::Definition,
        );
    };
}

/// Calls the visitor with each backend, in the order of tables and plots.
pub fn visit(visitor: &mut impl Visitor) {
    macro_rules! each {
        ($($backend:ty,)+) => { $(visitor.visit::<$backend>();)+ };
    }
    for_each_backend!(each);
}

/// Name, source and costs of each backend.
pub fn all() -> Vec<Info> {
    struct Infos(Vec<Info>);
    impl Visitor for Infos {
        fn visit<B: Backend + 'static>(&mut self) {
            self.0.push(B::INFO);
        }
    }
    let mut infos = Infos(Vec::new());
    visit(&mut infos);
    infos.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use wheelhouse_core::Timer;
    use wheelhouse_core::meter::{CountingMeter, NoMeter};

    #[test]
    fn every_backend_has_a_name_of_its_own_that_a_command_line_takes() {
        let names: Vec<_> = all().iter().map(|info| info.name).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
        assert!(names.iter().all(|name| name.chars().all(|c| c.is_ascii_lowercase() || c == '-')));
    }

    #[test]
    fn every_backend_counts_its_work_and_takes_no_room_for_not_counting() {
        struct Check(usize);
        impl Visitor for Check {
            fn visit<B: Backend + 'static>(&mut self) {
                let mut timer = B::build::<u8, CountingMeter>();
                timer.insert(5, 0);
                timer.advance(9, |_| ());
                assert!(B::meter(&timer).is_some_and(|meter| meter.total() > 0), "{}", B::INFO.name);
                let (counting, plain) = (size_of::<B::Timer<u8, CountingMeter>>(), size_of::<B::Timer<u8, NoMeter>>());
                // But for padding, the whole difference is the meter.
                let padding = align_of::<B::Timer<u8, NoMeter>>();
                assert!(plain + size_of::<CountingMeter>() <= counting + padding, "{}", B::INFO.name);
                self.0 += 1;
            }
        }
        let mut check = Check(0);
        visit(&mut check);
        assert_eq!(check.0, all().len());
    }
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
