#![doc = include_str!("../README.md")]
#![no_std]

extern crate alloc;

mod bitmap;
mod builder;
mod definition;
mod hints;
mod large;
pub mod list;
mod nodes;
mod timer;
mod wheel;

pub use builder::Builder;
pub use definition::Definition;
pub use list::ListWheel;
pub use wheel::Wheel;
use wheelhouse_core::meter::NoMeter;
pub use wheelhouse_core::{
    CapacityError, Expired, SlotCountError, Tick, Timer, TimerId, WheelError,
};

/// The default wheel. It is the textbook wheel until its 32,769th live timer. From then on, no tick
/// moves many timers, with two exceptions: the [crate documentation](crate#cost) lists the costs.
///
/// Timers fire in order of (deadline, insertion). A handle may be kept for ever: see [`TimerId`].
pub type HierarchicalWheel<T, M = NoMeter> = Wheel<T, M, true>;
