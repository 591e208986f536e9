//! The promises of structures that are [late by
//! design](wheelhouse_core#structures-that-are-late-by-design), where they differ from those of the
//! others. Each check holds every answer to the structure's own bound, by a ledger that is kept
//! beside it.

mod bound;
mod due;
mod order;
mod panics;
mod range;
mod run;
mod wakeup;
mod watched;

pub use bound::approximate_02_never_early_late_within_the_bound;
pub use due::approximate_04_overdue_is_due_at_once;
pub use order::approximate_03_order_of_what_comes_at_one_tick;
pub use panics::approximate_09_a_panic_loses_nothing_else;
pub use range::approximate_10_the_whole_range_of_u64;
pub use run::approximate_long_run;
pub use wakeup::approximate_07_wakeup_never_after_a_bound;

use super::edges;
use watched::Watched;

/// The distances at which such structures change slot or level: those of all wheels, and a slot
/// short of a turn of 64 slots, where Linux's wheel does.
fn distances() -> impl Iterator<Item = u64> {
    let short_of_a_turn = (0..58).map(|bit| 63_u64 << bit).flat_map(|edge| edge - 1..=edge + 1);
    edges().chain(short_of_a_turn)
}
