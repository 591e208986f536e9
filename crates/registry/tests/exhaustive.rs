//! Every short sequence of calls on every backend, compared with the oracle.
//!
//! The wheels are also played with 2 and 4 slots, so that a few calls reach several levels.
//! `--nocapture` shows how many sequences were played. `--include-ignored` plays sequences that are
//! one call longer.

use std::time::Instant;
use wheelhouse_conformance::{BORDERS, exhaustive};
use wheelhouse_core::backend::Backend;
use wheelhouse_core::meter::NoMeter;
use wheelhouse_core::{Tick, Timer};

/// The length of sequences in every test run.
const SHORT: usize = if cfg!(debug_assertions) { 3 } else { 4 };

/// The length of sequences in the ignored test.
const LONG: usize = 5;

/// A clock that starts at the first tick.
const FIRST: Tick = 0;

/// A clock that starts shortly before a tick at which 16 levels of a wheel with two slots turn.
const BORDER: Tick = (1 << 16) - 3;

/// A clock that starts shortly before the last tick.
const LAST: Tick = Tick::MAX - 21;

fn play<T: Timer<u64> + Clone>(what: &str, make: impl Fn() -> T, calls: usize) {
    let start = Instant::now();
    let played = exhaustive(make, BORDERS, calls);
    println!("{what}: {played} sequences of up to {calls} calls in {:.1?}", start.elapsed());
}

/// Each backend in its default configuration. A wheel with thousands of slots takes long to clone,
/// so its sequences are one call shorter.
fn play_defaults(calls: usize) {
    macro_rules! defaults {
        ($($backend:ty,)+) => {
            $({
                let name = <$backend as Backend>::INFO.name;
                let is_wide = ["round-wheel", "single-wheel", "hashed-wheel"].contains(&name);
                let calls = if is_wide { calls - 1 } else { calls };
                play(name, <$backend as Backend>::build::<u64, NoMeter>, calls);
            })+
        };
    }
    wheelhouse_registry::for_each_backend!(defaults);
}

/// Each wheel with 2 and with 4 slots.
fn play_wheels(start: Tick, calls: usize) {
    macro_rules! wheels {
        ($($wheel:ty: $set_slots:ident,)+) => {
            $(for slots in [2, 4] {
                let builder = || <$wheel>::builder().$set_slots(slots).start(start);
                let make = || builder().build().expect("a wheel has 2 slots or more");
                let name = stringify!($wheel).rsplit("::").next().unwrap_or_default();
                play(&format!("{name} with {slots} slots from {start}"), make, calls);
            })+
        };
    }
    wheels! {
        wheelhouse_hierarchical_wheel::HierarchicalWheel<u64>: slots_per_level,
        wheelhouse_hierarchical_wheel::ListWheel<u64>: slots_per_level,
        wheelhouse_kafka_wheel::KafkaWheel<u64>: slots,
        wheelhouse_round_wheel::RoundWheel<u64>: slots,
        wheelhouse_single_wheel::SingleWheel<u64>: slots,
        wheelhouse_hashed_wheel::HashedWheel<u64>: slots,
    }
}

#[test]
fn every_backend_has_the_oracles_answers() {
    play_defaults(SHORT);
}

#[test]
fn small_wheels_are_right_from_the_first_tick() {
    play_wheels(FIRST, SHORT);
}

#[test]
fn small_wheels_are_right_from_before_a_border() {
    play_wheels(BORDER, SHORT);
}

#[test]
fn small_wheels_are_right_from_before_the_last_tick() {
    play_wheels(LAST, SHORT);
}

#[test]
#[ignore = "takes more than ten minutes in a release build: run it by hand"]
fn sequences_of_one_more_call_are_right() {
    play_defaults(LONG);
    for start in [FIRST, BORDER, LAST] {
        play_wheels(start, LONG);
    }
}
