//! The checks, by what they are about.

mod claim;
mod end;
mod put;
mod running;
mod whole;

pub use claim::*;
pub use end::*;
pub use put::*;
pub use running::*;
pub use whole::*;
