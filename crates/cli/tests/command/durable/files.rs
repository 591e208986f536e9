//! `wheelhouse durable` on SQLite files.

use super::{bury, claim, dumped, fill, is_changed, is_counted, is_dumped, put, rows};
use crate::{Scratch, command, fails, succeeds, wheelhouse};
use std::fs;
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::process::Stdio;
use wheelhouse_durable::store::{State, Store};
use wheelhouse_durable::{Durable, Handlers};
use wheelhouse_store_sqlite::{SqliteStore, rusqlite::Connection};

/// The bytes of a store's files, by name.
fn files(scratch: &Scratch) -> Vec<(String, Vec<u8>)> {
    let mut all: Vec<_> = fs::read_dir(scratch.0.path())
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
        .collect();
    all.sort();
    all
}

fn new_store() -> (Scratch, String, SqliteStore) {
    let scratch = Scratch::new();
    let path = scratch.path("a.timers");
    let store = SqliteStore::open(&path).unwrap();
    (scratch, path, store)
}

#[test]
fn a_file_that_a_program_has_open_is_reported_and_not_changed() {
    let (scratch, path, mut store) = new_store();
    let generations = fill(&mut store);
    let kept = |name: &str| !name.ends_with("-shm"); // it has the marks of readers
    let before: Vec<_> = files(&scratch).into_iter().filter(|(name, _)| kept(name)).collect();
    is_counted(&path, "SQLite", 2);
    is_dumped(&path, generations);
    succeeds(&format!("durable verify {path}"));
    let after: Vec<_> = files(&scratch).into_iter().filter(|(name, _)| kept(name)).collect();
    assert!(before == after, "a byte was changed, or a file made");
    // The program continues.
    store.commit(&[put("more", "close/1", 9, b"3")]).unwrap();
    assert_eq!(dumped(&path).len(), 6);
}

#[test]
fn leases_of_a_program_that_is_gone_are_reported_and_not_freed() {
    let (scratch, path, mut store) = new_store();
    let generations = fill(&mut store);
    drop(store);
    let before = fs::read(&path).unwrap();
    is_counted(&path, "SQLite", 2);
    is_dumped(&path, generations);
    assert!(before == fs::read(&path).unwrap(), "the file was changed");
    let left: Vec<String> = files(&scratch).into_iter().map(|(name, _)| name).collect();
    assert!(left.iter().all(|name| !name.contains("holder-2")), "no epoch is drawn: {left:?}");
    let mut store = SqliteStore::open_to_read(&path).unwrap();
    let held = rows(&mut store).into_iter().find(|row| row.key.as_bytes() == b"held").unwrap();
    assert!(matches!(held.state, State::Begun(_)));
}

