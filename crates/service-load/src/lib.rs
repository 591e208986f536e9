#![doc = include_str!("../README.md")]

mod check;
pub mod experiments;
pub mod facilities;
pub mod facility;
mod figures;
mod glance;
pub mod ledger;
pub mod load;
pub mod options;
mod targets;
