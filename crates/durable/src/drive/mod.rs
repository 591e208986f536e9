//! Starts, owns and stops the parts: the store, the committer, the claimer, the workers.

mod away;
mod builder;
mod durable;
mod parts;
mod shard;

pub use builder::Builder;
pub use durable::Durable;
#[cfg(feature = "sim")]
pub(crate) use parts::Parts;
