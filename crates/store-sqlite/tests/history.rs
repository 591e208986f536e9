//! Histories of processes on one file, which are stopped and killed.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use wheelhouse_store_conformance::history::{Log, Trial, play, trial};
use wheelhouse_store_sqlite::SqliteStore;

const FILE: &str = "WHEELHOUSE_TEST_FILE";
const NAME: &str = "WHEELHOUSE_TEST_NAME";
const LOG: &str = "WHEELHOUSE_TEST_LOG";

fn variable(name: &str) -> String {
    std::env::var(name).expect("run by its parent")
}

#[test]
#[ignore = "a child"]
fn plays() {
    let mut store = SqliteStore::open(variable(FILE)).unwrap();
    let mut log = Log::create(&PathBuf::from(variable(LOG)));
    play(&mut store, &mut log, &variable(NAME), Duration::from_secs(60));
}

#[test]
fn processes_on_one_file_keep_the_promises() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.timers");
    let store = Box::new(SqliteStore::open(&path).unwrap());
    let command = |name: &str, log: &Path| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "plays", "--ignored", "--nocapture"]);
        command.env(FILE, &path).env(NAME, name).env(LOG, log).stdout(Stdio::null());
        command
    };
    let settings = Trial { processes: 3, time: Duration::from_secs(6), repeats: false };
    trial(settings, folder.path(), command, |_| {}, store);
}
