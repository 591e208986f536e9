//! The literature: Varghese and Lauck's table of costs, and the measurements behind Kafka's, Netty's and Linux's designs.

mod cascades;
mod cost_table;
mod crossover;
mod hash_variance;
mod idle_ticks;
mod linux_lateness;
pub(super) mod linux_model;
mod netty_cap;
mod per_tick;
mod purgatory;
pub(super) mod rounds;
mod schemes;
mod sorted_insertion;
pub(super) mod tools;
mod unbalanced;
mod worst_cases;

use crate::experiment::Experiment;

/// In the order of the report.
pub const ALL: &[Experiment] = &[
    cost_table::EXPERIMENT,
    sorted_insertion::EXPERIMENT,
    per_tick::EXPERIMENT,
    hash_variance::EXPERIMENT,
    crossover::EXPERIMENT,
    cascades::EXPERIMENT,
    purgatory::EXPERIMENT,
    netty_cap::EXPERIMENT,
    linux_lateness::EXPERIMENT,
];
