//! Settings of a Redis, and data that are lost, newer, or another program's.

mod common;

use common::{ask, connection};
use redis::Commands;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Duration;
use wheelhouse_durable::store::{
    Change, ClaimLimit, Entry, Kinds, Outcome, Put, Store, StoreError, Timestamp, When,
};
use wheelhouse_durable::{Durable, Handlers, Next};
use wheelhouse_store_conformance::jobs::*;
use wheelhouse_store_redis::RedisStore;
use wheelhouse_test_servers::{Server, queue};

fn refusal(url: &str, queue: &str) -> StoreError {
    RedisStore::connect(url, queue).expect_err("it is refused")
}

#[test]
fn a_server_that_forgets_is_refused_with_a_remedy() {
    let evicts = ["--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"];
    for (options, remedy) in
        [(&["--appendonly", "no"][..], "appendonly yes"), (&evicts, "noeviction")]
    {
        let Some(server) = Server::redis(options) else { return };
        let url = server.url();
        let error = refusal(&url, "a");
        assert!(matches!(&error, StoreError::Refused(why) if why.contains(remedy)), "{error}");
        assert!(RedisStore::builder(&url, "a").unchecked().connect().is_ok());
        assert!(RedisStore::builder(&url, "a").connect_to_read().is_ok(), "not checked");
    }
}

/// A full server refuses new jobs and keeps those that it has.
#[test]
fn a_full_server_loses_nothing_that_was_acknowledged() {
    let full = ["--maxmemory", "4mb", "--maxmemory-policy", "noeviction"];
    let Some(server) = Server::redis(&full) else { return };
    let mut store = RedisStore::connect(&server.url(), "a").unwrap();
    let mut acknowledged = 0;
    let error = loop {
        let job = job(&acknowledged.to_string(), 1_000_000);
        match store.commit(&[Change::Put(Put { payload: vec![7; 50_000], ..job })]) {
            Ok(_) => acknowledged += 1,
            Err(error) => break error,
        }
    };
    assert!(error.to_string().contains("raise maxmemory"), "{error}");
    // A batch of other changes as well is refused as a whole and for good, so that it is divided.
    let due = Change::Move { key: key("0"), when: When::After(Duration::ZERO) };
    for first in [due.clone(), Change::Forget { generation: 1 }] {
        let changes: Vec<_> = std::iter::repeat_n(first, 600).chain([put("new", 0)]).collect();
        let error = store.commit(&changes).unwrap_err();
        assert!(matches!(&error, StoreError::Refused(why) if why.contains("maxmemory")), "{error}");
        assert_eq!(names(&lease(&mut store, 9)), [""; 0], "nothing is carried out");
    }
    assert_eq!(one(&mut store, due), Outcome::Done);
    let leased = claim(&mut store).remove(0);
    assert_eq!(one(&mut store, ack(&leased)), Outcome::Done, "an ack frees memory");
    let rows = rows(&mut store);
    assert!(rows.iter().all(|row| row.payload.len() == 50_000));
    assert_eq!(rows.len(), acknowledged - 1);
}

/// A program that starts on a full server runs and cancels jobs, which frees memory.
#[test]
fn a_program_starts_on_a_full_server() {
    let Some(server) = Server::redis(&[]) else { return };
    let mut before = RedisStore::connect(&server.url(), "a").unwrap();
    before.commit(&[put("a", 0), put("b", 0)]).unwrap();
    for command in [&["SCRIPT", "FLUSH"][..], &["CONFIG", "SET", "maxmemory", "1"]] {
        ask::<()>(&server, command);
    }
    let mut store = RedisStore::connect(&server.url(), "a").expect("its queue exists");
    assert_eq!(one(&mut store, cancel("a")), Outcome::Cancelled);
    let leased = claim(&mut store).remove(0);
    assert_eq!(one(&mut store, ack(&leased)), Outcome::Done);
    let error = refusal(&server.url(), "new");
    assert!(error.to_string().contains("raise maxmemory"), "{error}");
}

