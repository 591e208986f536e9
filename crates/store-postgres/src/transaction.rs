//! Transactions that bring their settings with them, so that neither the server's defaults nor
//! another program's session matter, and no session is changed.

use crate::error::{Again, again, store_error};
use crate::settings::Builder;
use std::future::Future;
use tokio_postgres::Client;
use wheelhouse_durable::store::StoreError;

/// A transaction that has failed.
pub(crate) enum Failed {
    /// It has changed nothing.
    Undone(StoreError),
    /// The commit was under way.
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
    // Not sent together with the first statement: where a proxy holds back small packets until the
    // one before is acknowledged, that takes 40 ms.
    let begun = client.batch_execute(&begin(settings)).await.map_err(store_error);
    begun.map_err(Failed::Undone)?;
    let answer = call.await.map_err(Failed::Undone)?;
    client.batch_execute("COMMIT").await.map_err(store_error).map_err(|error| {
        // A conflict is the answer to a commit that was not carried out.
        match again(&error) {
            Again::Here => Failed::Undone(error),
            _ => Failed::Unknown(error),
        }
    })?;
    Ok(answer)
}

/// How a transaction begins: with all settings that its statements rely on.
pub(crate) fn begin(settings: &Builder) -> String {
    // `READ WRITE` would write to a primary that was demoted by its default.
    let access = if settings.only_reads { "READ ONLY" } else { "" };
    // Zero would be no limit, and more than this is refused.
    let millis = settings.timeout.as_millis().clamp(1, i32::MAX as u128);
    // A commit is durable when it returns. The server gives up statements for which nothing waits
    // any more, and the locks of a client whose network is gone. Each statement names what it
    // needs by schema, so nothing else on a path is called. Each table has an index for each
    // statement: a plan that reads all of it is chosen only where statistics are wrong.
    format!(
        "BEGIN ISOLATION LEVEL READ COMMITTED {access};
         SET LOCAL synchronous_commit TO on; SET LOCAL statement_timeout TO {millis};
         SET LOCAL idle_in_transaction_session_timeout TO {millis}; SET LOCAL lock_timeout TO 0;
         SET LOCAL search_path TO pg_catalog; SET LOCAL enable_seqscan TO off;
         SET LOCAL enable_bitmapscan TO off; SET LOCAL jit TO off"
    )
}
