//! Programs behind a pooler, which lends a session to each transaction.

mod common;

use common::{connect, run, start};
use std::ops::Range;
use std::time::Duration;
use wheelhouse_durable::store::{Change, Outcome, Put};
use wheelhouse_store_conformance::jobs::{fails, job, rows};
use wheelhouse_store_postgres::{PostgresStore, commit_in, tokio_postgres};
use wheelhouse_test_servers::{Server, wait_until};

const SESSIONS: usize = 3;

/// Differences between each session of the pool and a new session.
fn traces(pooler: &str, server: &str) -> Vec<String> {
    let all = "SELECT coalesce(string_agg(name || '=' || setting, ' ' ORDER BY name), '')
               || ' listens: ' || (SELECT count(*) FROM pg_listening_channels())
               || ' statements: ' || (SELECT count(*) FROM pg_prepared_statements)
               FROM pg_settings WHERE source = 'session' AND name NOT IN ('client_encoding',
                   'DateStyle', 'TimeZone', 'standard_conforming_strings', 'application_name')";
    run(async {
        let mut seen = Vec::new();
        let mut held = Vec::new();
        for _ in 0..SESSIONS {
            let client = connect(pooler).await;
            client.batch_execute("BEGIN").await.unwrap();
            let answer = client.simple_query(all).await.unwrap();
            for message in answer {
                if let tokio_postgres::SimpleQueryMessage::Row(row) = message {
                    seen.push(row.get(0).unwrap().to_owned());
                }
            }
            held.push(client);
        }
        let fresh: String = connect(server).await.query_typed_one(all, &[]).await.unwrap().get(0);
        // `query_typed` leaves no named statement.
        seen.retain(|session| *session != fresh);
        seen
    })
}

/// Schedules jobs in the user's transactions: two at a time, in changing order, so that each gets
/// another session than the one before.
async fn schedule_in_transactions(url: &str, mut numbers: Range<u64>) {
    let (mut shop, mut other) = (connect(url).await, connect(url).await);
    while let Some((n, m)) = numbers.next().zip(numbers.next()) {
        let first = shop.transaction().await.unwrap();
        let second = other.transaction().await.unwrap();
        for (transaction, n) in [(&first, n), (&second, m)] {
            let put = Put { payload: n.to_string().into_bytes(), ..job(&n.to_string(), 0) };
            let outcomes = commit_in(transaction, "orders", &[Change::Put(put)]).await.unwrap();
            assert_eq!(outcomes, [Outcome::Done]);
        }
        let ends = if n % 4 == 0 { [first, second] } else { [second, first] };
        for transaction in ends {
            transaction.commit().await.unwrap();
        }
    }
}

fn a_pooler_in_the_mode(mode: &str) {
    let Some(server) = Server::postgres() else { return };
    // Each program has two connections and tries a third. In session mode each keeps a session.
    let sessions = if mode == "transaction" { SESSIONS } else { 10 };
    let Some(pooler) = Server::pgbouncer(&server, mode, sessions) else { return };
    let (pooled, direct) = (pooler.url(), server.url());
    let connected = || PostgresStore::connect(&pooled, "orders").expect("it connects");
    let (one, ran_by_one) = start(connected());
    // A second program, which finds the tables.
    let (two, ran_by_two) = start(connected());
    for n in 0..60_u64 {
        one.after(Duration::from_millis(n)).key(format!("{n}")).schedule("work/1", &n).unwrap();
    }
    run(schedule_in_transactions(&pooled, 60..72));
    let mut ran = Vec::new();
    wait_until("all have run", || {
        ran.extend(ran_by_one.try_iter().chain(ran_by_two.try_iter()));
        ran.len() >= 72
    });
    ran.sort_unstable();
    assert_eq!(ran, (0..72).collect::<Vec<_>>(), "each runs once");
    one.stop();
    two.stop();
    assert_eq!(rows(&mut connected()), [], "all have ended");
    if mode == "transaction" {
        assert_eq!(traces(&pooled, &direct), [""; 0], "no session is changed");
    }
}

#[test]
fn a_pooler_in_transaction_mode_is_as_good_as_none() {
    a_pooler_in_the_mode("transaction");
}

#[test]
fn a_pooler_in_session_mode_is_as_good_as_none() {
    a_pooler_in_the_mode("session");
}

#[test]
fn a_pooler_in_statement_mode_is_refused_with_a_remedy() {
    let Some(server) = Server::postgres() else { return };
    let Some(pooler) = Server::pgbouncer(&server, "statement", SESSIONS) else { return };
    assert!(!fails(PostgresStore::connect(&pooler.url(), "orders"), "pool_mode").is_transient());
}
