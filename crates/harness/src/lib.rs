//! Verifies, measures and compares timer facilities.
pub mod model;
