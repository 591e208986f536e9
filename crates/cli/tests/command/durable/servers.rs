//! `wheelhouse durable` on Redis and PostgreSQL.

use super::{claim, dumped, fill, is_changed, is_counted, is_dumped, rows};
use crate::{fails, succeeds};
use wheelhouse_durable::store::Store;
use wheelhouse_store_postgres::PostgresStore;
use wheelhouse_store_redis::RedisStore;
use wheelhouse_test_servers::Server;

/// On a server without data, each command fails with the message `none` and creates nothing.
fn is_refused(url: &str, none: &str) {
    let calls = "inspect, dump, verify, retry 1, forget 1, cancel soon, move --in 1h soon, \
                 run soon, pause mail/1, resume";
    for call in calls.split(", ") {
        let (what, rest) = call.split_once(' ').unwrap_or((call, ""));
        let message = fails(&format!("durable {what} {url} --queue orders {rest}"));
        assert!(message.contains(none), "{call}: {message}");
    }
}

fn is_told(url: &str, store: &mut dyn Store, (name, format): (&str, u32)) {
    let place = &format!("{url} --queue orders");
    let generations = fill(store);
    let before = rows(store);
    is_counted(place, name, format);
    is_dumped(place, generations);
    succeeds(&format!("durable verify {place}"));
    assert_eq!(before, rows(store), "nothing was changed");
    let [first, second] = generations;
    succeeds(&format!("durable retry {place} {first}"));
    assert_eq!(claim(store, "burial/1").job.key.as_bytes(), b"first");
    succeeds(&format!("durable forget {place} {second}"));
    assert!(dumped(&format!("{place} --dead")).is_empty());
    is_changed(place, store);
}

#[test]
fn a_queue_in_redis_is_reported() {
    // Programs may have chosen a server without persistence; reading does not need it.
    let Some(server) = Server::redis(&["--appendonly", "no"]) else { return };
    let url = server.url();
    is_refused(&url, "the server has no queue `orders`");
    let mut store = RedisStore::builder(&url, "orders").unchecked().connect().unwrap();
    is_told(&url, &mut store, ("Redis", 2));
    server.kill();
    let message = fails(&format!("durable inspect {url} --queue orders"));
    assert!(message.contains("cannot be reached"), "{message}");
}

#[test]
fn a_queue_in_postgres_is_reported() {
    let Some(server) = Server::postgres() else { return };
    let url = server.url();
    is_refused(&url, "the database has no durable timers");
    let mut store = PostgresStore::connect(&url, "orders").unwrap();
    is_told(&url, &mut store, ("PostgreSQL", 1));
    let other = format!("durable inspect {url} --queue others");
    let told = succeeds(&other);
    let parts = ["no job is waiting", "has nothing in this queue: check its name"];
    assert!(parts.iter().all(|part| told.contains(part)), "another queue in the tables: {told}");
    server.kill();
    let message = fails(&format!("durable inspect {url} --queue orders"));
    assert!(message.contains("cannot be reached"), "{message}");
}
