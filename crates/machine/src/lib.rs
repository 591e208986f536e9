#![doc = include_str!("../README.md")]

pub mod allocator;
pub mod callgrind;
pub mod clock;
pub mod interrupt;
pub mod processor;
pub mod provenance;
