//! Servers with other defaults and encodings.

mod common;

use common::{execute, url};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::time::Duration;
use wheelhouse_durable::store::{Key, Outcome, Store};
use wheelhouse_durable::{Durable, Handlers, Next};
use wheelhouse_store_conformance::jobs::{ack, bury, commit, lease, one, put, rows};
use wheelhouse_store_postgres::PostgresStore;
use wheelhouse_test_servers::Server;

const LONG: Duration = Duration::from_secs(60);

/// A program works with unusual defaults of the database, and with functions that hide system
/// functions.
#[test]
fn a_programs_transactions_rely_on_no_default() {
    let Some(server) = Server::postgres() else { return };
    execute(
        &url(&server),
        &["CREATE SCHEMA evil;
         CREATE FUNCTION evil.clock_timestamp() RETURNS timestamptz
            LANGUAGE sql AS $$ SELECT timestamptz '2001-01-01' $$;
         CREATE FUNCTION evil.hashtext(text) RETURNS integer
            LANGUAGE sql AS $$ SELECT 1 / 0 $$;
         ALTER DATABASE postgres SET search_path = evil, pg_catalog;
         ALTER DATABASE postgres SET default_transaction_isolation = 'serializable';
         ALTER DATABASE postgres SET statement_timeout = '200ms';
         ALTER DATABASE postgres SET lock_timeout = '1ms';
         ALTER DATABASE postgres SET idle_in_transaction_session_timeout = '200ms';
         ALTER DATABASE postgres SET synchronous_commit = off;
         ALTER DATABASE postgres SET client_encoding = 'LATIN1';
         ALTER DATABASE postgres SET timezone = 'Pacific/Apia';
         ALTER DATABASE postgres SET datestyle = 'German';
         ALTER DATABASE postgres SET bytea_output = 'escape';
         DO $$ BEGIN
            IF pg_catalog.current_setting('transaction_timeout', true) IS NOT NULL THEN
                ALTER DATABASE postgres SET transaction_timeout = '200ms';
            END IF;
         END $$"],
    );
    let (sender, ran) = channel();
    let handlers = Handlers::new().on("work/1", move |_, name: String| {
        sender.send(name)?;
        Ok(Next::Done)
    });
    let store = PostgresStore::connect(&url(&server), "q").unwrap();
    let timers = Durable::start(store, handlers).unwrap();
    timers.after(Duration::from_millis(20)).schedule("work/1", "Köln, 東京").unwrap();
    assert_eq!(ran.recv_timeout(LONG).unwrap(), "Köln, 東京");
    timers.stop();
}

/// Four connections put, claim and acknowledge jobs: no call fails, and each job is handed out
/// once.
#[test]
fn a_serializable_default_loses_and_repeats_nothing() {
    let Some(server) = Server::postgres() else { return };
    let url = url(&server);
    execute(&url, &["ALTER DATABASE postgres SET default_transaction_isolation = 'serializable'"]);
    let handed_out = Mutex::new(BTreeMap::<Key, u32>::new());
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (url, handed_out) = (&url, &handed_out);
            scope.spawn(move || {
                let mut store = PostgresStore::connect(url, "q").unwrap();
                for round in 0..30 {
                    let names = (0..5).map(|n| format!("{thread} {round} {n}"));
                    let puts: Vec<_> = names.map(|name| put(&name, 0)).collect();
                    commit(&mut store, &puts);
                    let leased = lease(&mut store, 5);
                    for leased in &leased {
                        let key = leased.job.key.clone();
                        *handed_out.lock().unwrap().entry(key).or_default() += 1;
                    }
                    let outcomes = commit(&mut store, &leased.iter().map(ack).collect::<Vec<_>>());
                    assert_eq!(outcomes, vec![Outcome::Done; leased.len()]);
                }
            });
        }
    });
    let handed_out = handed_out.into_inner().unwrap();
    let left = rows(&mut PostgresStore::connect(&url, "q").unwrap());
    assert!(handed_out.values().all(|times| *times == 1), "{handed_out:?}");
    assert_eq!(handed_out.len() + left.len(), 4 * 30 * 5);
    assert!(left.iter().all(|row| row.state.lease().is_none()), "no job is left leased: {left:?}");
}

/// A reason is the text of a handler's error, so no database may refuse it.
#[test]
fn a_reason_survives_in_each_encoding() {
    let reason = "Zahlung abgelehnt: Bank von 東京";
    let escaped = "Zahlung abgelehnt: Bank von \\u{6771}\\u{4eac}";
    for (encoding, kept) in [("SQL_ASCII", reason), ("LATIN1", escaped), ("UTF8", reason)] {
        let Some(server) = Server::postgres_with_encoding(encoding) else { return };
        let mut store = PostgresStore::connect(&url(&server), "q").unwrap();
        one(&mut store, put("a", 0));
        let leased = lease(&mut store, 9).pop().expect("it is due");
        assert_eq!(one(&mut store, bury(&leased, reason)), Outcome::Done, "{encoding}");
        assert_eq!(store.dead(None, 9).unwrap()[0].reason, kept, "{encoding}");
    }
}
