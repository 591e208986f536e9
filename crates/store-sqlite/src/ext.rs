//! `Durable::open`.

use crate::SqliteStore;
use std::path::Path;
use wheelhouse_durable::{Durable, Handlers, StartError};

/// Opens durable timers on a file. It is a trait of this crate, so that programs with other stores
/// need not compile SQLite.
pub trait DurableExt: Sized {
    /// Opens or creates the file, and starts the timers with the defaults of a
    /// [`Builder`](wheelhouse_durable::Builder). Overdue jobs run now.
    ///
    /// # Errors
    ///
    /// The errors of [`SqliteStore::open`] and [`Durable::start`].
    fn open(path: impl AsRef<Path>, handlers: Handlers) -> Result<Self, StartError>;
}

impl DurableExt for Durable {
    fn open(path: impl AsRef<Path>, handlers: Handlers) -> Result<Self, StartError> {
        Self::start(SqliteStore::open(path)?, handlers)
    }
}
