//! The conformance suite, on PostgreSQL databases with unusual defaults.

mod common;

use common::execute;
use std::sync::LazyLock;
use wheelhouse_durable::store::{Outcome, Store};
use wheelhouse_store_conformance::jobs::{bury, lease, one, put};
use wheelhouse_store_conformance::{Bed, a_clock_that_jumps_does_no_harm, store_suite};
use wheelhouse_store_postgres::PostgresStore;
use wheelhouse_test_servers::{Server, queue};

/// Defaults on which no transaction of a store may rely, and functions that hide system functions.
const DEFAULTS: &str = "CREATE SCHEMA evil;
    CREATE FUNCTION evil.clock_timestamp() RETURNS timestamptz
        LANGUAGE sql AS $$ SELECT timestamptz '2001-01-01' $$;
    CREATE FUNCTION evil.hashtext(text) RETURNS integer LANGUAGE sql AS $$ SELECT 1 / 0 $$;
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
    END $$";

fn bed() -> Option<Bed> {
    static SERVER: LazyLock<Option<Server>> =
        LazyLock::new(|| Server::postgres().inspect(|server| execute(&server.url(), &[DEFAULTS])));
    let (url, queue) = (SERVER.as_ref()?.url(), queue());
    Some(Bed::on_server(move |now| {
        let store = PostgresStore::builder(&url, &queue).expect("a URL");
        store.clock(now).connect().expect("it connects")
    }))
}

store_suite!(bed);

#[test]
fn a_servers_clock_that_jumps_does_no_harm() {
    bed().iter_mut().for_each(a_clock_that_jumps_does_no_harm);
}

/// A reason is the text of a handler's error, so no database may refuse it.
#[test]
fn a_reason_survives_in_each_encoding() {
    let reason = "Zahlung abgelehnt: Bank von 東京";
    let escaped = "Zahlung abgelehnt: Bank von \\u{6771}\\u{4eac}";
    for (encoding, kept) in [("SQL_ASCII", reason), ("LATIN1", escaped), ("UTF8", reason)] {
        let Some(server) = Server::postgres_with_encoding(encoding) else { return };
        let mut store = PostgresStore::connect(&server.url(), "q").unwrap();
        one(&mut store, put("a", 0));
        let leased = lease(&mut store, 9).pop().expect("it is due");
        assert_eq!(one(&mut store, bury(&leased, reason)), Outcome::Done, "{encoding}");
        assert_eq!(store.dead(None, 9).unwrap()[0].reason, kept, "{encoding}");
    }
}
