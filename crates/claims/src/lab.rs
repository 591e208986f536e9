//! What an experiment works with: how much it does, and structures by their names.
//!
//! A structure is asked for by name, so that an experiment is data, and so that a test can put a
//! [`Fault`] into it: another structure in its place, an operation that costs more, work that is
//! not counted. A claim that does not notice a fault in what it is about is worth nothing.

use crate::Scale;
use crate::count::{AnyTimer, Probe};
use crate::fault::{Fault, Faulty};
use crate::growth::{Curve, curves};
use crate::scale::powers;
use wheelhouse_core::backend::Backend;
use wheelhouse_core::meter::CountingMeter;
use wheelhouse_hashed_wheel::HashedWheel;
use wheelhouse_hierarchical_wheel::HierarchicalWheel;
use wheelhouse_hierarchical_wheel::ListWheel;
use wheelhouse_kafka_wheel::KafkaWheel;
use wheelhouse_registry::{Visitor, visit, visit_approximate};
use wheelhouse_round_wheel::RoundWheel;
use wheelhouse_single_wheel::SingleWheel;

/// The smallest n of structures in order, as a power of two: in smaller ones much is near the root,
/// or the end.
const LEAST: u32 = 10;

/// What came of a scenario, by the name of the structure.
pub type Outcomes<R> = Vec<(&'static str, R)>;

/// The means of an experiment.
#[derive(Clone, Debug)]
pub struct Lab {
    /// How much it does.
    pub scale: Scale,
    /// What is wrong with its structures.
    pub faults: Vec<Fault>,
}

impl Lab {
    /// Sound structures.
    pub fn new(scale: &Scale) -> Self {
        Self { scale: scale.clone(), faults: Vec::new() }
    }

    /// A structure in its default configuration.
    ///
    /// # Panics
    ///
    /// If no structure has this name.
    pub fn make(&self, name: &str) -> Probe<AnyTimer> {
        self.built(name, || build(name))
    }

    /// A wheel with this number of slots, or slots a level.
    ///
    /// # Panics
    ///
    /// If no wheel has this name, or it does not take this number of slots.
    pub fn slots(&self, name: &str, slots: u64) -> Probe<AnyTimer> {
        self.built(name, || configured(name, slots as usize))
    }

    fn built(&self, name: &str, build_it: impl FnOnce() -> Probe<AnyTimer>) -> Probe<AnyTimer> {
        let replaced = self.faults.iter().find_map(|fault| fault.replacement(name));
        let probe = replaced.map_or_else(build_it, build);
        let faults = self.faults.iter().filter(|fault| fault.is_in(name));
        faults.fold(probe, |probe, fault| Faulty::put_into(probe, *fault))
    }

    /// Runs a scenario of so many timers on every structure that takes as many, each empty and at
    /// tick 0.
    pub fn each<R>(
        &self,
        timers: u64,
        mut scenario: impl FnMut(&mut AnyTimer) -> R,
    ) -> Outcomes<R> {
        let all = wheelhouse_registry::all().into_iter();
        let fit = all.filter(|info| timers <= u64::from(info.max_timers));
        fit.map(|info| (info.name, scenario(&mut self.make(info.name).timer))).collect()
    }

    /// The seeds.
    pub fn seeds(&self) -> impl Iterator<Item = u64> + Clone + use<'_> {
        self.scale.seeds()
    }

    /// A cost at each size, for each seed.
    pub fn curve(&self, sizes: &[u64], cost: impl FnMut(u64, u64) -> f64) -> Curve {
        Curve::sweep(sizes, self.seeds(), cost)
    }

    /// Several costs of one run, at each size and for each seed.
    pub fn curves<const K: usize>(
        &self,
        sizes: &[u64],
        costs: impl FnMut(u64, u64) -> [f64; K],
    ) -> [Curve; K] {
        curves(sizes, self.seeds(), costs)
    }

    /// The sizes of the scale up to a number.
    pub fn sizes_to(&self, most: u64) -> Vec<u64> {
        self.scale.sizes().into_iter().filter(|n| *n <= most).collect()
    }

    /// The sizes for structures in order: as many, the least at least 2^10.
    pub fn ordered_sizes(&self) -> Vec<u64> {
        let up = LEAST.saturating_sub(self.scale.from);
        powers(self.scale.from + up, self.scale.to + up)
    }
}

struct Named<'a>(&'a str, Option<Probe<AnyTimer>>);

impl Visitor for Named<'_> {
    fn visit<B: Backend + 'static>(&mut self) {
        if B::INFO.name == self.0 {
            self.1 = Some(Probe::of::<B>());
        }
    }
}

fn build(name: &str) -> Probe<AnyTimer> {
    let mut named = Named(name, None);
    visit(&mut named);
    visit_approximate(&mut named);
    named.1.unwrap_or_else(|| panic!("no structure is called '{name}'"))
}

fn configured(name: &str, slots: usize) -> Probe<AnyTimer> {
    const VALID: &str = "the experiments ask for numbers of slots that the wheels take";
    let meter = CountingMeter::default;
    match name {
        "single-wheel" => {
            let wheel = SingleWheel::builder().slots(slots).meter(meter()).build();
            Probe::new(wheel.expect(VALID), SingleWheel::meter).any()
        }
        "hashed-wheel" => {
            let wheel = HashedWheel::builder().slots(slots).meter(meter()).build();
            Probe::new(wheel.expect(VALID), HashedWheel::meter).any()
        }
        "round-wheel" => {
            let wheel = RoundWheel::builder().slots(slots).meter(meter()).build();
            Probe::new(wheel.expect(VALID), RoundWheel::meter).any()
        }
        "list-wheel" => {
            let wheel = ListWheel::builder().slots_per_level(slots);
            Probe::new(wheel.meter(meter()).build().expect(VALID), ListWheel::meter).any()
        }
        "hierarchical-wheel" => {
            let wheel = HierarchicalWheel::builder().slots_per_level(slots);
            Probe::new(wheel.meter(meter()).build().expect(VALID), HierarchicalWheel::meter).any()
        }
        "kafka-wheel" => {
            let wheel = KafkaWheel::builder().slots(slots);
            Probe::new(wheel.meter(meter()).build().expect(VALID), KafkaWheel::meter).any()
        }
        other => panic!("{other} has no number of slots"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wheelhouse_core::Timer;

    #[test]
    fn every_structure_of_the_registry_is_asked_if_it_takes_as_many() {
        let lab = Lab::new(&Scale::REDUCED);
        let names: Vec<_> = lab.each(1, |_| ()).into_iter().map(|(name, ())| name).collect();
        let all: Vec<_> = wheelhouse_registry::all().iter().map(|info| info.name).collect();
        assert_eq!(names, all);
        assert!(lab.each(u64::MAX, |_| ()).is_empty());
    }

    #[test]
    fn a_wheel_has_the_slots_that_were_asked_for() {
        let lab = Lab::new(&Scale::REDUCED);
        let wakes = |slots, deadline| {
            let mut probe = lab.slots("list-wheel", slots);
            probe.fill([deadline]);
            probe.timer.next_wakeup()
        };
        assert_eq!((wakes(8, 12), wakes(16, 12)), (Some(8), Some(12)));
    }
}
