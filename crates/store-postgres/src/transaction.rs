//! Transactions that bring their own settings: the server's defaults and the sessions of other
//! programs do not matter, and no session is changed.

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

/// Begins a transaction, carries out the call in it, and commits.
pub(crate) async fn transact<T>(
    client: &Client,
    settings: &Builder,
    call: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, Failed> {
    // Not sent together with the first statement: behind a proxy that delays small packets until
    // the previous one is acknowledged, that would take 40 ms.
    let begun = client.batch_execute(&begin(settings)).await.map_err(store_error);
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

/// The statements that begin a transaction, with all settings that the later ones rely on.
pub(crate) fn begin(settings: &Builder) -> String {
    // An explicit `READ WRITE` would override the default of a primary that was demoted by it.
    let access = if settings.only_reads { "READ ONLY" } else { "" };
    // Zero would mean no limit, and the server refuses a value above `i32::MAX`.
    let millis = settings.timeout.as_millis().clamp(1, i32::MAX as u128);
    // `synchronous_commit`: a commit is durable when it returns. The timeouts: the server ends
    // statements that no caller waits for any more, and releases the locks of a client that it
    // cannot reach. `search_path`: only functions of `pg_catalog` are called, and statements name
    // tables with their schema. `enable_*`: each statement has an index, so the planner would read
    // a whole table only because of wrong statistics.
    format!(
        "BEGIN ISOLATION LEVEL READ COMMITTED {access};
         SET LOCAL synchronous_commit TO on; SET LOCAL statement_timeout TO {millis};
         SET LOCAL idle_in_transaction_session_timeout TO {millis}; SET LOCAL lock_timeout TO 0;
         SET LOCAL search_path TO pg_catalog; SET LOCAL enable_seqscan TO off;
         SET LOCAL enable_bitmapscan TO off; SET LOCAL jit TO off"
    )
}
