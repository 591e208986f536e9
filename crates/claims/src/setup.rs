//! The environment of an experiment: its scale, and structures by name.
//!
//! Experiments ask for structures by name, so that an experiment is data, and a test can inject a
//! [`Fault`] into a structure: another structure in its place, an operation that costs more, work
//! that is not counted. A claim that does not notice such a fault decides nothing.

use crate::count::{CountedTimer, Order};
use crate::fault::{Fault, FaultKind};
use crate::growth::{Curve, curves};
use crate::life::{mean_over_copies, start_and_stop, steps, tick_and_fire};
use std::borrow::Cow;
use std::ops::RangeInclusive;
use wheelhouse_core::backend::Backend;
use wheelhouse_core::meter::CountingMeter;
use wheelhouse_hierarchical_wheel::{HierarchicalWheel, ListWheel};
use wheelhouse_kafka_wheel::KafkaWheel;
use wheelhouse_registry::{Visitor, visit, visit_approximate};
use wheelhouse_round_wheel::RoundWheel;
use wheelhouse_single_wheel::SingleWheel;

/// The smallest and the largest n of ordered structures, as powers of two. With fewer timers too
/// many are near the root or the end.
const ORDERED: RangeInclusive<u32> = 10..=17;

/// Sizes and repetitions. An experiment that takes its sizes from an article ignores these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scale {
    /// Smallest n, as a power of two.
    pub from: u32,
    /// Largest n for constant and logarithmic operations, as a power of two.
    pub to: u32,
    /// Largest n for operations that visit all timers, as a power of two.
    pub to_linear: u32,
    /// Each seed is a repetition with other random numbers.
    pub seeds: Cow<'static, [u64]>,
}

impl Scale {
    /// The scale of the report: n = 2^10 to 2^20, 2^14 for linear operations, five seeds.
    pub const WHOLE: Self = Self { from: 10, to: 20, to_linear: 14, seeds: SEEDS };
    /// The scale of the tests: the same outcomes in seconds.
    pub const REDUCED: Self = Self { from: 8, to: 13, to_linear: 11, seeds: SEEDS };

    /// The same sizes with other seeds.
    #[must_use]
    pub fn seeded(self, seeds: impl Into<Vec<u64>>) -> Self {
        Self { seeds: Cow::Owned(seeds.into()), ..self }
    }

    /// The sizes, each twice the one before.
    pub fn sizes(&self) -> Vec<u64> {
        powers(self.from, self.to)
    }

    /// The sizes for operations that visit all timers.
    pub fn linear_sizes(&self) -> Vec<u64> {
        powers(self.from, self.to_linear)
    }

    /// The largest n.
    pub fn largest(&self) -> u64 {
        1 << self.to
    }

    /// The seeds.
    pub fn seeds(&self) -> impl Iterator<Item = u64> + Clone + use<'_> {
        self.seeds.iter().copied()
    }
}

const SEEDS: Cow<'static, [u64]> = Cow::Borrowed(&[1, 2, 3, 4, 5]);

/// 2^from, 2^(from+1) .. 2^to.
pub(crate) fn powers(from: u32, to: u32) -> Vec<u64> {
    (from..=to).map(|bits| 1 << bits).collect()
}

/// The scale of an experiment and its structures.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Sizes and seeds.
    pub scale: Scale,
    /// The faults that are injected into structures.
    pub faults: Vec<Fault>,
}

impl Setup {
    /// A setup without faults.
    pub fn new(scale: &Scale) -> Self {
        Self { scale: scale.clone(), faults: Vec::new() }
    }

    /// A structure in its default configuration.
    ///
    /// # Panics
    ///
    /// If no structure has this name.
    pub fn build(&self, name: &str) -> CountedTimer {
        self.with_faults(name, || default_structure(name))
    }

    /// A wheel with this number of slots, on each level if it has levels.
    ///
    /// # Panics
    ///
    /// If no wheel has this name, or it does not accept this number of slots.
    pub fn build_with_slots(&self, name: &str, slots: u64) -> CountedTimer {
        self.with_faults(name, || structure_with_slots(name, slots as usize))
    }

