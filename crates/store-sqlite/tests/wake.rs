//! Programs that are woken by the commits of other processes. The store is polled once an hour, so
//! only a wake-up explains that a job runs.
//!
//! A child process is this program, which runs one ignored test.
#![cfg(target_os = "linux")]

mod common;

use common::{Process, file, temporary};
use std::fs;
use std::io::{Read, stdin};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use wheelhouse_durable::store::{Change, Outcome, Put, Store, When};
use wheelhouse_durable::{Durable, Handlers, Next};
use wheelhouse_store_conformance::jobs::*;
use wheelhouse_store_sqlite::rusqlite::{Connection, TransactionBehavior};
use wheelhouse_store_sqlite::{SqliteStore, commit_in};

/// No test waits for as long as this unless it fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// Starts a program on the file, and returns the keys of the jobs that it runs.
fn waiting(path: &Path) -> (Durable, Receiver<String>) {
    let (ran, runs) = channel();
    let handlers = Handlers::new().on_bytes(KIND, move |run, _| {
        ran.send(run.key().to_string())?;
        Ok(Next::Done)
    });
    let timers = Durable::builder(handlers).poll(Duration::from_secs(3_600));
    let timers = timers.start(SqliteStore::open(path).unwrap()).unwrap();
    wait_until("the first claim", || claims(&timers) > 0);
    let polls_only = timers.snapshot().store.contains_key("polls_only");
    assert!(!polls_only, "an inotify instance is left: see fs.inotify.max_user_instances");
    (timers, runs)
}

fn claims(timers: &Durable) -> u64 {
    timers.snapshot().counts.claims
}

fn next(runs: &Receiver<String>) -> String {
    runs.recv_timeout(PATIENCE).expect("a wake-up finds the job")
}

#[test]
#[ignore = "a child"]
fn commits() {
    let mut store = SqliteStore::open(file()).unwrap();
    one(&mut store, put("later", 600_000));
    for n in 0..200 {
        one(&mut store, put(&format!("later still {n}"), 700_000));
    }
    one(&mut store, put("soon", 20));
    one(&mut store, put("now", 0));
}

/// The first job of a kind and each earlier one wake the waiting program. Two hundred later ones do
/// not.
#[test]
fn a_job_of_another_process_runs_without_a_poll() {
    let (_folder, path) = temporary();
    let (timers, runs) = waiting(&path);
    let before = claims(&timers);
    assert!(Process::start("commits", &path).succeeds());
    let mut ran = [next(&runs), next(&runs)];
    ran.sort();
    assert_eq!(ran, ["now", "soon"]);
    let claims = claims(&timers) - before;
    assert!(claims < 30, "{claims} claims, though only three of 203 jobs were the earliest");
}

/// A store is woken once for each earlier job: directly if it commits the job itself, and otherwise
/// by the watcher.
#[test]
fn a_store_is_not_woken_twice_by_its_own_commits() {
    let (_folder, path) = temporary();
    let mut store = SqliteStore::open(&path).unwrap();
    let mut other = SqliteStore::open(&path).unwrap();
    let count = count_wakes(&mut store);
    for n in 0..20_usize {
        let delay = 1_000_000 - 10_000 * n as u64;
        one(&mut store, put(&format!("own {n}"), delay));
        assert_eq!(count.load(Ordering::SeqCst), 2 * n + 1, "by itself");
        one(&mut other, put(&format!("other {n}"), delay - 5_000));
        wait_until("by the other", || count.load(Ordering::SeqCst) > 2 * n + 1);
        assert_eq!(count.load(Ordering::SeqCst), 2 * n + 2);
    }
    // A job that waits for the end of an older run is moved.
    one(&mut store, put("runs", 0));
    assert_eq!(names(&claim(&mut store)), ["runs"]);
    one(&mut store, Change::Put(Put { replace: true, ..job("runs", 2_000_000) }));
    let before = count.load(Ordering::SeqCst);
    let when = When::After(Duration::from_secs(100));
    one(&mut store, Change::Move { key: key("runs"), when });
    assert_eq!(count.load(Ordering::SeqCst), before + 1);
}

