//! `Durable::open`.

use crate::SqliteStore;
use std::path::Path;
use wheelhouse_durable::{Durable, Handlers, StartError};

/// Opens durable timers on a file. A trait of this crate, so that those who keep their jobs
/// elsewhere need not compile SQLite.
pub trait DurableExt: Sized {
    /// Opens the file, or makes it, and starts with the defaults of a
    /// [`Builder`](wheelhouse_durable::Builder). What is due since before runs now.
    ///
    /// # Errors
    ///
    /// Those of [`SqliteStore::open`] and of [`Durable::start`].
    fn open(path: impl AsRef<Path>, handlers: Handlers) -> Result<Self, StartError>;
}

impl DurableExt for Durable {
    fn open(path: impl AsRef<Path>, handlers: Handlers) -> Result<Self, StartError> {
        Self::start(SqliteStore::open(path)?, handlers)
    }
}