#[test]
fn a_file_that_is_none_of_ours_is_refused_and_none_is_made() {
    let scratch = Scratch::new();
    let write = |name: &str, bytes: &[u8]| {
        let path = scratch.path(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    let foreign = scratch.path("foreign");
    Connection::open(&foreign).unwrap().execute("CREATE TABLE t (x)", ()).unwrap();
    let newer = scratch.path("newer");
    let format = SqliteStore::open(&newer).unwrap().format().unwrap();
    Connection::open(&newer).unwrap().pragma_update(None, "user_version", format + 1).unwrap();
    let refused = [
        (scratch.path("missing"), "there is no file"),
        (scratch.path(""), "is a folder: name the file in it"),
        (write("empty", b""), "is empty; name another one"),
        (write("text", &b"no database at all\n".repeat(99)), "it is not a SQLite database"),
        (foreign, "another program's SQLite database"),
        (newer, "run the newer version"),
    ];
    let before = files(&scratch);
    for (path, part) in refused {
        for (what, rest) in
            [("inspect", ""), ("dump", ""), ("verify", ""), ("retry", "1"), ("forget", "1")]
        {
            let all = format!("durable {what} {path} {rest}");
            let message = fails(&all);
            assert!(message.contains(part) && message.contains(&path), "{part}: {message}");
            assert!(wheelhouse(&all).stdout.is_empty());
        }
    }
    let data = |(name, _): &(String, Vec<u8>)| !name.ends_with("-wal") && !name.ends_with("-shm");
    let after: Vec<_> = files(&scratch).into_iter().filter(data).collect();
    assert!(before.into_iter().filter(data).eq(after), "a file was made or changed");
}

#[test]
fn an_empty_store_is_no_error() {
    let (_scratch, path, store) = new_store();
    drop(store);
    assert!(succeeds(&format!("durable inspect {path}")).contains("no job is waiting"));
    assert_eq!(succeeds(&format!("durable dump {path}")), "");
    assert_eq!(succeeds(&format!("durable dump {path} --dead")), "");
    succeeds(&format!("durable verify {path}"));
}

/// Without the row of a shard, the next program would not start.
#[test]
fn rows_of_the_store_itself_are_not_changed_as_jobs() {
    let scratch = Scratch::new();
    let paths = ["a.timers", "b.timers"].map(|name| scratch.path(name));
    let start = || {
        let stores = paths.each_ref().map(|path| SqliteStore::open(path).unwrap());
        Durable::builder(Handlers::new()).start_shards(stores)
    };
    drop(start().unwrap());
    for (path, shard) in paths.iter().zip(["shard 1 of 2", "shard 2 of 2"]) {
        let told = succeeds(&format!("durable inspect {path}"));
        assert!(told.contains(shard) && told.contains("no job is waiting"), "{told}");
    }
    let path = &paths[0];
    succeeds(&format!("durable pause {path} mail/1"));
    let before = rows(&mut SqliteStore::open_to_read(path).unwrap());
    for key in ["wheelhouse-shard", "wheelhouse-pause:mail/1", "wheelhouse-pause:"] {
        for call in ["cancel", "run", "move --in 1h"] {
            let message = fails(&format!("durable {call} {path} order-17 {key}"));
            let said = message.contains(key) && message.contains("is reserved");
            assert!(said && message.contains("resume"), "{message}");
        }
    }
    assert_eq!(rows(&mut SqliteStore::open_to_read(path).unwrap()), before);
    drop(start().expect("the shards are still known"));
}

#[test]
fn damage_is_reported_with_its_position() {
    let (_scratch, path, mut store) = new_store();
    let jobs: Vec<_> = (100..900).map(|n| put(&n.to_string(), "a/1", n, &[7; 200])).collect();
    store.commit(&jobs).unwrap();
    drop(store);
    let whole = fs::read(&path).unwrap();

    // A row that SQLite finds nothing wrong with.
    let sql = Connection::open(&path).unwrap();
    sql.execute("UPDATE job SET state = 9 WHERE key = CAST('500' AS BLOB)", ()).unwrap();
    drop(sql);
    for what in ["verify", "dump", "inspect"] {
        let message = fails(&format!("durable {what} {path}"));
        assert!(message.contains("after the job 499: damaged"), "{what}: {message}");
    }

    // A page that contradicts its index.
    fs::write(&path, &whole).unwrap();
    let mut file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.seek(SeekFrom::Start(whole.len() as u64 / 2 / 4096 * 4096)).unwrap();
    file.write_all(&[0x5A; 4096]).unwrap();
    drop(file);
    assert!(fails(&format!("durable verify {path}")).contains("damaged"));
}

#[test]
fn a_dead_letter_is_retried_or_forgotten() {
    let (_scratch, path, mut store) = new_store();
    let [first, second] = fill(&mut store);
    let third = bury(&mut store, "third", "once more");

    let message = fails(&format!("durable retry {path} 1"));
    assert!(message.contains("no dead letter 1") && message.contains("dump --dead"), "{message}");

    // The program has the file open, and claims the job again.
    succeeds(&format!("durable retry {path} {first}"));
    let again = claim(&mut store, "burial/1");
    assert_eq!((again.job.key.as_bytes(), again.job.attempt), (&b"first"[..], 1));
    assert_eq!(dumped(&format!("{path} --dead")).keys().collect::<Vec<_>>(), ["second", "third"]);

    // Valid changes are made, and the others are reported.
    store.commit(&[put("second", "close/1", 60, b"9")]).unwrap();
    let message = fails(&format!("durable retry {path} {second} {third} 5"));
    assert!(message.contains("a newer job has the key second"), "{message}");
    assert!(message.contains("no dead letter 5"), "{message}");
    assert_eq!(claim(&mut store, "burial/1").job.key.as_bytes(), b"third");

    let forget = format!("durable forget {path} {second}");
    let line = succeeds(&forget);
    let line: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!((&line["key"], &line["payload"]["id"]), (&"second".into(), &17.into()));
    assert!(dumped(&format!("{path} --dead")).is_empty());
    assert!(fails(&forget).contains("no dead letter"));
}

#[test]
fn jobs_are_cancelled_moved_and_run_and_kinds_are_paused() {
    let (scratch, path, mut store) = new_store();
    fill(&mut store);
    is_changed(&path, &mut store);
    assert!(rows(&mut store).iter().all(|row| row.paused().is_none()), "all pauses are gone");
    assert!(fails(&format!("durable move {path} far")).contains("--in"));
    let no_file = scratch.path("none.timers");
    assert!(fails(&format!("durable run {no_file} far")).contains("there is no file"));
    assert!(!std::path::Path::new(&no_file).exists());
}

#[test]
fn a_dump_succeeds_if_its_reader_stops() {
    let (_scratch, path, mut store) = new_store();
    // More than a pipe holds, and more than a page.
    let jobs: Vec<_> = (100..900).map(|n| put(&n.to_string(), "a/1", n, &[7; 1_000])).collect();
    store.commit(&jobs).unwrap();
    assert_eq!(dumped(&path).len(), 800);
    let mut dump = command(&format!("durable dump {path}"));
    let mut child = dump.stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains("\"key\":\"100\""), "{line}");
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_file_is_copied_while_it_is_open_and_restored_when_it_is_not() {
    let (scratch, path, mut store) = new_store();
    let copy = scratch.path("copy.timers");
    let generations = fill(&mut store);
    let [backup, restore] =
        [format!("durable backup {path} {copy}"), format!("durable restore {copy} {path}")];
    succeeds(&backup);
    is_dumped(&copy, generations);
    store.commit(&[put("more", "close/1", 9, b"3")]).unwrap();
    let error = fails(&restore);
    assert!(error.contains("stop it first"), "{error}");
    let error = fails(&backup);
    assert!(error.contains("name a new file"), "{error}");
    drop(store);
    let told = succeeds(&restore);
    assert_eq!(told, "", "messages are for standard error");
    is_dumped(&path, generations);
    assert_eq!(dumped(&scratch.path("a.timers.replaced")).len(), 6);
    fails(&format!("durable backup redis://127.0.0.1/ {copy}"));
    fails(&format!("durable restore none {path}"));
}
