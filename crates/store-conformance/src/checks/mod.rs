//! The checks, grouped by subject.

mod begin;
mod claim;
mod put;
mod states;
mod whole;

pub use begin::*;
pub use claim::*;
pub use put::*;
pub use states::*;
pub use whole::*;
