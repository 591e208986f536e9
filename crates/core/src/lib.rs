#![doc = include_str!("../README.md")]
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]

extern crate alloc;

pub mod arena;
pub mod backend;
mod builder;
pub mod hash;
mod id;
pub mod linked;
pub mod lists;
pub mod meter;
pub mod occupied;
pub mod ordered;
pub mod overdue;
pub mod segments;
mod slots;
pub mod stack;
mod timer;

pub use id::TimerId;
pub use slots::{ConfigError, SlotCount};
pub use timer::{Expired, Tick, Timer, fire_due};