/// The server's clock was in the year 2258 for a moment. Its microseconds are no longer exact in
/// Lua, where no next number could be drawn.
#[test]
fn numbers_are_drawn_once_also_after_a_clock_far_ahead() {
    let Some(server) = Server::shared_redis() else { return };
    let time = Arc::new(AtomicU64::new(9_100_000_000_000));
    let shown = Arc::clone(&time);
    let clock = move || Timestamp::from_millis(shown.load(SeqCst));
    let builder = RedisStore::builder(&server.url(), &queue()).clock(clock);
    let mut store = builder.connect().unwrap();
    let at_once = Change::Put(Put { when: When::At(Timestamp::default()), ..job("a", 0) });
    let mut numbers = BTreeSet::new();
    for millis in [9_100_000_000_000, 1_790_000_000_000, 9_100_000_000_001] {
        time.store(millis, SeqCst);
        for _ in 0..3 {
            commit(&mut store, std::slice::from_ref(&at_once));
            let leased = lease(&mut store, 1).remove(0);
            numbers.extend([leased.job.generation, leased.token.0]);
            assert_eq!(one(&mut store, ack(&leased)), Outcome::Done);
        }
    }
    assert_eq!(numbers.len(), 18, "{numbers:?}");
}

/// Lost data are reported once, to a commit or a claim. Then the store continues, and its numbers
/// grow. Reads do not report it, because a program may ignore the error of a read, for example of a
/// list.
#[test]
fn emptied_data_are_told_of_and_tokens_grow() {
    let Some(server) = Server::redis(&[]) else { return };
    let mut store = RedisStore::connect(&server.url(), "a").unwrap();
    for (reads, claims) in [(false, false), (true, false), (true, true)] {
        store.commit(&[put("a", 0)]).unwrap();
        let before = claim(&mut store).remove(0);
        redis::cmd("FLUSHALL").exec(&mut connection(&server.url())).unwrap();
        if reads {
            assert_eq!(store.find(&key("a")).expect("a row, or none"), None);
            assert_eq!(store.kinds().unwrap(), []);
        }
        let error = if claims {
            store.claim(&Kinds::new([KIND]), ClaimLimit::jobs(9), LEASE).unwrap_err()
        } else {
            store.commit(&[put("b", 0)]).unwrap_err()
        };
        assert!(error.to_string().contains("emptied or replaced"), "{error}");
        assert_eq!(store.commit(&[put("b", 0)]).unwrap(), [Outcome::Done]);
        let after = claim(&mut store).remove(0);
        assert!(after.token > before.token, "{} after {}", after.token, before.token);
        assert!(after.job.generation > before.job.generation);
        assert_eq!(one(&mut store, ack(&after)), Outcome::Done);
    }
}

/// The present is rounded up where the duration of a lease is added to it, also if that is zero.
#[test]
fn leases_end_after_the_present_rounded_up() {
    let Some(server) = Server::shared_redis() else { return };
    let mut store = RedisStore::connect(&server.url(), &queue()).unwrap();
    store.commit(&[put("a", 0), put("b", 0)]).unwrap();
    let leased = claim(&mut store);
    let [zero, one] = [0, 1].map(|n| extend(&leased[n], Duration::from_millis(n as u64)));
    for _ in 0..10 {
        assert_eq!(store.commit(&[zero.clone(), one.clone()]).unwrap(), [Outcome::Done; 2]);
        let ends = ["a", "b"].map(|name| store.find(&key(name)).unwrap().unwrap().visible_at);
        assert_eq!(ends[1].as_millis() - ends[0].as_millis(), 1);
    }
}

