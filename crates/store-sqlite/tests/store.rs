//! Transactions of the caller, the clock, the journal.

mod common;

use common::{manual, temporary};
use rusqlite::{Connection, TransactionBehavior};
use std::fs;
use std::sync::mpsc;
use std::time::{Duration, SystemTime};
use wheelhouse_durable::store::{Outcome, Store, StoreClock, Timestamp};
use wheelhouse_durable::{Durable, Handlers, Next};
use wheelhouse_service::ManualClock;
use wheelhouse_store_conformance::jobs::{KIND, ack, claim, continues, key, names, one, put, rows};
use wheelhouse_store_sqlite::{DurableExt, SqliteStore, commit_in};

/// A job is committed together with the user's row, and an ack together with the effect, or not at
/// all.
#[test]
fn jobs_and_acks_share_transactions_with_the_users_tables() {
    let (_folder, path) = temporary();
    let mut store = SqliteStore::open(&path).unwrap();
    let mut shop = Connection::open(&path).unwrap();
    shop.execute_batch("CREATE TABLE orders (id TEXT)").unwrap();
    let mut transact = |commit, call: &dyn Fn(&Connection) -> Outcome| {
        let transaction = shop.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
        transaction.execute("INSERT INTO orders VALUES ('17')", ()).unwrap();
        let outcome = call(&transaction);
        if commit { transaction.commit() } else { transaction.rollback() }.unwrap();
        outcome
    };
    for (name, commit) in [("lost", false), ("kept", true)] {
        let put = |shop: &Connection| commit_in(shop, &[put(name, 0)]).unwrap()[0];
        assert_eq!(transact(commit, &put), Outcome::Done);
    }
    store.commit(&[put("later", 9_000)]).unwrap();
    let leased = claim(&mut store);
    assert_eq!(names(&leased), ["kept"]);
    let later = store.find(&key("later")).unwrap().unwrap();
    assert!(later.generation > leased[0].job.generation, "one shared counter");
    let ack_it = |shop: &Connection| commit_in(shop, &[ack(&leased[0])]).unwrap()[0];
    for (commit, outcome, left) in
        [(false, Outcome::Done, 2), (true, Outcome::Done, 1), (true, Outcome::Absent, 1)]
    {
        assert_eq!((transact(commit, &ack_it), rows(&mut store).len()), (outcome, left));
    }
    assert_eq!(one(&mut store, ack(&leased[0])), Outcome::Absent);
}

/// A handler commits the end of its run in its own transaction. A periodic job continues.
#[test]
fn a_periodic_job_that_acks_in_a_transaction_of_the_user_continues() {
    let (_folder, path) = temporary();
    let (sender, ran) = mpsc::channel();
    let file = path.clone();
    let handlers = Handlers::new().on_bytes(KIND, move |job, _| {
        let mut shop = Connection::open(&file)?;
        shop.busy_timeout(Duration::from_secs(60))?;
        let transaction = shop.transaction_with_behavior(TransactionBehavior::Immediate)?;
        assert_eq!(commit_in(&transaction, &[job.ack()])?, [Outcome::Done]);
        transaction.commit()?;
        sender.send(job.occurrence())?;
        Ok(Next::Acked)
    });
    let timers = Durable::open(&path, handlers).unwrap();
    continues(&timers, &ran);
    timers.stop();
}

/// The wall clock is set back by an hour while the program is down: no job runs again, and none is
/// early. When the clock is set ahead, the due jobs run.
#[test]
fn a_wall_clock_that_is_set_back_or_ahead_does_no_harm() {
    const NOW: u64 = 1_790_000_000_000;
    let (_folder, path) = temporary();
    let at = |millis| SystemTime::UNIX_EPOCH + Duration::from_millis(millis);
    let wall = ManualClock::with_wall(at(NOW));
    let open = || SqliteStore::with_clock(&path, StoreClock::new(wall.clone())).unwrap();
    let mut store = open();
    store.commit(&[put("now", 0), put("soon", 1_000)]).unwrap();
    let leased = claim(&mut store);
    assert_eq!(names(&leased), ["now"]);
    assert_eq!(one(&mut store, ack(&leased[0])), Outcome::Done);
    drop(store);

    wall.set_wall(at(NOW - 3_600_000));
    let mut store = open();
    assert_eq!(names(&claim(&mut store)), [""; 0]);
    store.commit(&[put("new", 500)]).unwrap();
    let due = store.find(&key("new")).unwrap().unwrap().due;
    assert_eq!(due, Timestamp::from_millis(NOW + 500), "the store's clock stands still");
    wall.set_wall(at(NOW + 499));
    assert_eq!(names(&claim(&mut store)), [""; 0], "nothing is early");
    wall.set_wall(at(NOW + 7_200_000));
    assert_eq!(names(&claim(&mut store)), ["new", "soon"], "in order");
}

/// If two connections have different clocks, the latest time that one has seen holds for the other.
#[test]
fn the_latest_time_seen_is_in_the_file() {
    let (_folder, path) = temporary();
    let (time, ahead) = manual();
    time.advance(Duration::from_secs(3_600));
    let (_, behind) = manual();
    let mut ahead = SqliteStore::with_clock(&path, ahead).unwrap();
    let mut behind = SqliteStore::with_clock(&path, behind).unwrap();
    ahead.commit(&[put("a", 0)]).unwrap();
    behind.commit(&[put("b", 0)]).unwrap();
    let due = |store: &mut SqliteStore, name| store.find(&key(name)).unwrap().unwrap().due;
    assert_eq!(due(&mut behind, "b"), due(&mut ahead, "a"));
}

/// The journal is copied into the file and reused: often if callers wait for few changes, so that
/// each copy delays them little. Its length is shown for monitoring. (`cargo bench --bench durable`
/// measures that memory does not grow with the jobs either.)
#[test]
fn the_journal_stays_small() {
    for (commits, changes, bound) in [(400, 1, 1 << 20), (60, 1_000, 12 << 20)] {
        let (folder, path) = temporary();
        let mut store = SqliteStore::open(&path).unwrap();
        let mut most = 0;
        for n in 0..commits {
            let name = |i| format!("{:x}", (n * changes + i) * 2_654_435_761_u64);
            let puts: Vec<_> = (0..changes).map(|i| put(&name(i), 9)).collect();
            store.commit(&puts).unwrap();
            let journal = fs::metadata(folder.path().join("a.timers-wal")).unwrap().len();
            assert_eq!(store.gauges().unwrap()["wal_bytes"], journal);
            most = most.max(journal);
        }
        assert!((4_096..bound).contains(&most), "a journal of {most} bytes");
        assert_eq!(rows(&mut store).len() as u64, commits * changes);
        store.verify().unwrap();
    }
}
