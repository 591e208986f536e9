//! Transactions of the caller, the clock, the journal.

mod common;

use common::{manual, temporary};
use rusqlite::{Connection, TransactionBehavior};
use std::fs;
use std::time::{Duration, SystemTime};
use wheelhouse_durable::store::{MemoryStore, Outcome, Store, StoreClock, Timestamp};
use wheelhouse_service::ManualClock;
use wheelhouse_store_conformance::jobs::{ack, claim, key, names, one, put, rows};
use wheelhouse_store_sqlite::{SqliteStore, ack_in, commit_in};

/// The effect and the ack are committed together or not at all.
#[test]
fn an_ack_shares_the_transaction_of_its_effect() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shop.timers");
    let mut store = SqliteStore::open(&path).unwrap();
    let mut shop = Connection::open(&path).unwrap();
    shop.execute_batch("CREATE TABLE shipped (id TEXT)").unwrap();
    let shipped = |shop: &Connection| -> u32 {
        shop.query_row("SELECT count(*) FROM shipped", (), |row| row.get(0)).unwrap()
    };
    let mut begin = |ends: fn(rusqlite::Transaction<'_>) -> rusqlite::Result<()>, token| {
        let transaction = shop.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
        transaction.execute("INSERT INTO shipped VALUES ('17')", ()).unwrap();
        let outcome = ack_in(&transaction, &key("17"), token).unwrap();
        ends(transaction).unwrap();
        (outcome, shipped(&shop))
    };
    store.commit(&[put("17", 0)]).unwrap();
    let leased = claim(&mut store).remove(0);
    let rolled_back = begin(|its| its.rollback(), leased.token);
    assert_eq!(rolled_back, (Outcome::Done, 0));
    assert_eq!(rows(&mut store).len(), 1, "the ack was rolled back with the effect");
    assert_eq!(begin(|its| its.commit(), leased.token), (Outcome::Done, 1));
    assert_eq!(rows(&mut store).len(), 0);
    let again = begin(|its| its.rollback(), leased.token);
    assert_eq!(again, (Outcome::Absent, 1), "the job has ended before");
    assert_eq!(one(&mut store, ack(&leased)), Outcome::Absent);
}

#[test]
fn a_job_shares_the_transaction_of_what_it_belongs_to() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shop.timers");
    let mut store = SqliteStore::open(&path).unwrap();
    let mut shop = Connection::open(&path).unwrap();
    shop.execute_batch("CREATE TABLE orders (id TEXT)").unwrap();
    for (name, commit) in [("lost", false), ("kept", true)] {
        let transaction = shop.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
        transaction.execute("INSERT INTO orders VALUES (?1)", [name]).unwrap();
        assert_eq!(commit_in(&transaction, &[put(name, 9)]).unwrap(), [Outcome::Done]);
        if commit { transaction.commit() } else { transaction.rollback() }.unwrap();
    }
    let names: Vec<_> = rows(&mut store).into_iter().map(|row| row.key.to_string()).collect();
    assert_eq!(names, ["kept"]);
    let generation = rows(&mut store)[0].generation;
    store.commit(&[put("later", 9)]).unwrap();
    let rows = rows(&mut store);
    assert!(rows.iter().any(|row| row.generation > generation), "one shared counter: {rows:?}");
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

/// The journal is copied into the file and reused. (`cargo bench --bench durable` measures that
/// memory does not grow with the jobs either.)
#[test]
fn the_journal_stays_small() {
    let (folder, path) = temporary();
    let mut store = SqliteStore::open(&path).unwrap();
    let mut most = 0;
    for n in 0..60 {
        let puts: Vec<_> = (0..1_000)
            .map(|i| put(&format!("{:x}", (n * 1_000 + i) * 2_654_435_761_u64), 9))
            .collect();
        store.commit(&puts).unwrap();
        let journal = fs::metadata(folder.path().join("a.timers-wal")).unwrap().len();
        most = most.max(journal);
    }
    assert!(most < 12 << 20, "a journal of {most} bytes");
    assert_eq!(rows(&mut store).len(), 60_000);
    store.verify().unwrap();
}

/// A short journal is copied often, and each copy delays the waiting caller little.
#[test]
fn small_commits_keep_the_journal_short() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = SqliteStore::open(folder.path().join("a.timers")).unwrap();
    for n in 0..400_u64 {
        one(&mut store, put(&format!("{:x}", n * 2_654_435_761), 9));
    }
    let journal = fs::metadata(folder.path().join("a.timers-wal")).unwrap().len();
    assert!(journal < 1 << 20, "a journal of {journal} bytes");
}

/// For monitoring.
#[test]
fn the_length_of_the_journal_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = SqliteStore::open(folder.path().join("a.timers")).unwrap();
    one(&mut store, put("a", 0));
    assert!(store.gauges().unwrap()["wal_bytes"] > 4_096);
}

/// A job without a delay is due at the present rounded down: a claim within the same millisecond
/// gets it.
#[test]
fn a_job_without_a_delay_is_due_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let (time, clock) = manual();
    time.advance(Duration::from_micros(500));
    let file = SqliteStore::with_clock(folder.path().join("a.timers"), clock.clone()).unwrap();
    let stores: [Box<dyn Store>; 2] = [Box::new(file), Box::new(MemoryStore::with_clock(clock))];
    for mut store in stores {
        store.commit(&[put("now", 0), put("soon", 1)]).unwrap();
        assert_eq!(names(&claim(&mut store)), ["now"]);
    }
}
