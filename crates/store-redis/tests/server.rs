//! Settings of a Redis, and data that are lost, newer, or another program's.

mod common;

use common::{connection, queue, shared, url};
use redis::Commands;
use std::time::Duration;
use wheelhouse_durable::store::{Change, ClaimLimit, Kinds, Outcome, Put, Store, StoreError, When};
use wheelhouse_store_conformance::jobs::{
    KIND, LEASE, ack, begin, bury, cancel, claim, job, key, lease, one, put, rows,
};
use wheelhouse_store_redis::RedisStore;
use wheelhouse_test_servers::Server;

fn refusal(url: &str, queue: &str) -> StoreError {
    RedisStore::connect(url, queue).expect_err("it is refused")
}

#[test]
fn a_server_that_forgets_is_refused_with_a_remedy() {
    let Some(server) = Server::redis(&["--appendonly", "no"]) else { return };
    let url = url(&server);
    let error = refusal(&url, "a");
    assert!(
        matches!(&error, StoreError::Refused(why) if why.contains("appendonly yes")),
        "{error}"
    );
    assert!(RedisStore::builder(&url, "a").unchecked().connect().is_ok());
}

#[test]
fn a_server_that_throws_away_is_refused_with_a_remedy() {
    let full = ["--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"];
    let Some(server) = Server::redis(&full) else { return };
    let error = refusal(&url(&server), "a");
    assert!(matches!(&error, StoreError::Refused(why) if why.contains("noeviction")), "{error}");
}

/// A full server refuses new jobs and keeps those that it has.
#[test]
fn a_full_server_loses_nothing_that_was_acknowledged() {
    let full = ["--maxmemory", "4mb", "--maxmemory-policy", "noeviction"];
    let Some(server) = Server::redis(&full) else { return };
    let mut store = RedisStore::connect(&url(&server), "a").unwrap();
    let mut acknowledged = 0;
    let error = loop {
        let job = job(&acknowledged.to_string(), 1_000_000);
        match store.commit(&[Change::Put(Put { payload: vec![7; 50_000], ..job })]) {
            Ok(_) => acknowledged += 1,
            Err(error) => break error,
        }
    };
    assert!(error.to_string().contains("raise maxmemory"), "{error}");
    let due = Change::Move { key: key("0"), when: When::After(Duration::ZERO) };
    assert_eq!(one(&mut store, due), Outcome::Done);
    let leased = claim(&mut store).remove(0);
    assert_eq!(one(&mut store, ack(&leased)), Outcome::Done, "an ack frees memory");
    let rows = rows(&mut store);
    assert!(rows.iter().all(|row| row.payload.len() == 50_000));
    assert_eq!(rows.len(), acknowledged - 1);
}

/// Lost data are reported once. Then the store continues, and its numbers grow.
#[test]
fn emptied_data_are_told_of_and_tokens_grow() {
    let Some(server) = Server::redis(&[]) else { return };
    let url = url(&server);
    let mut store = RedisStore::connect(&url, "a").unwrap();
    store.commit(&[put("a", 0)]).unwrap();
    let before = claim(&mut store).remove(0);
    redis::cmd("FLUSHALL").exec(&mut connection(&url)).unwrap();
    let error = store.commit(&[put("b", 0)]).unwrap_err();
    assert!(error.to_string().contains("emptied or replaced"), "{error}");
    assert_eq!(store.commit(&[put("b", 0)]).unwrap(), [Outcome::Done]);
    let after = claim(&mut store).remove(0);
    assert!(after.token > before.token, "{} after {}", after.token, before.token);
    assert!(after.job.generation > before.job.generation);
}

