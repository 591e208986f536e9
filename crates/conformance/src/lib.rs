//! The contract as a test suite.
mod oracle;
pub use oracle::Oracle;
