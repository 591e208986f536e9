//! The promises of structures that are [late by
//! design](wheelhouse_core#structures-that-are-late-by-design), if they differ from those of exact
//! structures. Each check compares every result with the structure's own bound, using a separate
//! record of all timers.

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

/// The distances at which such structures change slot or level: those of all wheels, and 63 of 64
/// slots, at which Linux's wheel changes level.
fn distances() -> impl Iterator<Item = u64> {
    let short_of_a_turn = (0..58).map(|bit| 63_u64 << bit).flat_map(|edge| edge - 1..=edge + 1);
    edges().chain(short_of_a_turn)
}