/// Reads do not report lost data, because a program may ignore the error of a read, for example of
/// a list.
#[test]
fn emptied_data_are_reported_to_a_commit_or_claim_alone() {
    let Some(server) = Server::redis(&[]) else { return };
    let url = url(&server);
    let mut store = RedisStore::connect(&url, "a").unwrap();
    for claims in [false, true] {
        store.commit(&[put("a", 0)]).unwrap();
        redis::cmd("FLUSHALL").exec(&mut connection(&url)).unwrap();
        assert_eq!(store.find(&key("a")).expect("a row, or none"), None);
        assert_eq!(store.kinds().unwrap(), []);
        let error = if claims {
            store.claim(&Kinds::new([KIND]), ClaimLimit::jobs(9), LEASE).unwrap_err()
        } else {
            store.commit(&[put("b", 0)]).unwrap_err()
        };
        assert!(error.to_string().contains("emptied or replaced"), "{error}");
        assert_eq!(store.commit(&[put("b", 0)]).unwrap(), [Outcome::Done]);
    }
}

/// If another program has written to a key of the queue, the error is not that the data were
/// emptied.
#[test]
fn data_of_another_program_are_not_taken_for_emptied_ones() {
    let (Some(url), queue) = (shared(), queue()) else { return };
    let mut store = RedisStore::connect(&url, &queue).unwrap();
    let states = format!("wh:{{{queue}}}:states");
    let _: () = connection(&url).set(states, "of another program").unwrap();
    for error in [store.commit(&[put("a", 0)]).unwrap_err(), store.find(&key("a")).unwrap_err()] {
        assert!(matches!(error, StoreError::Foreign(_)), "{error:?}");
    }
}

/// A copy from before an ack brings the job back. It runs again with a newer token and the same
/// generation, and so with the same idempotency key.
#[test]
fn what_an_old_copy_brings_back_has_newer_tokens() {
    let Some(server) = Server::redis(&[]) else { return };
    let url = url(&server);
    let mut store = RedisStore::connect(&url, "a").unwrap();
    store.commit(&[put("a", 0)]).unwrap();
    let mut server = connection(&url);
    let keys: Vec<String> = server.keys("*").unwrap();
    let dump = |key| redis::cmd("DUMP").arg(key).query::<Vec<u8>>(&mut server).unwrap();
    let copy: Vec<_> = keys.iter().map(dump).collect();
    let before = claim(&mut store).remove(0);
    assert_eq!(one(&mut store, ack(&before)), Outcome::Done);

    redis::cmd("FLUSHALL").exec(&mut server).unwrap();
    for (key, value) in keys.iter().zip(&copy) {
        redis::cmd("RESTORE").arg(key).arg(0).arg(value).exec(&mut server).unwrap();
    }
    let after = claim(&mut store).remove(0);
    assert_eq!(after.job.generation, before.job.generation);
    assert!(after.token > before.token, "{} after {}", after.token, before.token);
    assert_eq!(one(&mut store, ack(&before)), Outcome::Superseded);
}

/// Older versions do not know leases whose run has not begun: if they move such a job, they set
/// both times, and leave the token.
#[test]
fn a_lease_ends_when_an_older_version_moves_the_job() {
    let (Some(url), queue) = (shared(), queue()) else { return };
    let mut store = RedisStore::connect(&url, &queue).unwrap();
    store.commit(&[put("a", 0)]).unwrap();
    let leased = lease(&mut store, 9).remove(0);
    let due = leased.until.as_millis() + 60_000;
    let mut server = connection(&url);
    let name = |name: &str| format!("wh:{{{queue}}}:{name}");
    let mut state: Vec<u8> = server.hget(name("states"), "a").unwrap();
    // After state and token: the time when the job is visible, and the due time.
    for at in [9, 17] {
        state[at..at + 8].copy_from_slice(&due.to_be_bytes());
    }
    let member = [&leased.job.generation.to_be_bytes(), &b"a"[..]].concat();
    let _: () = server.hset(name("states"), "a", &state).unwrap();
    let _: () = server.zadd(name("order:work/1"), member, due).unwrap();

    let (key, token) = (leased.job.key.clone(), leased.token);
    let extend = Change::Extend { key: key.clone(), token, visibility: LEASE };
    let answers = store.commit(&[begin(&leased), extend, begin(&leased)]).unwrap();
    assert_eq!(answers, [Outcome::Superseded; 3], "otherwise it would run early");
    let row = store.find(&key).unwrap().unwrap();
    assert_eq!((row.visible_at.as_millis(), row.attempt), (due, 0));
}

