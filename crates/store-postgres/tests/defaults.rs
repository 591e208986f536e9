//! Servers with other defaults and encodings.

mod common;

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::time::Duration;
use tokio_postgres::NoTls;
use wheelhouse_durable::store::{
    Change, ClaimLimit, Key, Kinds, Leased, Outcome, Put, Store, When,
};
use wheelhouse_durable::{Durable, Handlers, Next};
use wheelhouse_store_postgres::{PostgresStore, tokio_postgres};
use wheelhouse_test_servers::Server;

const LONG: Duration = Duration::from_secs(60);

fn run<T>(call: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(call)
}

fn execute(server: &Server, commands: &str) {
    run(async {
        let (client, connection) =
            tokio_postgres::connect(&common::url(server), NoTls).await.unwrap();
        tokio::spawn(connection);
        client.batch_execute(commands).await.unwrap();
    });
}

fn put(name: &str) -> Change {
    Change::Put(Put {
        key: Key::new(name).unwrap(),
        kind: "work/1".into(),
        payload: Vec::new(),
        policy: String::new(),
        when: When::After(Duration::ZERO),
        replace: true,
    })
}

fn claim(store: &mut PostgresStore, max: usize) -> Vec<Leased> {
    let mut leased = Vec::new();
    store
        .claim(&Kinds::new(["work/1"]), ClaimLimit::jobs(max), LONG, &mut leased)
        .expect("a claim succeeds");
    leased
}

/// A program works with unusual defaults of the database, and with functions that hide system
/// functions.
#[test]
fn a_programs_transactions_rely_on_no_default() {
    let Some(server) = Server::postgres() else { return };
    execute(
        &server,
        "CREATE SCHEMA evil;
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
         END $$",
    );
    let (sender, ran) = channel();
    let handlers = Handlers::new().on("work/1", move |_, name: String| {
        sender.send(name)?;
        Ok(Next::Done)
    });
    let url = common::url(&server);
    let timers = Durable::start(PostgresStore::connect(&url, "q").unwrap(), handlers).unwrap();
    timers.after(Duration::from_millis(20)).schedule("work/1", "Köln, 東京").unwrap();
    assert_eq!(ran.recv_timeout(LONG).unwrap(), "Köln, 東京");
    timers.stop();
}

/// Four connections put, claim and acknowledge jobs: no call fails, and each job is handed out
/// once.
#[test]
fn a_serializable_default_loses_and_repeats_nothing() {
    let Some(server) = Server::postgres() else { return };
    execute(&server, "ALTER DATABASE postgres SET default_transaction_isolation = 'serializable'");
    let url = common::url(&server);
    let handed_out = Mutex::new(BTreeMap::<Key, u32>::new());
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (url, handed_out) = (&url, &handed_out);
            scope.spawn(move || {
                let mut store = PostgresStore::connect(url, "q").unwrap();
                for round in 0..30 {
                    let names = (0..5).map(|n| format!("{thread} {round} {n}"));
                    let puts: Vec<_> = names.map(|name| put(&name)).collect();
                    store.commit(&puts).expect("a commit succeeds");
                    let mut acks = Vec::new();
                    for Leased { job, token, .. } in claim(&mut store, 5) {
                        *handed_out.lock().unwrap().entry(job.key.clone()).or_default() += 1;
                        acks.push(Change::Ack { key: job.key, token, again: None });
                    }
                    let outcomes = store.commit(&acks).expect("a commit succeeds");
                    assert_eq!(outcomes, vec![Outcome::Done; acks.len()]);
                }
            });
        }
    });
    let handed_out = handed_out.into_inner().unwrap();
    let mut store = PostgresStore::connect(&url, "q").unwrap();
    let (mut left, mut leased) = (0, 0);
    let mut count = |job: &wheelhouse_durable::store::Entry| {
        left += 1;
        leased += u32::from(job.state.lease().is_some());
    };
    store.scan(None, 1_000, &mut count).unwrap();
    assert!(handed_out.values().all(|times| *times == 1), "{handed_out:?}");
    assert_eq!((handed_out.len() + left, leased), (4 * 30 * 5, 0), "no job is left leased");
}

/// A reason is the text of a handler's error, so no database may refuse it.
#[test]
fn a_reason_survives_in_each_encoding() {
    let reason = "Zahlung abgelehnt: Bank von 東京";
    let escaped = "Zahlung abgelehnt: Bank von \\u{6771}\\u{4eac}";
    for (encoding, kept) in [("SQL_ASCII", reason), ("LATIN1", escaped), ("UTF8", reason)] {
        let Some(server) = Server::postgres_with_encoding(encoding) else { return };
        let mut store = PostgresStore::connect(&common::url(&server), "q").unwrap();
        store.commit(&[put("a")]).unwrap();
        std::thread::sleep(Duration::from_millis(2));
        let Leased { job, token, .. } = claim(&mut store, 9).pop().expect("it is due");
        let bury = Change::Bury { key: job.key, token, reason: reason.into() };
        let outcomes = store.commit(&[bury]).unwrap_or_else(|error| panic!("{encoding}: {error}"));
        assert_eq!(outcomes, [Outcome::Done]);
        let mut reasons = Vec::new();
        store.dead(None, 9, &mut |dead| reasons.push(dead.reason.clone())).unwrap();
        assert_eq!(reasons, [kept], "{encoding}");
    }
}
