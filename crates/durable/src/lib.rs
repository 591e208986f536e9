//! Timers that survive a crash and a restart.

pub mod store;
