#![doc = include_str!("../README.md")]

mod check;
mod cpu;
mod distribution;
pub mod experiments;
pub mod facilities;
pub mod facility;
mod glance;
mod job_work;
pub mod ledger;
pub mod load;
pub mod options;
mod pace;
mod targets;
