//! The tables of format 2, and the check whether a file has them.

use crate::commit::transaction;
use crate::error::store_error;
use rusqlite::Connection;
use rusqlite::config::DbConfig;
use wheelhouse_durable::store::StoreError;

/// The newest known format, in `user_version`.
pub(crate) const FORMAT: u32 = 2;

/// The `application_id` of a store's file: `whel`, as `file` and SQLite's tools show it.
const APPLICATION: u32 = u32::from_be_bytes(*b"whel");

/// The jobs. `generation` is the row number of SQLite: jobs that were scheduled together are on the
/// same pages, whatever their keys are, so a claim of many jobs writes few pages. `job_order` has
/// the order in which jobs are handed out: its entries end with the row number. `job_held` has
/// only leased rows, so that the leases of a dead process are found without a walk over all rows.
const JOBS: &str = "
    CREATE TABLE job (
        generation INTEGER PRIMARY KEY NOT NULL,
        key BLOB UNIQUE NOT NULL,
        kind TEXT NOT NULL,
        visible_at INTEGER NOT NULL,
        state INTEGER NOT NULL, -- 0 pending (leased, if it has a token), 1 begun, 2 closed,
                                -- 3 replaced
        token INTEGER,
        until INTEGER,
        holder INTEGER,         -- epoch of the process that has the lease
        due INTEGER NOT NULL,
        occurrence INTEGER NOT NULL,
        attempt INTEGER NOT NULL,
        policy TEXT NOT NULL,
        payload BLOB NOT NULL
    ) STRICT;
    CREATE INDEX job_order ON job (kind, visible_at);
    CREATE INDEX job_held ON job (holder) WHERE holder IS NOT NULL;
";

const OTHERS: &str = "
    CREATE TABLE dead (
        generation INTEGER PRIMARY KEY NOT NULL,
        key BLOB NOT NULL,
        kind TEXT NOT NULL,
        due INTEGER NOT NULL,
        occurrence INTEGER NOT NULL,
        attempt INTEGER NOT NULL,
        policy TEXT NOT NULL,
        payload BLOB NOT NULL,
        reason TEXT NOT NULL,
        at INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE meta (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        epoch INTEGER NOT NULL,     -- of the process that opened the file last
        last INTEGER NOT NULL,      -- generation or token that was drawn last
        high_water INTEGER NOT NULL -- latest time that a commit has seen
    ) STRICT;
    INSERT INTO meta VALUES (1, 0, 0, 0);
";

/// Format 1 had the same columns of `job`, in a table without row numbers. Calls that only read
/// work on both. The names of its indexes are needed for those of the new table.
const RENAME_JOBS: &str =
    "ALTER TABLE job RENAME TO job_1; DROP INDEX job_order; DROP INDEX job_held;";

const COPY_JOBS: &str = "
    INSERT INTO job (generation, key, kind, visible_at, state, token, until, holder, due,
        occurrence, attempt, policy, payload)
    SELECT generation, key, kind, visible_at, state, token, until, holder, due, occurrence,
        attempt, policy, payload
    FROM job_1 ORDER BY generation;
    DROP TABLE job_1;
";

/// The format of a store's file.
pub(crate) fn format(connection: &Connection) -> Result<u32, StoreError> {
    let query = "SELECT user_version FROM pragma_user_version";
    connection.query_row(query, (), |row| row.get(0)).map_err(store_error)
}

/// Returns `true` if a file has the tables, in a known format, and `false` if it is empty. Only
/// reads.
///
/// # Errors
///
/// `Foreign` if it is another program's file; `Format` if a newer version of this crate wrote it.
pub(crate) fn has_tables(connection: &Connection) -> Result<bool, StoreError> {
    // One statement sees one state of the file: another process may be creating the tables.
    let query = "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)
                 FROM pragma_application_id, pragma_user_version";
    let marks = connection.query_row(query, (), |row| {
        // SQLite's numbers are signed: another program may have chosen a negative one.
        let mark = |column| row.get(column).map(i32::cast_unsigned);
        Ok((mark(0)?, mark(1)?, row.get::<_, u32>(2)?))
    });
    match marks.map_err(store_error)? {
        (APPLICATION, 1..=FORMAT, _) => Ok(true),
        (APPLICATION, found, _) => Err(StoreError::Format { found, known: FORMAT }),
        (0, 0, 0) => Ok(false),
        (application, ..) => Err(StoreError::Foreign(format!(
            "it is another program's SQLite database (application_id {})",
            application.cast_signed()
        ))),
    }
}

/// Creates the tables in an empty file. The connection must be in a writing transaction.
pub(crate) fn create(connection: &Connection) -> Result<(), StoreError> {
    let ours = format!("PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {FORMAT};");
    for sql in [&ours, JOBS, OTHERS] {
        connection.execute_batch(sql).map_err(store_error)?;
    }
    Ok(())
}

/// Converts a file of format 1 in one transaction. Does nothing to other files.
pub(crate) fn convert(connection: &mut Connection) -> Result<(), StoreError> {
    if format(connection)? != 1 {
        return Ok(());
    }
    // The table of jobs is replaced. That must neither delete the user's rows that refer to jobs,
    // nor change the user's views. These settings have no effect within a transaction.
    let checks_keys = connection.db_config(FOREIGN_KEYS).map_err(store_error)?;
    connection.set_db_config(FOREIGN_KEYS, false).map_err(store_error)?;
    connection.set_db_config(KEEPS_VIEWS, true).map_err(store_error)?;
    let transaction = transaction(connection)?;
    // Another process may have converted it since.
    if format(&transaction)? == 1 {
        let of_user = of_user(&transaction).map_err(store_error)?;
        let ours = format!("PRAGMA user_version = {FORMAT};");
        for sql in [RENAME_JOBS, JOBS, COPY_JOBS, &of_user, &ours] {
            transaction.execute_batch(sql).map_err(store_error)?;
        }
    }
    transaction.commit().map_err(store_error)?;
    connection.set_db_config(FOREIGN_KEYS, checks_keys).map_err(store_error)?;
    connection.set_db_config(KEEPS_VIEWS, false).map_err(store_error)?;
    Ok(())
}

/// The statements that create the user's indexes and triggers on `job`, which SQLite drops together
/// with the table. A line feed ends a comment at the end of a statement.
fn of_user(connection: &Connection) -> rusqlite::Result<String> {
    let query = "SELECT coalesce(group_concat(sql, char(10) || ';'), '') FROM sqlite_schema
                 WHERE tbl_name = 'job' COLLATE NOCASE AND type IN ('index', 'trigger')
                     AND name NOT IN ('job_order', 'job_held')";
    connection.query_row(query, (), |row| row.get(0))
}

const FOREIGN_KEYS: DbConfig = DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY;

/// A table is renamed without a change of the views and triggers that name it.
const KEEPS_VIEWS: DbConfig = DbConfig::SQLITE_DBCONFIG_LEGACY_ALTER_TABLE;
