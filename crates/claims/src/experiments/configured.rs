//! The wheels of this workspace, each with as many slots as an experiment asks for.

use crate::count::{AnyTimer, Probe};
use wheelhouse_core::Tick;
use wheelhouse_core::meter::CountingMeter;
use wheelhouse_hashed_wheel::HashedWheel;
use wheelhouse_hierarchical_wheel::HierarchicalWheel;
use wheelhouse_kafka_wheel::KafkaWheel;
use wheelhouse_list_wheel::ListWheel;
use wheelhouse_round_wheel::RoundWheel;
use wheelhouse_single_wheel::SingleWheel;

const VALID: &str = "the experiments ask for numbers of slots that the wheels take";

/// One wheel, a tick a slot.
pub(super) fn single_wheel(slots: usize) -> Probe<SingleWheel<u64, CountingMeter>> {
    let wheel = SingleWheel::builder().slots(slots).meter(CountingMeter::default()).build();
    Probe::new(wheel.expect(VALID), SingleWheel::meter)
}

/// One wheel with sorted slots.
pub(super) fn hashed_wheel(slots: usize) -> Probe<AnyTimer> {
    let wheel = HashedWheel::builder().slots(slots).meter(CountingMeter::default()).build();
    Probe::new(wheel.expect(VALID), HashedWheel::meter).any()
}

/// One wheel with rounds.
pub(super) fn round_wheel(slots: usize) -> Probe<AnyTimer> {
    let wheel = RoundWheel::builder().slots(slots).meter(CountingMeter::default()).build();
    Probe::new(wheel.expect(VALID), RoundWheel::meter).any()
}

/// Levels of so many slots each, all made at the start.
pub(super) fn hierarchical_wheel(slots: usize, start: Tick) -> Probe<AnyTimer> {
    let wheel = HierarchicalWheel::builder()
        .slots_per_level(slots)
        .start(start)
        .meter(CountingMeter::default())
        .build();
    Probe::new(wheel.expect(VALID), HierarchicalWheel::meter).any()
}

/// The same as the articles have them: a list in each slot, which cascades as a whole.
pub(super) fn list_wheel(slots: usize, start: Tick) -> Probe<AnyTimer> {
    let builder = ListWheel::builder().slots_per_level(slots).start(start);
    let wheel = builder.meter(CountingMeter::default()).build();
    Probe::new(wheel.expect(VALID), ListWheel::meter).any()
}

/// Levels of so many slots each, made on demand, driven by a queue of slots.
pub(super) fn kafka_wheel(slots: usize, start: Tick) -> Probe<KafkaWheel<u64, CountingMeter>> {
    let wheel =
        KafkaWheel::builder().slots(slots).start(start).meter(CountingMeter::default()).build();
    Probe::new(wheel.expect(VALID), KafkaWheel::meter)
}
