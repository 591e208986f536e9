//! Crashes: acknowledged batches are stored, and no batch is stored in part.
//!
//! A child commits batches until it is killed, or its machine loses power. Then the file must have
//! the state after a whole number of batches: all batches that the child has acknowledged, and at
//! most one more. So no acknowledged change is missing, and no cancelled job comes back.

mod common;

use common::{Mounted, Process, file, temporary};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::collections::BTreeMap;
use std::fs;
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use wheelhouse_durable::store::{Change, ClaimLimit, Key, Kinds, Put, Store};
use wheelhouse_store_conformance::jobs::{begin, cancel, job, key, rows};
use wheelhouse_store_sqlite::SqliteStore;

/// The changes of batch `n` of a round: the same in the child and in the model.
fn batch(round: u64, n: u64) -> Vec<Change> {
    let mut random = Pcg64::seed_from_u64(round << 32 | n);
    let size = random.random_range(1..20);
    let mut change = || {
        let name = format!("key {}", random.random_range(0..60));
        match random.random_range(0..10) {
            0..6 => {
                let replace = random.random();
                let payload = format!("{round} {n} ").repeat(random.random_range(1..400));
                let (payload, policy) = (payload.into_bytes(), n.to_string());
                Change::Put(Put { payload, policy, replace, ..job(&name, 3_600_000) })
            }
            _ => cancel(&name),
        }
    };
    (0..size).map(|_| change()).collect()
}

/// The expected contents of the store: key -> payload.
type Model = BTreeMap<Key, Vec<u8>>;

fn apply(model: &mut Model, changes: Vec<Change>) {
    for change in changes {
        match change {
            Change::Put(put) if put.replace || !model.contains_key(&put.key) => {
                model.insert(put.key, put.payload);
            }
            Change::Cancel { key } => drop(model.remove(&key)),
            _ => {}
        }
    }
}

/// The file by which a child gets the number of its round.
fn round_file(path: &Path) -> PathBuf {
    path.with_extension("round")
}

/// The key and the kind of the job that is leased, and begins, between the batches.
const LEASED: &str = "leased";

#[test]
#[ignore = "a child process, which the other tests of this file start"]
fn commits_for_ever() {
    let round: u64 = fs::read_to_string(round_file(&file())).unwrap().parse().unwrap();
    // This file is never synced: if a copy of the disk has it, the power cut lost nothing.
    fs::write(file().with_extension("unsynced"), [1; 100]).unwrap();
    let mut store = SqliteStore::open(file()).unwrap();
    store.commit(&[Change::Put(Put { kind: LEASED.into(), ..job(LEASED, 0) })]).unwrap();
    println!("ready");
    for n in 0.. {
        // A begin is not synced, and must not harm the batches around it. The lease has ended when
        // the next one is asked for.
        let lease = Duration::from_millis(1);
        let claimed = store.claim(&Kinds::new([LEASED]), ClaimLimit::jobs(1), lease);
        let begins: Vec<_> = claimed.unwrap().0.iter().map(begin).collect();
        store.commit(&begins).unwrap();
        store.commit(&batch(round, n)).unwrap();
        println!("committed {n}");
    }
}

/// Starts a child that has opened the file and commits.
fn committing(path: &Path, round: u64) -> Process {
    fs::write(round_file(path), round.to_string()).unwrap();
    let mut process = Process::start("commits_for_ever", path);
    process.wait_for("ready");
    process
}

/// Kills the child, and returns the number of batches that it has acknowledged.
fn kill(mut process: Process) -> u64 {
    process.kill();
    let told = process.lines.lines().map_while(Result::ok);
    told.filter(|line| line.contains("committed")).count() as u64
}

/// Checks that the file has the expected contents, and returns them.
fn check(path: &Path, mut model: Model, round: u64, acknowledged: u64) -> Model {
    let mut store = SqliteStore::open(path).unwrap();
    store.verify().unwrap();
    let mut state: Model = rows(&mut store).into_iter().map(|row| (row.key, row.payload)).collect();
    assert!(state.remove(&key(LEASED)).is_some(), "round {round}: no leased job");
    (0..acknowledged).for_each(|n| apply(&mut model, batch(round, n)));
    let mut one_more = model.clone();
    apply(&mut one_more, batch(round, acknowledged));
    assert!(
        state == model || state == one_more,
        "round {round}: not the state after {acknowledged} batches, nor after one more"
    );
    state
}

#[test]
fn a_killed_process_loses_nothing_and_leaves_nothing_half() {
    let (_folder, path) = temporary();
    let mut random = Pcg64::seed_from_u64(18);
    let (mut model, mut batches) = (Model::new(), 0);
    // On a slow disk, the same number of batches needs more rounds.
    let mut round = 0;
    while round < 50 || batches <= 100 {
        let process = committing(&path, round);
        std::thread::sleep(Duration::from_micros(random.random_range(0..40_000)));
        let acknowledged = kill(process);
        model = check(&path, model, round, acknowledged);
        batches += acknowledged;
        round += 1;
    }
    eprintln!("{round} kills, {batches} acknowledged batches, none missing");
}

fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
}

/// The store is on a file system in an image, which is copied while the child is stopped. Unsynced
/// writes are in the page cache above the image, so the copy does not have them. (This does not
/// test a disk that loses synced writes.)
#[test]
#[ignore = "by hand, as root: it mounts file systems (mkfs.ext4, mount -o loop)"]
fn a_power_cut_loses_nothing_that_was_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let [image, copy] = ["disk", "copy"].map(|name| folder.path().join(name));
    fs::File::create(&image).unwrap().set_len(64 << 20).unwrap();
    run(Command::new("mkfs.ext4").args(["-q", "-F"]).arg(&image));
    let mount = |image: &Path, at| Mounted::new(image, &["-o", "loop"], at).expect("it mounts");
    let disk = mount(&image, folder.path().join("before"));
    let mut random = Pcg64::seed_from_u64(18);
    let (mut batches, mut lost) = (0, 0);
    for round in 0..20 {
        let place = disk.0.join(round.to_string());
        fs::create_dir(&place).unwrap();
        let process = committing(&place.join("a.timers"), round);
        std::thread::sleep(Duration::from_micros(random.random_range(0..200_000)));
        run(Command::new("kill").args(["-STOP", &process.child.id().to_string()]));
        fs::copy(&image, &copy).unwrap();
        let acknowledged = kill(process);
        let after = mount(&copy, folder.path().join(format!("after {round}")));
        let found = after.0.join(round.to_string());
        check(&found.join("a.timers"), Model::new(), round, acknowledged);
        let unsynced = fs::read(found.join("a.unsynced")).unwrap_or_default();
        lost += u32::from(unsynced.is_empty());
        fs::remove_dir_all(place).unwrap();
        batches += acknowledged;
    }
    assert!(batches > 100, "only {batches} batches were acknowledged");
    assert!(lost > 0, "no cut lost the file that is never synced: these were no power cuts");
    eprintln!(
        "20 cuts, {batches} acknowledged batches, none missing; {lost} cuts lost unsynced data"
    );
}
