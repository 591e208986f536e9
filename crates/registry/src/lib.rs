#![doc = include_str!("../README.md")]

use wheelhouse_core::backend::{Backend, Info};

/// Work to do with each backend. This is a trait because a closure cannot be generic.
pub trait Visitor {
    /// Called with each backend in turn.
    fn visit<B: Backend + 'static>(&mut self);
}

/// Passes the list of backends to a macro: `name!(First, Second, ...)`. The order is that of tables
/// and plots.
#[macro_export]
macro_rules! for_each_backend {
    ($each:path) => {
        $each!(
            wheelhouse_hierarchical_wheel::Definition,
            wheelhouse_hierarchical_wheel::list::Definition,
            wheelhouse_round_wheel::Definition,
            wheelhouse_binary_heap::Definition,
            wheelhouse_skip_list::Definition,
            wheelhouse_binary_heap::Definition<4>,
            wheelhouse_binary_heap::LazyDefinition,
            wheelhouse_kafka_wheel::Definition,
            wheelhouse_single_wheel::Definition,
            wheelhouse_hashed_wheel::Definition,
            wheelhouse_calendar_queue::Definition,
            wheelhouse_baselines::RedBlackTreeDefinition,
            wheelhouse_baselines::OrderedMapDefinition,
            wheelhouse_baselines::SortedSliceDefinition,
            wheelhouse_baselines::SortedListDefinition,
            wheelhouse_baselines::SortedListFromRearDefinition,
            wheelhouse_baselines::UnorderedListDefinition,
            wheelhouse_baselines::HashedMapDefinition,
            wheelhouse_queue_per_delay::Definition,
        );
    };
}

/// Calls the visitor with each structure that is late by design.
pub fn visit_approximate(visitor: &mut impl Visitor) {
    visitor.visit::<wheelhouse_linux_wheel::Definition>();
}

/// Calls the visitor with each backend, in the order of tables and plots.
pub fn visit(visitor: &mut impl Visitor) {
    macro_rules! each {
        ($($backend:ty,)+) => { $(visitor.visit::<$backend>();)+ };
    }
    for_each_backend!(each);
}

struct Infos(Vec<Info>);

impl Visitor for Infos {
    fn visit<B: Backend + 'static>(&mut self) {
        self.0.push(B::INFO);
    }
}

/// Name, source and costs of each backend.
pub fn all() -> Vec<Info> {
    let mut infos = Infos(Vec::new());
    visit(&mut infos);
    infos.0
}

/// How many backends at the head of the list are recommended for many timers. The others are there
/// for comparison.
const RECOMMENDED_COUNT: usize = 9;

/// The backends of [`all`] that are recommended for many timers.
pub fn recommended() -> Vec<Info> {
    all().into_iter().take(RECOMMENDED_COUNT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use wheelhouse_core::Timer;
    use wheelhouse_core::backend::Precision;
    use wheelhouse_core::meter::{CountingMeter, NoMeter};

    fn all_approximate() -> Vec<Info> {
        let mut infos = Infos(Vec::new());
        visit_approximate(&mut infos);
        infos.0
    }

    #[test]
    fn backend_names_are_unique_and_fit_a_command_line() {
        let names: Vec<_> = all().iter().chain(&all_approximate()).map(|info| info.name).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
        assert!(names.iter().all(|name| {
            name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
        }));
    }

    /// Code that compares answers uses the first list. A structure that is late by design would
    /// count as wrong there.
    #[test]
    fn only_the_approximate_list_has_structures_that_are_late_by_design() {
        assert!(all().iter().all(|info| matches!(info.precision, Precision::Exact)));
        let late = all_approximate();
        let is_late = |info: &Info| matches!(info.precision, Precision::Late(_));
        assert!(!late.is_empty() && late.iter().all(is_late));
        // Its bound can be checked against an answer: 0 for no delay, otherwise less than the
        // delay.
        let delays = (0..64).map(|bit| 1_u64 << bit).chain([u64::MAX]);
        let sane = |info: &Info| delays.clone().all(|delay| info.precision.lateness(delay) < delay);
        assert!(late.iter().all(|info| info.precision.lateness(0) == 0 && sane(info)));
    }

    #[test]
    fn every_backend_counts_its_work_and_a_disabled_meter_has_no_size() {
        struct Check(usize);
        impl Visitor for Check {
            fn visit<B: Backend + 'static>(&mut self) {
                let mut timer = B::build::<u8, CountingMeter>();
                timer.insert(5, 0);
                timer.advance(9, |_| ());
                let (name, meter) = (B::INFO.name, B::meter(&timer));
                assert!(meter.is_some_and(|meter| meter.total() > 0), "{name}");
                let (counting, plain) =
                    (size_of::<B::Timer<u8, CountingMeter>>(), size_of::<B::Timer<u8, NoMeter>>());
                // Except for padding, the whole difference is the meter.
                let padding = align_of::<B::Timer<u8, NoMeter>>();
                assert!(plain + size_of::<CountingMeter>() <= counting + padding, "{name}");
                self.0 += 1;
            }
        }
        let mut check = Check(0);
        visit(&mut check);
        visit_approximate(&mut check);
        assert_eq!(check.0, all().len() + all_approximate().len());
    }
}
