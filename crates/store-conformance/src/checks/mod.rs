//! The checks, grouped by subject.

mod begin;
mod claim;
mod end;
mod put;
mod running;
mod whole;

pub use begin::*;
pub use claim::*;
pub use end::*;
pub use put::*;
pub use running::*;
pub use whole::*;
