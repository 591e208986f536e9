//! Random sequences of operations, compared with the oracle after each step. A sequence that fails
//! is shortened to a few steps and printed as Rust code, which can be pasted into a test.

use crate::script::{Script, Step, When, run, shortest};
use crate::sized;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestError, TestRunner};
use wheelhouse_core::Tick;
use wheelhouse_core::backend::Backend;

/// The seed, unless `PROPTEST_RNG_SEED` sets another.
const SEED: u64 = 1987;

/// Plays random sequences of operations with deadlines of all scales.
pub fn property_any_sequence<B: Backend>() {
    hold(steps(200).boxed(), run::<B>);
}

/// Plays random sequences with few different deadlines, so that most timers share their deadline
/// with others and fire in order of insertion.
pub fn property_many_ties<B: Backend>() {
    hold(tied(), run::<B>);
}

/// Plays random sequences that start a few thousand ticks before `u64::MAX`.
pub fn property_end_of_time<B: Backend>() {
    hold(at_the_end(), run::<B>);
}

/// Sequences of up to `most` steps with deadlines of all scales, for your own tests.
pub fn steps(most: usize) -> BoxedStrategy<Vec<Step>> {
    proptest::collection::vec(step(any_when().boxed()), 0..=most).boxed()
}

fn tied() -> BoxedStrategy<Vec<Step>> {
    let when = prop_oneof![
        (0..4_u64).prop_map(When::In),
        (0..4_u64).prop_map(When::Ago),
        (0..2_u64).prop_map(to_edge)
    ];
    proptest::collection::vec(step(when.boxed()), 0..200).boxed()
}

fn at_the_end() -> BoxedStrategy<Vec<Step>> {
    let start = (0..5000_u64).prop_map(|left| Step::Advance(When::At(Tick::MAX - left)));
    let near = prop_oneof![
        4 => any_when(),
        2 => (0..5000_u64).prop_map(When::In),
        2 => (0..300_u64).prop_map(|left| When::At(Tick::MAX - left)),
    ];
    let steps = (start, proptest::collection::vec(step(near.boxed()), 0..200));
    steps
        .prop_map(|(start, mut steps)| {
            steps.insert(0, start);
            steps
        })
        .boxed()
}

/// A strategy for one step. The clock moves rarely enough that timers accumulate.
fn step(when: BoxedStrategy<When>) -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => when.clone().prop_map(Step::Insert),
        3 => any::<u16>().prop_map(|timer| Step::Cancel(timer % 256)),
        3 => (any::<u16>(), when.clone())
            .prop_map(|(timer, when)| Step::Reschedule(timer % 256, when)),
        2 => (any::<u16>(), when.clone())
            .prop_map(|(timer, when)| Step::Postpone(timer % 256, when)),
        2 => when.clone().prop_map(Step::Advance),
        3 => when.clone().prop_map(Step::Pop),
        1 => Just(Step::Wake),
        1 => Just(Step::Compact),
        1 => (when, 0..4_u8).prop_map(|(when, nth)| Step::Panic(when, nth)),
    ]
}

/// Ticks near `now`, at all distances, around the powers of two at which wheels change level, and
/// in the past.
fn any_when() -> impl Strategy<Value = When> {
    prop_oneof![
        6 => (0..20_u64).prop_map(When::In),
        6 => (0..1000_u64).prop_map(When::In),
        4 => (0..100_000_u64).prop_map(When::In),
        3 => (0..64_u32, 0..3_u64).prop_map(|(bit, off)| When::In((1_u64 << bit) - 1 + off)),
        3 => (0..40_u64).prop_map(to_edge),
        3 => (0..200_u64).prop_map(When::Ago),
        1 => (0..50_u64).prop_map(|left| When::At(Tick::MAX - left)),
    ]
}

/// Ticks at which a low wheel begins a new turn, counted from tick 0.
fn to_edge(n: u64) -> When {
    When::At(n * 256)
}

/// Plays sequences by `play`, which is [`run`] for a backend. This function is not generic, because
/// proptest's code would then be compiled again for each backend. That would take most of the
/// compile time of a suite.
fn hold(steps: BoxedStrategy<Vec<Step>>, play: Script) {
    let mut config = Config { failure_persistence: None, ..Config::default() };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = sized(1024, 128) as u32;
    }
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(SEED);
    }
    let outcome = TestRunner::new(config).run(&steps, |steps| {
        play(&steps).map_err(|divergence| TestCaseError::fail(divergence.to_string()))
    });
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(_, steps)) => {
            let steps = shortest(steps, play);
            let reason = play(&steps).expect_err("a script that fails once fails again");
            panic!("{reason}\nin this shortest sequence found: {steps:?}");
        }
        Err(TestError::Abort(reason)) => panic!("no sequences could be generated: {reason}"),
    }
}
