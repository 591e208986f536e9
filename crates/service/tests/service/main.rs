//! The integration tests of the service, in one program. Each file is a module. To run one of them:
//! `cargo test -p wheelhouse-service --test service stopping::`.

mod async_jobs;
mod calendar;
mod common;
#[cfg(feature = "cron")]
mod cron;
#[cfg(feature = "cron")]
mod cron_lines;
mod draining;
mod driving;
mod examples;
mod faults;
mod futures;
mod keys;
mod limits;
mod memory;
mod metrics;
mod model;
mod outcomes;
mod pause;
mod retry;
mod scheduling;
mod scripts;
mod stopping;
mod stress;
mod threads;
#[cfg(feature = "tracing")]
mod tracing;
