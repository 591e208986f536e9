//! `wheelhouse durable backup` and `restore`: copies of a SQLite file.

use super::place::{LIVE, ensure_exists, failure};
use anyhow::{Result, ensure};
use std::path::Path;
use wheelhouse_present::console::say;
use wheelhouse_store_sqlite::SqliteStore;

pub(super) fn backup(file: &Path, to: &Path) -> Result<()> {
    is_file(file, LIVE)?;
    let copied = SqliteStore::open_to_read(file).and_then(|store| store.backup(to));
    copied.map_err(|error| failure(&file.display().to_string(), error))?;
    say(format_args!("{}: copied to {}", file.display(), to.display()));
    Ok(())
}

pub(super) fn restore(from: &Path, file: &Path) -> Result<()> {
    is_file(from, "the copy")?;
    let replaced = SqliteStore::restore(from, file)
        .map_err(|error| failure(&file.display().to_string(), error))?;
    say(format_args!("{}: restored from {}", file.display(), from.display()));
    if let Some(replaced) = replaced {
        say(format_args!("the previous file is now {}", replaced.display()));
    }
    Ok(())
}

/// Checks that there is a file. If not, the error says to name `what`.
fn is_file(path: &Path, what: &str) -> Result<()> {
    let url = path.to_str().is_some_and(|path| path.contains("://"));
    ensure!(!url, "{} is a server: use its own tools to copy it", path.display());
    ensure_exists(path, what)
}