    fn with_faults(&self, name: &str, build: impl FnOnce() -> CountedTimer) -> CountedTimer {
        let faults = self.faults.iter().filter(|fault| fault.name == name);
        let faults: Vec<_> = faults.map(|fault| fault.kind).collect();
        let replaced = faults.iter().find_map(|kind| match kind {
            FaultKind::Replaced(by) => Some(default_structure(by)),
            _ => None,
        });
        replaced.unwrap_or_else(build).with_faults(faults)
    }

    /// Runs a scenario on every structure that accepts this number of timers, and returns its
    /// result with the name of the structure. Each structure is empty and at tick 0.
    pub fn on_each_structure<R>(
        &self,
        timers: u64,
        mut scenario: impl FnMut(&mut CountedTimer) -> R,
    ) -> Vec<(&'static str, R)> {
        let all = wheelhouse_registry::all().into_iter();
        let fit = all.filter(|info| timers <= u64::from(info.max_timers));
        fit.map(|info| (info.name, scenario(&mut self.build(info.name)))).collect()
    }

    /// Measures a cost at each size, for each seed.
    pub fn curve(&self, sizes: &[u64], cost: impl FnMut(u64, u64) -> f64) -> Curve {
        Curve::sweep(sizes, self.scale.seeds(), cost)
    }

    /// Measures several costs in the same runs, at each size and for each seed.
    pub fn curves<const K: usize>(
        &self,
        sizes: &[u64],
        costs: impl FnMut(u64, u64) -> [f64; K],
    ) -> [Curve; K] {
        curves(sizes, self.scale.seeds(), costs)
    }

    /// The mean steps to start, to stop and to fire one of n timers of a structure, at each size.
    pub(crate) fn life(&self, name: &str, order: Order, sizes: &[u64]) -> [Curve; 3] {
        self.curves(sizes, |n, seed| {
            mean_over_copies(n, seed, |seed| {
                let deadlines = order.delays(n, seed);
                let [start, stop] = start_and_stop(self.build(name), &deadlines, seed, &steps);
                let [_, fire] = tick_and_fire(self.build(name), &deadlines, 0, &steps);
                [start, stop, fire]
            })
        })
    }

    /// The sizes of the scale up to `most`.
    pub fn sizes_to(&self, most: u64) -> Vec<u64> {
        self.scale.sizes().into_iter().filter(|n| *n <= most).collect()
    }

    /// The sizes for ordered structures: as many as usual, between 2^10 and 2^17.
    pub fn ordered_sizes(&self) -> Vec<u64> {
        let up = ORDERED.start().saturating_sub(self.scale.from);
        powers(self.scale.from + up, (self.scale.to + up).min(*ORDERED.end()))
    }
}

struct FindByName<'a>(&'a str, Option<CountedTimer>);

impl Visitor for FindByName<'_> {
    fn visit<B: Backend + 'static>(&mut self) {
        if B::INFO.name == self.0 {
            self.1 = Some(CountedTimer::of::<B>());
        }
    }
}

fn default_structure(name: &str) -> CountedTimer {
    let mut found = FindByName(name, None);
    visit(&mut found);
    visit_approximate(&mut found);
    found.1.unwrap_or_else(|| panic!("no structure is called '{name}'"))
}

fn structure_with_slots(name: &str, slots: usize) -> CountedTimer {
    /// Builds a wheel, whose number of slots this method of its builder sets.
    macro_rules! wheel {
        ($wheel:ident, $slots:ident) => {{
            let meter = CountingMeter::default();
            let wheel = $wheel::builder().$slots(slots).meter(meter.clone()).build();
            let wheel = wheel.expect("experiments ask for numbers of slots that the wheels take");
            CountedTimer::new(wheel, meter)
        }};
    }
    match name {
        "single-wheel" => wheel!(SingleWheel, slots),
        "round-wheel" => wheel!(RoundWheel, slots),
        "list-wheel" => wheel!(ListWheel, slots_per_level),
        "hierarchical-wheel" => wheel!(HierarchicalWheel, slots_per_level),
        "kafka-wheel" => wheel!(KafkaWheel, slots),
        other => panic!("{other} has no number of slots"),
    }
}
