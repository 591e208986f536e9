//! Clocks, drivers, rounding and calendars: models of what the articles describe, beside ours.
//!
//! The models of printed code, on which the [bugs](super::bugs) and [examples](super::examples) stand too: `circles` is S0's wheel, `laps` three ways to count
//! rounds, `submissions` Netty's worker. `structures` runs a scenario on all of ours, and `checks` sets what was
//! found beside what is stated.

mod absolute_relative;
mod bucket_queue_clock;
mod calendar_wheels;
pub(super) mod checks;
pub(super) mod circles;
mod failing_callbacks;
mod hierarchy_span;
mod kafka_arithmetic;
mod lap_conventions;
pub(super) mod laps;
mod manager_scenario;
mod number_of_runs;
mod periodic_reinsert;
mod printed_conditions;
pub(super) mod rounding_direction;
mod serial_callbacks;
mod sleep_loop_drift;
pub(super) mod structures;
pub(super) mod submissions;
mod submit_order;

use crate::experiment::Experiment;

/// In the order of the report.
pub const ALL: &[Experiment] = &[
    rounding_direction::EXPERIMENT,
    hierarchy_span::EXPERIMENT,
    lap_conventions::EXPERIMENT,
    submit_order::EXPERIMENT,
    absolute_relative::EXPERIMENT,
    periodic_reinsert::EXPERIMENT,
    manager_scenario::EXPERIMENT,
    calendar_wheels::EXPERIMENT,
    kafka_arithmetic::EXPERIMENT,
    bucket_queue_clock::EXPERIMENT,
    serial_callbacks::EXPERIMENT,
    sleep_loop_drift::EXPERIMENT,
    failing_callbacks::EXPERIMENT,
    printed_conditions::EXPERIMENT,
    number_of_runs::EXPERIMENT,
];
