//! The eleven promises, one module each. Every message has the number of the promise, the expected
//! result and the observed result.
//!
//! The checks are the same for structures that are [late by
//! design](wheelhouse_core#structures-that-are-late-by-design): [`Watched`] compares each result
//! with the structure's own bound.

mod clock;
mod handles;
#[cfg(feature = "memory")]
mod memory;
mod once;
mod order;
mod overdue;
mod panics;
mod postpone;
mod range;
mod time;
mod wakeup;
mod watched;
mod work;

pub use clock::contract_06_time_does_not_run_back;
pub use handles::contract_05_stale_handles_are_harmless;
#[cfg(feature = "memory")]
pub use memory::contract_08_memory_follows_the_live_timers;
pub use once::contract_01_exactly_once;
pub use order::contract_03_order_by_deadline_then_insertion;
pub use overdue::contract_04_overdue_is_due_at_once;
pub use panics::contract_09_a_panic_loses_nothing_else;
pub use postpone::contract_03_postponed_timers_fire_on_time;
pub use range::contract_10_the_whole_range_of_u64;
pub use time::contract_02_never_early_never_late;
pub use wakeup::contract_07_wakeup_never_after_a_deadline;
pub use work::contract_11_bounded_work;

pub(crate) use watched::Watched;

/// The distances at which structures change slot, level or turn: the powers of two and 63 of 64
/// slots, at which Linux's wheel changes level, with their neighbours, up to the whole range.
fn distances() -> impl Iterator<Item = u64> {
    let powers = (0..64).map(|bit| 1_u64 << bit);
    let short_of_a_turn = (0..58).map(|bit| 63_u64 << bit);
    let around = |edge: u64| (0..3).map(move |off| edge - 1 + off);
    powers.chain(short_of_a_turn).flat_map(around).chain([u64::MAX - 1, u64::MAX])
}

/// Each start with the deadlines at all distances from it.
fn starts_and_deadlines() -> impl Iterator<Item = (u64, u64)> {
    let deadlines = |start: u64| distances().filter_map(move |it| start.checked_add(it));
    STARTS.into_iter().flat_map(move |start| deadlines(start).map(move |it| (start, it)))
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
