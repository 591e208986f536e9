//! Processes that are killed or stopped, and two processes on one file.
//!
//! A child process is this program, which runs one ignored test.

mod common;

use common::{Process, file, temporary};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use wheelhouse_durable::store::{Change, Outcome, Put, Store};
use wheelhouse_durable::{Durable, DurableRun, Failure, Handlers, Next};
use wheelhouse_store_conformance::history;
use wheelhouse_store_conformance::jobs::*;
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
/// end, and the attempts count. The leases of a live process are not freed. A run whose job was
/// cancelled or replaced is not repeated.
#[test]
fn leases_of_a_killed_process_are_free_at_once() {
    let (folder, path) = temporary();
    let mut store = SqliteStore::open(&path).unwrap();
    store.commit(&[put("a", 4), put("b", 3), put("cancelled", 2), put("replaced", 1)]).unwrap();
    std::thread::sleep(Duration::from_millis(7));
    let mut holder = Process::start("claims_and_waits", &path);
    assert_eq!(holder.wait_for("claimed"), "replaced cancelled b a");
    assert_eq!(names(&claim(&mut store)), [""; 0]);
    let new = Put { replace: true, ..job("replaced", 1_000_000) };
    let changes = [cancel("cancelled"), Change::Put(new)];
    assert_eq!(store.commit(&changes).unwrap(), [Outcome::Running, Outcome::Replaced]);
    drop(store);
    let mut store = SqliteStore::open(&path).unwrap();
    assert_eq!(names(&claim(&mut store)), [""; 0], "the holder lives");
    drop(store);

    holder.kill();
    let mut store = SqliteStore::open(&path).unwrap();
    let leased = claim(&mut store);
    assert_eq!(names(&leased), ["b", "a"], "in the order of their due times");
    assert!(leased.iter().all(|leased| leased.job.attempt == 2));
    assert_eq!(store.find(&key("cancelled")).unwrap(), None);
    let replaced = store.find(&key("replaced")).unwrap().unwrap();
    assert_eq!(replaced.visible_at, replaced.due, "at its own due time");
    let left = std::fs::read_dir(folder.path()).unwrap();
    let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    let holders = left.iter().filter(|name| name.to_string_lossy().contains("holder")).count();
    assert_eq!(holders, 1, "the files of dead holders are removed: {left:?}");
}

/// The kind of jobs that abort the process.
const KILLER: &str = "killer/1";

/// The file in which handlers record the keys of their calls.
fn called(path: &Path) -> PathBuf {
    path.with_extension("called")
}

/// A handler that records its calls, and then does this.
fn recording(
    then: impl Fn() + Send + Sync + 'static,
) -> impl Fn(&DurableRun<'_>, &[u8]) -> Result<Next, Failure> {
    let called = OpenOptions::new().create(true).append(true).open(called(&file())).unwrap();
    move |run, _| {
        (&called).write_all(format!("{}\n", run.key()).as_bytes())?;
        then();
        Ok(Next::Done)
    }
}

#[test]
#[ignore = "a child"]
fn works_beside_a_killer() {
    let handlers = Handlers::new().on_bytes(KILLER, recording(|| std::process::abort()));
    let works = recording(|| std::thread::sleep(Duration::from_millis(5)));
    let handlers = handlers.on_bytes(KIND, works);
    let timers = Durable::start(SqliteStore::open(file()).unwrap(), handlers).unwrap();
    let mut store = SqliteStore::open_to_read(file()).unwrap();
    while !rows(&mut store).is_empty() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let dead = timers.dead(None, 1_000).unwrap();
    let dead: Vec<_> =
        dead.iter().map(|dead| format!("{}: {}", dead.job.key, dead.reason)).collect();
    println!("dead {}", dead.join(" "));
}

