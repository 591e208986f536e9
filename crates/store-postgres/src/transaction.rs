//! Transactions that bring their own settings: the server's defaults do not matter. A session that
//! a pooler lends is not changed. A session of this program alone is set once.

use crate::error::{Result, Retry, retry, store_error};
use crate::settings::Builder;
use tokio_postgres::Client;
use wheelhouse_durable::store::StoreError;

pub(crate) enum Failed {
    /// It has changed nothing.
    Undone(StoreError),
    /// Its commit was sent, and may have been carried out.
    Unknown(StoreError),
}

/// Begins a transaction, carries out the call in it, and commits. If the session `is_own`, it has
/// the [settings](own_session) already.
pub(crate) async fn transact<T>(
    client: &Client,
    settings: &Builder,
    is_own: bool,
    call: impl Future<Output = Result<T>>,
) -> Result<T, Failed> {
    let begin = if is_own { format!("BEGIN {}", access(settings)) } else { begin(settings) };
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

/// A statement that switches a timeout off if the server has it: until the end of the transaction
/// or, if not `is_local`, of the session. `SET` would fail on other servers. A setting without a
/// value is unknown there.
pub(crate) fn switch_off(timeout: &str, is_local: bool) -> String {
    format!(
        "SELECT pg_catalog.set_config('{timeout}', '0', {is_local})
         WHERE pg_catalog.current_setting('{timeout}', true) IS NOT NULL"
    )
}

/// PostgreSQL 17 has a timeout for the whole transaction. It is off, because the others are ignored
/// if it is not longer. A shorter default could not be raised either: it has begun with `BEGIN`.
pub(crate) const TRANSACTION_TIMEOUT: &str = "transaction_timeout";

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
    let set = set(settings, "SET LOCAL");
    let no_timeout = switch_off(TRANSACTION_TIMEOUT, true);
    format!("BEGIN ISOLATION LEVEL READ COMMITTED {access}{set}; {no_timeout}")
}

/// The statements that prepare a session which belongs to this program until it ends: the settings,
/// and the same plan for all executions of a statement. Plans depend neither on parameters nor on
/// statistics, so the server need not make them again.
pub(crate) fn own_session(settings: &Builder) -> String {
    format!(
        "SET default_transaction_isolation TO 'read committed';
         SET plan_cache_mode TO force_generic_plan{}; {}",
        set(settings, "SET"),
        switch_off(TRANSACTION_TIMEOUT, false)
    )
}

#[cfg(test)]
mod tests {
    use super::switch_off;
    use crate::plans::on_server;

    /// All supported servers have `lock_timeout`. None has `no_such_timeout`, as those before
    /// PostgreSQL 17 have no `transaction_timeout`.
    #[test]
    fn a_timeout_is_switched_off_where_the_server_has_it() {
        on_server(async |client, _, _| {
            let show = async || -> String {
                client.query_one("SHOW lock_timeout", &[]).await.unwrap().get(0)
            };
            client.batch_execute("SET lock_timeout TO '7s'; BEGIN").await.unwrap();
            assert_eq!(show().await, "7s");
            for timeout in ["lock_timeout", "no_such_timeout", "transaction_timeout"] {
                let sql = switch_off(timeout, true);
                client.batch_execute(&sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
            }
            assert_eq!(show().await, "0");
            client.batch_execute("COMMIT").await.unwrap();
            assert_eq!(show().await, "7s", "the session is not changed");
        });
    }
}
