//! Processes that are killed or stopped, and two processes on one file.
//!
//! A child process is this program, which runs one ignored test.

mod common;

use common::child::{child, file, go, wait_for};
use common::{manual, temporary};
use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use wheelhouse_durable::store::{Change, Outcome, Put, Store, Token};
use wheelhouse_durable::{Durable, Handlers, Next};
use wheelhouse_store_conformance::history;
use wheelhouse_store_conformance::jobs::{
    KIND, ack, cancel, claim, commit, job, key, lease, names, one, put, rows,
};
use wheelhouse_store_sqlite::SqliteStore;

#[test]
#[ignore = "a child"]
fn claims_and_waits() {
    let mut store = SqliteStore::open(file()).unwrap();
    let leased = claim(&mut store);
    println!("claimed {}", names(&leased).join(" "));
    std::thread::sleep(Duration::from_secs(60));
}

/// The leases of a killed process are freed as soon as the file is opened again, long before their
/// end, and the attempts count. The leases of a live process are not freed.
#[test]
fn leases_of_a_killed_process_are_free_at_once() {
    let (folder, path) = temporary();
    let mut store = SqliteStore::open(&path).unwrap();
    store.commit(&[put("a", 2), put("b", 1), put("waits", 1_000_000)]).unwrap();
    std::thread::sleep(Duration::from_millis(5));
    let (mut holder, mut lines) = child("claims_and_waits", &path);
    assert_eq!(wait_for(&mut lines, "claimed"), "b a");
    assert_eq!(names(&claim(&mut store)), [""; 0]);
    drop(store);
    let mut store = SqliteStore::open(&path).unwrap();
    assert_eq!(names(&claim(&mut store)), [""; 0], "the holder lives");
    drop(store);

    holder.kill().unwrap();
    holder.wait().unwrap();
    let mut store = SqliteStore::open(&path).unwrap();
    let leased = claim(&mut store);
    assert_eq!(names(&leased), ["b", "a"], "in the order of their due times");
    assert!(leased.iter().all(|leased| leased.job.attempt == 2));
    let left = std::fs::read_dir(folder.path()).unwrap();
    let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    let holders = left.iter().filter(|name| name.to_string_lossy().contains("holder")).count();
    assert_eq!(holders, 1, "the files of dead holders are removed: {left:?}");
}

/// The same within one process. A run whose job was cancelled or replaced is not repeated.
#[test]
fn leases_of_a_dropped_store_are_free_at_once() {
    let (_folder, path) = temporary();
    let (time, clock) = manual();
    let mut store = SqliteStore::with_clock(&path, clock.clone()).unwrap();
    store.commit(&[put("cancelled", 0), put("replaced", 0), put("runs", 0)]).unwrap();
    let leased = claim(&mut store);
    assert_eq!(leased.len(), 3);
    let new = Put { replace: true, ..job("replaced", 100) };
    let changes = [cancel("cancelled"), Change::Put(new)];
    assert_eq!(store.commit(&changes).unwrap(), [Outcome::Running, Outcome::Replaced]);
    drop(store);

    let mut store = SqliteStore::with_clock(&path, clock).unwrap();
    let again = claim(&mut store);
    assert_eq!(names(&again), ["runs"]);
    assert_eq!(rows(&mut store).len(), 2, "the cancelled job is gone");
    time.advance(Duration::from_millis(100));
    assert_eq!(names(&claim(&mut store)), ["replaced"]);
    assert_eq!(one(&mut store, ack(&leased[2])), Outcome::Superseded);
    assert_eq!(one(&mut store, ack(&again[0])), Outcome::Done);
}

