//! Operation streams for timer facilities.
mod op;
mod player;

pub use op::{Measure, Op, Phase};
pub use player::{Checksum, Player};
