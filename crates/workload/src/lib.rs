//! Operation streams for timer facilities.
mod catalogue;
mod definition;
mod delay;
pub mod kernel;
mod op;
mod patterns;
mod player;
mod queue;
mod random;
mod script;
pub mod trace;

pub use definition::{MAX_TIMERS, Messages, Pattern, Period, Tcp, UnknownWorkload, Workload, all, find};
pub use delay::Delay;
pub use op::{Measure, Op, Phase};
pub use player::{Checksum, Player};
