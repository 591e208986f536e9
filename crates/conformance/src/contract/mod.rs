//! The eleven promises, one module each. Every message has the number of the promise, the expected
//! result and the observed result.

mod approximate;
mod clock;
mod exact;
mod handles;
#[cfg(feature = "memory")]
mod memory;
mod once;
mod order;
mod overdue;
mod panics;
mod postpone;
mod range;
mod wakeup;
mod work;

pub use approximate::{
    approximate_02_never_early_late_within_the_bound,
    approximate_03_order_of_what_comes_at_one_tick, approximate_04_overdue_is_due_at_once,
    approximate_07_wakeup_never_after_a_bound, approximate_09_a_panic_loses_nothing_else,
    approximate_10_the_whole_range_of_u64, approximate_long_run,
};
pub use clock::contract_06_time_does_not_run_back;
pub use exact::contract_02_never_early_never_late;
pub use handles::contract_05_stale_handles_are_harmless;
#[cfg(feature = "memory")]
pub use memory::contract_08_memory_follows_the_live_timers;
pub use once::contract_01_exactly_once;
pub use order::contract_03_order_by_deadline_then_insertion;
pub use overdue::contract_04_overdue_is_due_at_once;
pub use panics::contract_09_a_panic_loses_nothing_else;
pub use postpone::contract_03_postponed_timers_fire_on_time;
pub use range::contract_10_the_whole_range_of_u64;
pub use wakeup::contract_07_wakeup_never_after_a_deadline;
pub use work::contract_11_bounded_work;

/// The distances at which wheels of any size change slot, level or turn: the powers of two and
/// their neighbours, up to the whole range.
fn edges() -> impl Iterator<Item = u64> {
    let around = |bit: u32| (0..3).map(move |off| (1_u64 << bit) - 1 + off);
    (0..64).flat_map(around).chain([u64::MAX - 1, u64::MAX])
}

/// Start ticks whose digits matter to wheels: zero, just before and after a turn, and others.
const STARTS: [u64; 12] = [
    0,
    1,
    7,
    63,
    64,
    255,
    256,
    1_000,
    (1 << 16) - 1,
    1_234_567,
    (1 << 32) - 1,
    0x0123_4567_89ab_cdef,
];
