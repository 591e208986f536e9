//! Transactions that bring their own settings: the server's defaults do not matter. A session that
//! a pooler lends is not changed. A session of this program alone is set once.

use crate::error::{Retry, retry, store_error};
use crate::settings::Builder;
use std::future::Future;
use tokio_postgres::Client;
use wheelhouse_durable::store::StoreError;

/// A failed transaction.
pub(crate) enum Failed {
    /// It has changed nothing.
    Undone(StoreError),
    /// Its commit was sent, and may have been carried out.
    Unknown(StoreError),
}

impl Failed {
    pub(crate) fn into_error(self) -> StoreError {
        let (Self::Undone(error) | Self::Unknown(error)) = self;
        error
    }
}

/// Begins a transaction, carries out the call in it, and commits. If the session `is_own`, it has
/// the [settings](own_session) already.
pub(crate) async fn transact<T>(
    client: &Client,
    settings: &Builder,
    is_own: bool,
    call: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, Failed> {
    let begin = if is_own { begin_own(settings) } else { begin(settings) };
    // Not sent together with the first statement: behind a proxy that delays small packets until
    // the previous one is acknowledged, that would take 40 ms.
    let begun = client.batch_execute(&begin).await.map_err(store_error);
    begun.map_err(Failed::Undone)?;
    let answer = call.await.map_err(Failed::Undone)?;
    client.batch_execute("COMMIT").await.map_err(store_error).map_err(|error| {
        // If the answer is a conflict, the commit was not carried out.
        match retry(&error) {
            Retry::SameConnection => Failed::Undone(error),
            _ => Failed::Unknown(error),
        }
    })?;
    Ok(answer)
}

/// The settings on which statements rely.
fn values(settings: &Builder) -> [(&'static str, String); 8] {
    // Zero would mean no limit, and the server refuses a value above `i32::MAX`.
    let millis = settings.timeout.as_millis().clamp(1, i32::MAX as u128).to_string();
    [
        // A commit is durable when it returns.
        ("synchronous_commit", "on".into()),
        // The server ends statements that no caller waits for any more, and releases the locks of a
        // client that it cannot reach.
        ("statement_timeout", millis.clone()),
        ("idle_in_transaction_session_timeout", millis),
        ("lock_timeout", "0".into()),
        // Only functions of `pg_catalog` are called, and statements name tables with their schema.
        ("search_path", "pg_catalog".into()),
        // Each statement has an index, so the planner would read a whole table only because of
        // wrong statistics.
        ("enable_seqscan", "off".into()),
        ("enable_bitmapscan", "off".into()),
        ("jit", "off".into()),
    ]
}

fn set(settings: &Builder, command: &str) -> String {
    let each = values(settings).map(|(name, value)| format!("; {command} {name} TO {value}"));
    each.concat()
}

/// An explicit `READ WRITE` would override the default of a primary that was demoted by it.
fn access(settings: &Builder) -> &'static str {
    if settings.only_reads { "READ ONLY" } else { "" }
}

/// The statements that begin a transaction, with all settings that the later ones rely on.
pub(crate) fn begin(settings: &Builder) -> String {
    let access = access(settings);
    format!("BEGIN ISOLATION LEVEL READ COMMITTED {access}{}", set(settings, "SET LOCAL"))
}

fn begin_own(settings: &Builder) -> String {
    format!("BEGIN {}", access(settings))
}

/// The statements that prepare a session which belongs to this program until it ends: the settings,
/// and the same plan for all executions of a statement. Plans depend neither on parameters nor on
/// statistics, so the server need not make them again.
pub(crate) fn own_session(settings: &Builder) -> String {
    format!(
        "SET default_transaction_isolation TO 'read committed';
         SET plan_cache_mode TO force_generic_plan{}",
        set(settings, "SET")
    )
}