/// One job kills its process each time, and two hundred other jobs are due with it. The program is
/// restarted until the attempts of the killer are used up. It becomes a dead letter, and no other
/// job does.
#[test]
fn a_job_that_kills_its_process_dies_alone() {
    let (_folder, path) = temporary();
    let mut puts = vec![Change::Put(Put { kind: KILLER.into(), ..job("killer", 0) })];
    puts.extend((0..200).map(|n| put(&format!("innocent {n}"), 0)));
    SqliteStore::open(&path).unwrap().commit(&puts).unwrap();
    for starts in 1.. {
        assert!(starts <= 30, "the killer is still there");
        let mut works = Process::start("works_beside_a_killer", &path);
        if works.succeeds() {
            let dead = works.wait_for("dead");
            assert!(dead.starts_with("killer: ") && dead.contains("20"), "{starts}: {dead}");
            assert!(!dead.contains("innocent"), "{dead}");
            break;
        }
    }
    let called = std::fs::read_to_string(called(&path)).unwrap();
    let mut runs = BTreeMap::new();
    called.lines().for_each(|key| *runs.entry(key).or_default() += 1);
    assert_eq!(runs.remove("killer"), Some(20), "called in each attempt");
    assert_eq!(runs.len(), 200, "each innocent job has run");
}

#[test]
#[ignore = "a child"]
fn works_until_it_is_killed() {
    let works = recording(|| std::thread::sleep(Duration::from_secs(60)));
    let handlers = Handlers::new().on_bytes(KIND, works);
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
        let mut works = Process::start("works_until_it_is_killed", &path);
        let mine = || -> BTreeSet<String> {
            let all = read();
            all.lines().filter(|key| names.iter().any(|name| name == key)).map(Into::into).collect()
        };
        wait_until("four workers are busy", || mine().len() >= 4);
        let outcomes = store.commit(&names.iter().map(|name| cancel(name)).collect::<Vec<_>>());
        let outcomes = outcomes.unwrap();
        works.kill();
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
fn works_until_no_job_is_left() {
    let runs = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&runs);
    let handlers = Handlers::new().on_bytes(KIND, move |_, _| {
        count.fetch_add(1, Ordering::Relaxed);
        Ok(Next::Done)
    });
    let timers = Durable::start(SqliteStore::open(file()).unwrap(), handlers).unwrap();
    while timers.jobs().next().is_some() {
        std::thread::sleep(Duration::from_millis(20));
    }
    timers.stop();
    println!("done {}", runs.load(Ordering::Relaxed));
}

/// Some processes work on this number of jobs. Returns how many each has run.
fn shared(processes: usize, jobs: u64, delay: u64) -> Vec<u64> {
    let (_folder, path) = temporary();
    let mut store = SqliteStore::open(&path).unwrap();
    let puts: Vec<_> = (0..jobs).map(|n| put(&format!("{n}"), delay)).collect();
    store.commit(&puts).unwrap();
    let work = |_| Process::start("works_until_no_job_is_left", &path);
    let mut workers: Vec<_> = (0..processes).map(work).collect();
    let done = workers.iter_mut().map(|worker| worker.wait_for("done"));
    let done: Vec<u64> = done.map(|done| done.parse().unwrap()).collect();
    assert!(workers.iter_mut().all(Process::succeeds));
    assert_eq!(done.iter().sum::<u64>(), jobs, "{done:?}");
    done
}

/// Two processes on one file: each job is run once.
#[test]
fn two_processes_share_the_jobs() {
    shared(2, 1_000, 0);
}

/// No process gets most of the jobs by taking the lock of the file again before others see that it
/// is free. Run by hand, since a busy machine may give one process little of its time: `cargo test
/// --release --test processes -- --ignored --nocapture four_processes`.
#[test]
#[ignore = "needs an idle machine"]
fn four_processes_share_a_backlog_evenly() {
    // Due when all processes have started.
    let done = shared(4, 20_000, 3_000);
    println!("the processes ran {done:?}");
    assert!(done.iter().all(|runs| *runs > 20_000 / 8), "{done:?}");
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

#[test]
fn a_history_of_three_processes_is_sound() {
    let (folder, path) = temporary();
    let store = Box::new(SqliteStore::open(&path).unwrap());
    history::trial(path.to_str().unwrap(), folder.path(), false, |_| {}, store);
}