#[test]
#[ignore = "a child"]
fn dies_in_its_handler() {
    let handlers = Handlers::new().on_bytes(KIND, |run, _| {
        println!("attempt {}", run.attempt());
        std::process::abort();
    });
    let timers = Durable::builder(handlers).max_attempts(3);
    let timers = timers.start(SqliteStore::open(file()).unwrap()).unwrap();
    loop {
        if let Some(dead) = timers.dead(None, 1).unwrap().first() {
            return println!("dead {}", dead.reason);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A handler that kills its process is called again when the program restarts, with the next
/// attempt, until the attempts are used up.
#[test]
fn a_job_that_kills_its_process_becomes_a_dead_letter() {
    let (_folder, path) = temporary();
    SqliteStore::open(&path).unwrap().commit(&[put("poison", 0)]).unwrap();
    for attempt in 1..=3 {
        let (mut killed, mut lines) = child("dies_in_its_handler", &path);
        assert_eq!(wait_for(&mut lines, "attempt"), attempt.to_string());
        assert!(!killed.wait().unwrap().success());
    }
    let (mut survives, mut lines) = child("dies_in_its_handler", &path);
    let reason = wait_for(&mut lines, "dead");
    assert!(reason.contains('3'), "{reason}");
    assert!(survives.wait().unwrap().success());
}

/// The kind of jobs that abort the process.
const KILLER: &str = "killer/1";

/// The file in which a handler records the keys of its calls.
fn called(path: &Path) -> PathBuf {
    path.with_extension("called")
}

/// Records the calls of a handler, which then takes this time.
fn recording(handlers: Handlers, time: Duration) -> Handlers {
    let called = OpenOptions::new().create(true).append(true).open(called(Path::new(&file())));
    let called = called.unwrap();
    handlers.on_bytes(KIND, move |run, _| {
        (&called).write_all(format!("{}\n", run.key()).as_bytes())?;
        std::thread::sleep(time);
        Ok(Next::Done)
    })
}

#[test]
#[ignore = "a child"]
fn works_beside_a_killer() {
    let handlers = Handlers::new().on_bytes(KILLER, |_, _| std::process::abort());
    let handlers = recording(handlers, Duration::from_millis(5));
    let timers = Durable::start(SqliteStore::open(file()).unwrap(), handlers).unwrap();
    let mut store = SqliteStore::open_to_read(file()).unwrap();
    while !rows(&mut store).is_empty() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let dead = timers.dead(None, 1_000).unwrap();
    let names: Vec<_> = dead.iter().map(|dead| dead.job.key.to_string()).collect();
    println!("dead {}", names.join(" "));
}

/// One job kills its process each time, and two hundred other jobs are due with it. The program is
/// restarted until the killer is a dead letter, and no other job becomes one.
#[test]
fn a_job_that_kills_its_process_dies_alone() {
    let (_folder, path) = temporary();
    let mut puts = vec![Change::Put(Put { kind: KILLER.into(), ..job("killer", 0) })];
    puts.extend((0..200).map(|n| put(&format!("innocent {n}"), 0)));
    SqliteStore::open(&path).unwrap().commit(&puts).unwrap();
    for starts in 1.. {
        assert!(starts <= 30, "the killer is still there");
        let (mut works, mut lines) = child("works_beside_a_killer", &path);
        if works.wait().unwrap().success() {
            assert_eq!(wait_for(&mut lines, "dead"), "killer", "after {starts} starts");
            break;
        }
    }
    let called = std::fs::read_to_string(called(&path)).unwrap();
    let called: BTreeSet<&str> = called.lines().collect();
    assert_eq!(called.len(), 200, "each innocent job has run");
}

#[test]
#[ignore = "a child"]
fn works_until_it_is_killed() {
    let handlers = recording(Handlers::new(), Duration::from_secs(60));
    let _timers = Durable::start(SqliteStore::open(file()).unwrap(), handlers).unwrap();
    std::thread::sleep(Duration::from_secs(60));
}

/// All jobs are cancelled, and the program, whose handlers take long, is killed. The answer was
/// `Running` for exactly the jobs whose handler was called.
#[test]
fn a_cancellation_tells_the_truth() {
    let (_folder, path) = temporary();
    let read = || std::fs::read_to_string(called(&path)).unwrap_or_default();
    for round in 0..4 {
        let names: Vec<_> = (0..60).map(|n| format!("{round}-{n}")).collect();
        let mut store = SqliteStore::open(&path).unwrap();
        store.commit(&names.iter().map(|name| put(name, 0)).collect::<Vec<_>>()).unwrap();
        let (mut works, _lines) = child("works_until_it_is_killed", &path);
        let mine = || -> BTreeSet<String> {
            let all = read();
            all.lines().filter(|key| names.iter().any(|name| name == key)).map(Into::into).collect()
        };
        let patience = Instant::now();
        while mine().len() < 4 {
            assert!(patience.elapsed() < Duration::from_secs(60), "four workers are busy");
            std::thread::sleep(Duration::from_millis(2));
        }
        let outcomes = store.commit(&names.iter().map(|name| cancel(name)).collect::<Vec<_>>());
        let outcomes = outcomes.unwrap();
        works.kill().unwrap();
        works.wait().unwrap();
        let of = |which| {
            let pairs = names.iter().zip(&outcomes).filter(move |(_, outcome)| **outcome == which);
            pairs.map(|(name, _)| name.clone()).collect::<BTreeSet<_>>()
        };
        assert_eq!(of(Outcome::Running), mine());
        assert_eq!((of(Outcome::Running).len(), of(Outcome::Cancelled).len()), (4, 56));
    }
}

#[test]
#[ignore = "a child"]
fn claims_and_acks_when_told() {
    let mut store = SqliteStore::open(file()).unwrap();
    let leased = claim(&mut store).remove(0);
    println!("claimed {}", leased.token);
    // The parent stops this process here, past the end of the lease, which it shortens.
    while !go(Path::new(&file())).exists() {
        std::thread::sleep(Duration::from_millis(1));
    }
    println!("answered {:?}", one(&mut store, ack(&leased)));
}

/// A process is stopped (SIGSTOP) until its lease has run out and another process has the job. Then
/// its ack is refused.
#[test]
fn a_process_that_was_stopped_past_its_lease_is_superseded() {
    let (_folder, path) = temporary();
    let mut store = SqliteStore::open(&path).unwrap();
    store.commit(&[put("a", 0)]).unwrap();
    let (mut holder, mut lines) = child("claims_and_acks_when_told", &path);
    let token = Token(wait_for(&mut lines, "claimed").parse().unwrap());
    signal(&holder, "STOP");
    // Shortens the lease of thirty seconds, so that the test need not wait.
    let key = key("a");
    let visibility = Duration::from_millis(1);
    one(&mut store, Change::Extend { key: key.clone(), token, visibility });
    std::thread::sleep(Duration::from_millis(5));
    let mine = claim(&mut store).remove(0);
    assert!(mine.token > token && mine.job.attempt == 2);
    std::fs::write(go(&path), "").unwrap();
    signal(&holder, "CONT");
    assert_eq!(wait_for(&mut lines, "answered"), "Superseded");
    holder.wait().unwrap();
    assert_eq!(one(&mut store, Change::Ack { key, token, again: None }), Outcome::Superseded);
    assert_eq!(one(&mut store, ack(&mine)), Outcome::Done);
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").arg(format!("-{name}")).arg(child.id().to_string()).status();
    assert!(sent.unwrap().success());
}

#[test]
#[ignore = "a child"]
fn works_until_nothing_is_left() {
    let mut store = SqliteStore::open(file()).unwrap();
    println!("ready");
    let mut done = 0;
    loop {
        let leased = lease(&mut store, 5);
        if leased.is_empty() {
            break;
        }
        let outcomes = commit(&mut store, &leased.iter().map(ack).collect::<Vec<_>>());
        assert!(outcomes.iter().all(|outcome| *outcome == Outcome::Done));
        done += leased.len();
    }
    println!("done {done}");
}

/// Two processes on one file: each job is run once.
#[test]
fn two_processes_share_the_jobs() {
    let (_folder, path) = temporary();
    let mut store = SqliteStore::open(&path).unwrap();
    let puts: Vec<_> = (0..1_000).map(|n| put(&format!("{n}"), 0)).collect();
    store.commit(&puts).unwrap();
    let mut workers: Vec<_> = (0..2).map(|_| child("works_until_nothing_is_left", &path)).collect();
    let done = workers.iter_mut().map(|(_, lines)| wait_for(lines, "done"));
    let done: Vec<u32> = done.map(|done| done.parse().unwrap()).collect();
    assert_eq!(done.iter().sum::<u32>(), 1_000, "{done:?}");
    workers.iter_mut().for_each(|(worker, _)| assert!(worker.wait().unwrap().success()));
    assert_eq!(rows(&mut store).len(), 0);
}

/// How many jobs the processes of the next test share.
const BACKLOG: u64 = 20_000;

#[test]
#[ignore = "a child"]
fn works_until_no_job_is_left() {
    let runs = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&runs);
    let handlers = Handlers::new().on_bytes(KIND, move |_, _| {
        count.fetch_add(1, Ordering::Relaxed);
        Ok(Next::Done)
    });
    let timers = Durable::start(SqliteStore::open(file()).unwrap(), handlers).unwrap();
    println!("ready");
    while timers.jobs().next().is_some() {
        std::thread::sleep(Duration::from_millis(20));
    }
    timers.stop();
    println!("done {}", runs.load(Ordering::Relaxed));
}

/// No process gets most of the jobs by taking the lock of the file again before others see that it
/// is free. Run by hand, since a busy machine may give one process little of its time: `cargo test
/// --release --test processes -- --ignored --nocapture four_processes`.
#[test]
#[ignore = "needs an idle machine"]
fn four_processes_share_a_backlog_evenly() {
    let (_folder, path) = temporary();
    let mut store = SqliteStore::open(&path).unwrap();
    // Due when all processes have started.
    let puts: Vec<_> = (0..BACKLOG).map(|n| put(&format!("{n}"), 3_000)).collect();
    store.commit(&puts).unwrap();
    let mut workers: Vec<_> = (0..4).map(|_| child("works_until_no_job_is_left", &path)).collect();
    let done = workers.iter_mut().map(|(_, lines)| wait_for(lines, "done"));
    let done: Vec<u64> = done.map(|done| done.parse().unwrap()).collect();
    workers.iter_mut().for_each(|(worker, _)| assert!(worker.wait().unwrap().success()));
    println!("of {BACKLOG} jobs the processes ran {done:?}");
    assert_eq!(done.iter().sum::<u64>(), BACKLOG);
    assert!(done.iter().all(|runs| *runs > BACKLOG / 8), "{done:?}");
}

/// Many threads open a new file at once: while one creates the tables, the others see all of them
/// or none. Forty files, because a mistake would show in about one of ten.
#[test]
fn who_opens_a_new_file_first_does_not_matter() {
    let folder = tempfile::tempdir().unwrap();
    for file in 0..40 {
        let path = folder.path().join(format!("{file}.timers"));
        std::thread::scope(|scope| {
            for n in 0..8 {
                let path = &path;
                scope.spawn(move || {
                    let mut store = SqliteStore::open(path).unwrap();
                    assert_eq!(one(&mut store, put(&format!("{n}"), 0)), Outcome::Done);
                });
            }
        });
        assert_eq!(rows(&mut SqliteStore::open(&path).unwrap()).len(), 8);
    }
}

#[test]
#[ignore = "a child"]
fn plays() {
    history::child(|path| Ok(Box::new(SqliteStore::open(path)?)));
}

/// The history of processes that are stopped and killed.
#[test]
fn a_history_of_three_processes_is_sound() {
    let (folder, path) = temporary();
    let store = Box::new(SqliteStore::open(&path).unwrap());
    history::trial(path.to_str().unwrap(), folder.path(), false, |_| {}, store);
}
