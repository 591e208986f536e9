//! Checks that every backend gives the oracle's answers, for a script decoded from any bytes. A
//! failure prints the shortest script that reproduces it, as Rust code for a test.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wheelhouse_conformance::script::{Step, decode, minimise, run};
use wheelhouse_core::backend::{Backend, Info};
use wheelhouse_core::meter::Meter;
use wheelhouse_hierarchical_wheel::HierarchicalWheel;
use wheelhouse_registry::{Visitor, visit};
use wheelhouse_round_wheel::RoundWheel;

fuzz_target!(|bytes: &[u8]| {
    let steps = decode(bytes);
    let mut check = Check(&steps);
    visit(&mut check);
    check.visit::<SmallHierarchy<2>>();
    check.visit::<SmallHierarchy<8>>();
    check.visit::<SmallRound<2>>();
    check.visit::<SmallRound<64>>();
});

struct Check<'a>(&'a [Step]);

impl Visitor for Check<'_> {
    fn visit<B: Backend + 'static>(&mut self) {
        if run::<B>(self.0).is_ok() {
            return;
        }
        let steps = minimise::<B>(self.0.to_vec());
        match run::<B>(&steps) {
            Err(divergence) => panic!("{}: {divergence}\nin {steps:?}", B::INFO.name),
            Ok(()) => panic!("{}: the failure does not repeat, in {:?}", B::INFO.name, self.0),
        }
    }
}

/// A hierarchy with few slots per level, so that a short script passes many levels and laps.
struct SmallHierarchy<const SLOTS: usize>;

impl<const SLOTS: usize> Backend for SmallHierarchy<SLOTS> {
    const INFO: Info = Info {
        name: "hierarchical-wheel with few slots",
        max_idle_wakeups: 64_u32.div_ceil(SLOTS.ilog2()) - 1,
        ..wheelhouse_hierarchical_wheel::Definition::INFO
    };

    type Timer<T, M: Meter> = HierarchicalWheel<T, M>;

    fn build<T, M: Meter + Default>() -> HierarchicalWheel<T, M> {
        let builder = HierarchicalWheel::builder().slots_per_level(SLOTS).meter(M::default());
        builder.build().expect("a power of two")
    }

    fn meter<T, M: Meter>(timer: &HierarchicalWheel<T, M>) -> Option<&M> {
        Some(timer.meter())
    }
}

/// A wheel with few slots, so that a short script passes many rounds.
struct SmallRound<const SLOTS: usize>;

impl<const SLOTS: usize> Backend for SmallRound<SLOTS> {
    const INFO: Info =
        Info { name: "round-wheel with few slots", ..wheelhouse_round_wheel::Definition::INFO };

    type Timer<T, M: Meter> = RoundWheel<T, M>;

    fn build<T, M: Meter + Default>() -> RoundWheel<T, M> {
        RoundWheel::builder().slots(SLOTS).meter(M::default()).build().expect("a power of two")
    }

    fn meter<T, M: Meter>(timer: &RoundWheel<T, M>) -> Option<&M> {
        Some(timer.meter())
    }
}
