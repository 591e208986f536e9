//! Programs during a failover.

mod common;

use common::{execute, start};
use std::time::{Duration, Instant};
use wheelhouse_durable::Error;
use wheelhouse_durable::store::{Store, StoreError};
use wheelhouse_store_conformance::jobs::fails;
use wheelhouse_store_postgres::PostgresStore;
use wheelhouse_test_servers::{Proxy, Server, wait_until};

const LONG: Duration = Duration::from_secs(60);
const TIMEOUT: Duration = Duration::from_secs(5);

/// The old primary becomes read-only, and keeps its connections.
#[test]
fn a_failover_that_leaves_connections_open_loses_and_repeats_nothing() {
    let Some(primary) = Server::postgres() else { return };
    let Some(standby) = Server::postgres_standby(&primary) else { return };
    // Synchronous replication: an acknowledged job is on the standby.
    let set = |setting| execute(&primary.url(), &[setting, "SELECT pg_reload_conf()"]);
    set("ALTER SYSTEM SET synchronous_standby_names = '*'");
    let proxy = Proxy::to(primary.address());
    let behind = primary.url_at(proxy.address());
    let store = PostgresStore::builder(&behind, "orders").unwrap().timeout(TIMEOUT).connect();
    let (timers, ran) = start(store.expect("it connects"));
    for n in 0..20_u64 {
        let delay = Duration::from_millis(if n < 10 { 0 } else { 2_000 });
        timers.after(delay).key(format!("{n}")).schedule("work/1", &n).unwrap();
    }
    set("ALTER SYSTEM SET default_transaction_read_only = on");
    std::thread::scope(|scope| {
        // This call waits for a server that accepts writes. Or it waits for the old primary to
        // commit, which waits for the standby; then it fails after its timeout.
        let waits = scope.spawn(|| {
            loop {
                let plan = timers.after(Duration::ZERO).key("20");
                match plan.schedule("work/1", &20) {
                    Err(Error::Store(error)) if error.is_transient() => {}
                    other => break other,
                }
            }
        });
        execute(&standby.url(), &["SELECT pg_promote()"]);
        proxy.redirect_to(standby.address());
        let scheduled = waits.join().unwrap();
        assert!(matches!(scheduled, Ok(_) | Err(Error::Duplicate(_))), "{scheduled:?}");
    });
    for n in 21..30_u64 {
        timers.after(Duration::ZERO).schedule("work/1", &n).unwrap();
    }
    let mut runs = Vec::new();
    wait_until("all have run", || {
        runs.extend(ran.try_iter());
        runs.len() >= 30
    });
    timers.stop();
    runs.extend(ran.try_iter());
    runs.sort_unstable();
    assert_eq!(runs, (0..30).collect::<Vec<_>>(), "each runs once");
}

/// An operator, or a server that shuts down, ends the connections: each call finds its connection
/// broken.
#[test]
fn connections_that_the_server_ends_are_replaced() {
    let Some(server) = Server::postgres() else { return };
    let mut store = PostgresStore::connect(&server.url(), "orders").unwrap();
    for n in 0..5 {
        let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                   WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'";
        execute(&server.url(), &[end]);
        store.commit(&[]).unwrap_or_else(|error| panic!("call {n}: {error}"));
    }
}

/// The server does not let the user in for a while, for example because its password was changed.
/// The program repeats the ends of its runs until it is let in.
#[test]
fn a_server_that_refuses_a_running_program_is_asked_again() {
    let Some(server) = Server::postgres() else { return };
    execute(&server.url(), &["CREATE ROLE shop SUPERUSER LOGIN"]);
    let url = server.url().replace("postgres@", "shop@");
    let mut store = PostgresStore::connect(&url, "orders").unwrap();
    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'shop'";
    execute(&server.url(), &["ALTER ROLE shop NOLOGIN", end]);
    wait_until("it is refused", || {
        store.commit(&[]).is_err_and(|error| {
            assert!(error.is_transient(), "{error:?}");
            error.to_string().contains("check the URL")
        })
    });
    assert!(!fails(PostgresStore::connect(&url, "orders"), "check the URL").is_transient());
    execute(&server.url(), &["ALTER ROLE shop LOGIN"]);
    assert_eq!(store.commit(&[]).unwrap(), []);
}

/// A program that starts with the address of a standby fails, and does not wait for a promotion.
#[test]
fn a_standby_is_refused_with_a_remedy() {
    let Some(primary) = Server::postgres() else { return };
    drop(PostgresStore::connect(&primary.url(), "orders").unwrap());
    let Some(standby) = Server::postgres_standby(&primary) else { return };
    let begun = Instant::now();
    let store = PostgresStore::builder(&standby.url(), "orders").unwrap().timeout(LONG);
    let error = fails(store.connect(), "connect to the primary");
    assert!(matches!(error, StoreError::Io(_)), "{error:?}");
    assert!(begun.elapsed() < LONG / 2, "failed only after {:?}", begun.elapsed());
}