/// One of two queues is emptied while a program runs on both. The program reports it and continues,
/// and other programs start.
#[test]
fn a_shard_that_is_emptied_stays_a_shard() {
    let Some(server) = Server::redis(&[]) else { return };
    let start = || {
        let shards = ["a", "b"].map(|queue| RedisStore::connect(&server.url(), queue).unwrap());
        Durable::builder(Handlers::new().on_bytes(KIND, |_, _| Ok(Next::Done))).start_shards(shards)
    };
    let timers = start().unwrap();
    let of_b = (0..).map(|n| format!("{n}")).find(|name| timers.shard_of(name).unwrap() == 1);
    let name = of_b.unwrap();
    let mut client = connection(&server.url());
    let keys: Vec<String> = client.keys("wh:{b}:*").unwrap();
    let _: () = client.del(keys).unwrap();
    let schedule = || timers.after(LEASE).key(&name).schedule_bytes(KIND, "");
    let error = schedule().unwrap_err().to_string();
    assert!(error.contains("emptied or replaced"), "{error}");
    schedule().unwrap();
    let second = start().expect("a program starts");
    assert!(second.find(&name).unwrap().is_some());
}

/// The connection breaks during a list of jobs, and the job where it was to continue is cancelled.
/// The list continues there.
#[test]
fn a_list_continues_after_an_error() {
    let Some(server) = Server::redis(&[]) else { return };
    let connect = || RedisStore::connect(&server.url(), "a").unwrap();
    let (mut store, mut other) = (connect(), connect());
    let jobs: Vec<_> = (0..700).map(|n| put(&n.to_string(), 1_000_000)).collect();
    store.commit(&jobs).unwrap();
    let (mut seen, mut errors) = (BTreeSet::new(), 0);
    let mut after = None;
    loop {
        let page = match store.scan(after.as_ref(), 32) {
            Ok(page) if page.is_empty() => break,
            Ok(page) => page,
            Err(_) => {
                errors += 1;
                continue;
            }
        };
        after = page.last().map(|row| row.key.clone());
        if let Some(key) = &after {
            one(&mut other, cancel(&key.to_string()));
        }
        seen.extend(page.into_iter().map(|row| row.key));
        if errors == 0 {
            let kill = ["KILL", "TYPE", "normal", "SKIPME", "yes"];
            redis::cmd("CLIENT").arg(&kill).exec(&mut connection(&server.url())).unwrap();
            other = connect();
        }
    }
    assert_eq!((errors, seen.len()), (1, 700));
    fails(store.scan(Some(&key("none")), 32), "job none is gone");
}

/// If another program has written to a key of the queue, the error is not that the data were
/// emptied.
#[test]
fn data_of_another_program_are_not_taken_for_emptied_ones() {
    let Some(server) = Server::shared_redis() else { return };
    let (url, queue) = (server.url(), queue());
    let mut store = RedisStore::connect(&url, &queue).unwrap();
    let jobs = format!("wh:{{{queue}}}:jobs");
    let _: () = connection(&url).set(jobs, "of another program").unwrap();
    for error in [store.commit(&[put("a", 0)]).unwrap_err(), store.find(&key("a")).unwrap_err()] {
        assert!(matches!(error, StoreError::Foreign(_)), "{error:?}");
    }
}