#[test]
fn a_reader_changes_nothing() {
    let Some(server) = Server::redis(&["--appendonly", "no"]) else { return };
    let url = url(&server);
    let to_read = |queue| RedisStore::builder(&url, queue).connect_to_read();
    assert!(matches!(to_read("a").unwrap_err(), StoreError::Refused(why) if why.contains("name")));
    let keys = || connection(&url).keys::<_, Vec<String>>("*").unwrap();
    assert_eq!(keys(), [""; 0], "no queue is created");
    let mut store = RedisStore::builder(&url, "a").unchecked().connect().unwrap();
    store.commit(&[put("a", 0)]).unwrap();
    let mut reader = to_read("a").unwrap();
    assert_eq!(reader.format(), 1);
    let refused = |error| matches!(error, StoreError::Refused(why) if why.contains("to write"));
    assert!(refused(reader.commit(&[put("b", 0)]).unwrap_err()));
    let kinds = Kinds::new([KIND]);
    assert!(refused(reader.claim(&kinds, ClaimLimit::jobs(9), LEASE).unwrap_err()));
    let (_, next) = reader.claim(&kinds, ClaimLimit::jobs(0), LEASE).unwrap();
    assert!(next.visible_at.is_some() && next.now.as_millis() > 1_700_000_000_000);
    assert!(reader.find(&key("a")).unwrap().is_some());
    assert!(store.find(&key("b")).unwrap().is_none());
}

#[test]
fn scripts_that_the_server_forgot_are_loaded_again() {
    let Some(url) = shared() else { return };
    let mut store = RedisStore::connect(&url, &queue()).unwrap();
    for n in 0..3 {
        redis::cmd("SCRIPT").arg("FLUSH").exec(&mut connection(&url)).unwrap();
        assert_eq!(store.commit(&[put(&n.to_string(), 9)]).unwrap(), [Outcome::Done]);
    }
}

#[test]
fn newer_and_foreign_data_are_not_touched() {
    let Some(url) = shared() else { return };
    let mut server = connection(&url);
    let (newer, foreign) = (queue(), queue());
    drop(RedisStore::connect(&url, &newer).unwrap());
    let _: () = server.hset(format!("wh:{{{newer}}}:meta"), "format", 2).unwrap();
    assert!(matches!(refusal(&url, &newer), StoreError::Format { found: 2, known: 1 }));
    let _: () = server.set(format!("wh:{{{foreign}}}:meta"), "mine").unwrap();
    assert!(matches!(refusal(&url, &foreign), StoreError::Foreign(_)));
    assert_eq!(server.get::<_, String>(format!("wh:{{{foreign}}}:meta")).unwrap(), "mine");
}

/// All keys of a queue have the queue as their hash tag, so that a cluster keeps them in one slot.
#[test]
fn all_data_of_a_queue_are_in_one_slot() {
    let Some(server) = Server::redis(&[]) else { return };
    let url = url(&server);
    let mut store = RedisStore::connect(&url, "orders").unwrap();
    store.commit(&[put("a", 0), put("b", 9)]).unwrap();
    let leased = claim(&mut store).remove(0);
    one(&mut store, bury(&leased, "failed"));
    let keys: Vec<String> = connection(&url).keys("*").unwrap();
    assert_eq!(keys.len(), 7, "{keys:?}");
    assert!(keys.iter().all(|key| key.starts_with("wh:{orders}:")), "{keys:?}");
}

/// Kinds without rows are removed, so that the time to list kinds is proportional to the kinds in
/// use.
#[test]
fn a_kind_without_jobs_is_not_listed() {
    let Some(url) = shared() else { return };
    let mut store = RedisStore::connect(&url, &queue()).unwrap();
    for _ in 0..2 {
        one(&mut store, put("a", 9));
        assert_eq!(store.kinds().unwrap().len(), 1);
        one(&mut store, cancel("a"));
        assert_eq!(store.kinds().unwrap(), []);
    }
}
