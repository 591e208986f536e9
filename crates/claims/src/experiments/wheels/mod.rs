//! Wheels: what their slots, levels and queues cost.

mod bottom_slot_due;
mod bucket_queue_ops;
mod cascade_counts;
mod driver_wakeups;
mod flat_wheel_span;
mod hierarchy;
mod operations;
mod ours;
mod overflow_on_demand;
mod round_wheel_visits;
mod rounds_vs_levels;
mod wheel_op_costs;
mod wheel_space_and_cancel;

use crate::experiment::Experiment;

/// In the order of the report.
pub const ALL: &[Experiment] = &[
    flat_wheel_span::EXPERIMENT,
    wheel_op_costs::EXPERIMENT,
    wheel_space_and_cancel::EXPERIMENT,
    round_wheel_visits::EXPERIMENT,
    rounds_vs_levels::EXPERIMENT,
    cascade_counts::EXPERIMENT,
    bottom_slot_due::EXPERIMENT,
    overflow_on_demand::EXPERIMENT,
    bucket_queue_ops::EXPERIMENT,
    driver_wakeups::EXPERIMENT,
];
