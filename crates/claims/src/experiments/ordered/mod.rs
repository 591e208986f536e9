//! Heaps, trees, lists and maps: what their order costs.

mod heap_growth;
mod heap_later_insert;
mod heap_vs_rbtree;
mod heap_vs_wheel;
mod hold;
mod lazy_retention;
mod list_slice_cancel;
mod map_next_deadline;
mod rooms;
mod session_race;
mod session_ttl;
mod skip_vs_rbtree;
mod start_stop;

use crate::experiment::Experiment;

/// In the order of the report.
pub const ALL: &[Experiment] = &[
    start_stop::EXPERIMENT,
    heap_later_insert::EXPERIMENT,
    heap_growth::EXPERIMENT,
    heap_vs_wheel::EXPERIMENT,
    heap_vs_rbtree::EXPERIMENT,
    skip_vs_rbtree::EXPERIMENT,
    list_slice_cancel::EXPERIMENT,
    map_next_deadline::EXPERIMENT,
    lazy_retention::EXPERIMENT,
    session_ttl::EXPERIMENT,
];