#[test]
#[ignore = "a child"]
fn dies_before_its_signal() {
    let path = file();
    let _holder = SqliteStore::open(&path).unwrap();
    // A commit of this connection sends no signal.
    let silent = Connection::open(&path).unwrap();
    silent.query_row("SELECT last FROM meta", (), |_| Ok(())).unwrap();
    println!("ready");
    // The parent closes this pipe.
    stdin().read_to_end(&mut Vec::new()).unwrap();
    let insert = "INSERT INTO job VALUES
        (1, x'61', 'work/1', 1, 0, NULL, NULL, NULL, 1, 0, 0, '', x'')";
    silent.execute(insert, ()).unwrap();
    std::process::abort();
}

#[test]
fn a_process_that_dies_between_its_commit_and_its_signal_wakes_others() {
    let (_folder, path) = temporary();
    drop(SqliteStore::open(&path).unwrap());
    let mut dies = Process::start("dies_before_its_signal", &path);
    dies.wait_for("ready");
    let (_timers, runs) = waiting(&path);
    drop(dies.child.stdin.take());
    assert_eq!(next(&runs), "a");
    assert!(!dies.succeeds());
}

#[test]
#[ignore = "a child"]
fn waits() {
    let (_timers, _runs) = waiting(&file());
    println!("ready");
    std::thread::sleep(10 * PATIENCE);
}

/// A waiting process that was killed neither blocks committers nor the wake-ups of others.
#[test]
fn a_waiting_process_may_be_killed() {
    let (_folder, path) = temporary();
    let (timers, runs) = waiting(&path);
    let mut waits = Process::start("waits", &path);
    waits.wait_for("ready");
    waits.kill();
    let mut store = SqliteStore::open(&path).unwrap();
    for name in ["a", "b"] {
        assert_eq!(one(&mut store, put(name, 0)), Outcome::Done);
        assert_eq!(next(&runs), name);
    }
    drop(timers);
    assert_eq!(one(&mut store, put("c", 0)), Outcome::Done);
    assert_eq!(names(&claim(&mut store)), ["c"], "nothing else waits");
}

/// The file is deleted under a waiting store, and another file gets its name: the store is refused,
/// and the stores of the new file wake each other.
#[test]
fn a_file_that_was_replaced_wakes_those_that_have_it_open() {
    let (_folder, path) = temporary();
    let mut old = SqliteStore::open(&path).unwrap();
    let of_old = count_wakes(&mut old);
    for suffix in ["", "-wal", "-shm"] {
        fs::remove_file(path.with_extension(format!("timers{suffix}"))).unwrap();
    }
    fails(old.find(&key("a")), "start again");
    drop(old);
    // A process that another test starts has the lock of the old store for a moment.
    let mut opened = None;
    wait_until("the new file opens", || {
        opened = SqliteStore::open(&path).ok();
        opened.is_some()
    });
    let mut store = opened.unwrap();
    let count = count_wakes(&mut store);
    one(&mut SqliteStore::open(&path).unwrap(), put("a", 0));
    wait_until("the new file wakes", || count.load(Ordering::SeqCst) > 0);
    assert_eq!(names(&claim(&mut store)), ["a"]);
    drop(store);
    wait_until("the thread of the old store ends", || Arc::strong_count(&of_old) == 1);
}

/// A program is also woken by a transaction of the user, in its own process or another, however
/// long that takes after `commit_in`.
#[test]
fn a_transaction_of_the_user_wakes() {
    let (_folder, path) = temporary();
    let (timers, runs) = waiting(&path);
    let mut shop = Connection::open(&path).unwrap();
    for (name, pause) in [("short", 0), ("long", 1_200)] {
        let transaction = shop.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
        commit_in(&transaction, &[put(name, 0)]).unwrap();
        // The program looks for the job for about a second, and then waits for the commit.
        std::thread::sleep(Duration::from_millis(pause));
        transaction.commit().unwrap();
        assert_eq!(next(&runs), name);
        // Its ack would wait for the next transaction.
        wait_until("the ack", || timers.snapshot().in_flight == 0);
    }
}

#[test]
fn a_store_that_cannot_be_woken_is_reported() {
    let (_folder, path) = temporary();
    let polls_only = |store: &mut SqliteStore| store.gauges().unwrap().contains_key("polls_only");
    let mut store = SqliteStore::open(&path).unwrap();
    assert!(!polls_only(&mut store), "it need not be woken");
    count_wakes(&mut store);
    assert!(!polls_only(&mut store));
    let mut store = SqliteStore::open(&path).unwrap();
    fs::remove_file(path.with_extension("timers-wal")).unwrap();
    count_wakes(&mut store);
    assert!(polls_only(&mut store));
}