/// A copy from before an ack brings the job back. It runs again with a newer token and the same
/// generation, and so with the same idempotency key.
#[test]
fn what_an_old_copy_brings_back_has_newer_tokens() {
    let Some(server) = Server::redis(&[]) else { return };
    let url = server.url();
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

#[test]
fn newer_and_foreign_data_are_not_touched() {
    let Some(server) = Server::shared_redis() else { return };
    let url = server.url();
    let mut server = connection(&url);
    let (newer, incomplete, foreign) = (queue(), queue(), queue());
    for queue in [&newer, &incomplete] {
        drop(RedisStore::connect(&url, queue).unwrap());
    }
    let _: () = server.hset(format!("wh:{{{newer}}}:meta"), "format", 3).unwrap();
    assert!(matches!(refusal(&url, &newer), StoreError::Format { found: 3, known: 2 }));
    // The data lack the row of the empty key.
    let _: () = server.hdel(format!("wh:{{{incomplete}}}:jobs"), "").unwrap();
    assert!(matches!(refusal(&url, &incomplete), StoreError::Damaged(_)));
    let _: () = server.set(format!("wh:{{{foreign}}}:meta"), "mine").unwrap();
    assert!(matches!(refusal(&url, &foreign), StoreError::Foreign(_)));
    assert_eq!(server.get::<_, String>(format!("wh:{{{foreign}}}:meta")).unwrap(), "mine");
}

/// A body of more than 128 bytes is stored apart from its row, and leaves with it. It stays with
/// its job through claims, retries, replacements, dead letters and revivals.
#[test]
fn long_bodies_are_kept_and_removed_with_their_jobs() {
    let Some(server) = Server::shared_redis() else { return };
    let (url, queue) = (server.url(), queue());
    let mut store = RedisStore::connect(&url, &queue).unwrap();
    let mut server = connection(&url);
    let mut apart = || server.hlen::<_, usize>(format!("wh:{{{queue}}}:bodies")).unwrap();
    let sized = |name: &str, bytes: u8, times: usize, replace| {
        let payload = vec![bytes; times];
        Change::Put(Put { payload, policy: "p".into(), replace, ..job(name, 0) })
    };
    let of = |row: &Entry| (row.key.to_string(), row.policy.clone(), row.payload.clone());
    let with = |name: &str, byte, times| (name.to_owned(), "p".to_owned(), vec![byte; times]);

    let new = [sized("a", 1, 127, false), sized("b", 2, 128, false), sized("c", 3, 9_000, false)];
    assert_eq!(store.commit(&new).unwrap(), [Outcome::Done; 3]);
    assert_eq!(apart(), 2);
    let all = [with("a", 1, 127), with("b", 2, 128), with("c", 3, 9_000)];
    let mut listed: Vec<_> = rows(&mut store).iter().map(of).collect();
    listed.sort();
    assert_eq!(listed, all);
    let leased = claim(&mut store);
    assert_eq!(leased.iter().map(|leased| of(&leased.job)).collect::<Vec<_>>(), all);
    assert_eq!(of(&store.find(&key("c")).unwrap().unwrap()), all[2]);

    // Each is replaced during its run by one whose body is stored in the other place.
    let newer = [sized("a", 4, 9_000, true), sized("b", 5, 9, true), bury(&leased[2], "r")];
    let answers = [Outcome::Replaced, Outcome::Replaced, Outcome::Done];
    assert_eq!(store.commit(&newer).unwrap(), answers);
    assert_eq!(apart(), 1);
    let ends = [ack(&leased[0]), retry(&leased[1], 0)];
    assert_eq!(store.commit(&ends).unwrap(), [Outcome::Done, Outcome::Closed]);
    let dead = store.dead(None, 9).unwrap().remove(0);
    assert_eq!((of(&dead.job), &*dead.reason), (with("c", 3, 9_000), "r"));
    let when = When::After(Duration::ZERO);
    let revive = Change::Revive { generation: dead.job.generation, when };
    assert_eq!(one(&mut store, revive), Outcome::Done);
    assert_eq!(apart(), 2);

    let again = claim(&mut store);
    let all = [with("a", 4, 9_000), with("b", 5, 9), with("c", 3, 9_000)];
    assert_eq!(again.iter().map(|leased| of(&leased.job)).collect::<Vec<_>>(), all);
    assert_eq!(one(&mut store, ack(&again[0])), Outcome::Done);
    assert_eq!(one(&mut store, retry(&again[2], 0)), Outcome::Done);
    // One batch replaces a long body by a long one, and another by none.
    let last = [cancel("c"), sized("c", 6, 300, false), sized("c", 7, 400, true)];
    let answers = [Outcome::Cancelled, Outcome::Done, Outcome::Replaced];
    assert_eq!(store.commit(&last).unwrap(), answers);
    assert_eq!(of(&store.find(&key("c")).unwrap().unwrap()), with("c", 7, 400));
    assert_eq!(apart(), 1);
    assert_eq!(one(&mut store, sized("c", 8, 0, true)), Outcome::Replaced);
    assert_eq!(of(&store.find(&key("c")).unwrap().unwrap()), with("c", 8, 0));
    assert_eq!(apart(), 0);
}
