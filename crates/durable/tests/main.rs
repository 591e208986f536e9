//! The tests of the crate, in one program.

mod async_handlers;
mod beginning;
mod commits;
mod common;
mod driving;
mod faults;
mod hostile;
mod lanes;
mod long_runs;
mod metrics;
mod operators;
mod periodic;
mod promises;
mod shards;
