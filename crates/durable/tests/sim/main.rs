//! The simulator: it finds what it should find, and nothing else.

mod payment;
mod promises;

use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);
