//! Files that are no store, have a newer format, are damaged or read-only, or are on a full disk.

mod common;

use common::{Mounted, manual, temporary};
use rusqlite::Connection;
use std::fs;
use std::path::{Path, PathBuf};
use wheelhouse_durable::store::{Change, ClaimLimit, Kinds, Outcome, Put, Store, StoreError};
use wheelhouse_store_conformance::jobs::*;
use wheelhouse_store_conformance::{read_golden, write_golden};
use wheelhouse_store_sqlite::SqliteStore;

/// Creates a closed store with some jobs, and returns its bytes.
fn some_jobs(path: &Path, jobs: u32) -> Vec<u8> {
    let mut store = SqliteStore::open(path).unwrap();
    let puts: Vec<_> = (0..jobs).map(|n| put(&format!("job {n}"), 1_000_000)).collect();
    store.commit(&puts).unwrap();
    drop(store);
    fs::read(path).unwrap()
}

#[test]
fn newer_and_foreign_files_are_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    let [shop, letter, newer] = ["shop.db", "letter", "newer"].map(|name| folder.path().join(name));
    Connection::open(&shop).unwrap().execute_batch("CREATE TABLE shop (name TEXT)").unwrap();
    fs::write(&letter, "Dear reader, this is no database. ".repeat(100)).unwrap();
    some_jobs(&newer, 3);
    Connection::open(&newer).unwrap().execute_batch("PRAGMA user_version = 3").unwrap();
    for path in [shop, letter, newer] {
        let before = fs::read(&path).unwrap();
        let error = SqliteStore::open(&path).expect_err("it is refused");
        let is_newer = matches!(error, StoreError::Format { found: 3, known: 2 });
        assert!(is_newer || matches!(error, StoreError::Foreign(_)), "{error:?}");
        assert_eq!(is_newer, path.ends_with("newer"));
        assert_eq!(fs::read(&path).unwrap(), before);
    }
}

/// SQLite's numbers are signed.
#[test]
fn files_with_negative_numbers_are_foreign_or_newer() {
    let folder = tempfile::tempdir().unwrap();
    for (name, sql) in [
        ("shop", "PRAGMA application_id = -1; CREATE TABLE shop (name TEXT)"),
        ("letter", "PRAGMA user_version = -5; CREATE TABLE letter (name TEXT)"),
        ("newer", "PRAGMA application_id = 2003330412; PRAGMA user_version = -5"),
    ] {
        let path = folder.path().join(name);
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        let before = fs::read(&path).unwrap();
        let error = SqliteStore::open(&path).expect_err("it is refused");
        let is_newer = matches!(error, StoreError::Format { .. });
        assert!(is_newer || matches!(error, StoreError::Foreign(_)), "{error:?}");
        assert_eq!(is_newer, name == "newer");
        assert_eq!(fs::read(&path).unwrap(), before);
    }
}

/// Bytes are inverted in every page, in its header and in its middle. If the store opens, no job is
/// missing or damaged, unless `verify` finds an error.
#[test]
fn a_damaged_file_is_refused_or_whole() {
    use StoreError::{Damaged, Foreign, Format};
    let (folder, path) = temporary();
    let whole = some_jobs(&path, 300);
    let (mut refused, pages) = (0, whole.len() / 4096);
    for page in 0..pages {
        for at in [0, 3, 8, 2048] {
            let mut bytes = whole.clone();
            bytes[page * 4096 + at] ^= 0xff;
            // A new path each time, so that no journal of an earlier attempt is next to the file.
            let path = folder.path().join(format!("{page}-{at}.timers"));
            fs::write(&path, &bytes).unwrap();
            match SqliteStore::open(&path) {
                Err(Damaged(_) | Foreign(_) | Format { .. }) => refused += 1,
                Err(other) => panic!("page {page}, byte {at}: {other:?}"),
                Ok(mut store) => {
                    let found = store.verify().is_err();
                    assert!(found || rows(&mut store).len() == 300, "page {page}, byte {at}");
                }
            }
        }
    }
    assert!(refused > pages, "{refused} of {} were refused", pages * 4);
}

/// Opening such a file to read it fails too: an operator who looks why no program starts must see
/// the damage.
#[test]
fn a_file_that_is_cut_short_is_refused() {
    let (folder, path) = temporary();
    let whole = some_jobs(&path, 300);
    let mut overwritten = whole.clone();
    overwritten[2 * 4096..3 * 4096].fill(0xa5);
    for bytes in [&whole[..whole.len() / 2], &overwritten] {
        fs::write(&path, bytes).unwrap();
        for open in [SqliteStore::open, SqliteStore::open_to_read] {
            let error = fails(open(path.clone()), "restore it from a copy");
            assert!(matches!(error, StoreError::Damaged(_)), "{error:?}");
        }
    }
    fails(SqliteStore::open_to_read(folder.path()), "is a folder");
}

#[test]
fn a_path_where_no_file_can_be_is_refused_with_a_remedy() {
    let (folder, path) = temporary();
    some_jobs(&path, 1);
    let [missing, below] = [folder.path().join("no/dir"), path.clone()];
    let remedies = [
        (PathBuf::new(), "the path is empty: name a file".to_owned()),
        (missing.join("x"), format!("there is no folder {}: create it", missing.display())),
        (below.join("x"), format!("{} is not a folder: name a file in a folder", below.display())),
    ];
    for (path, remedy) in &remedies {
        fails(SqliteStore::open(path), remedy);
        fails(SqliteStore::open_to_read(path), remedy);
        fails(SqliteStore::open_to_read(&below).unwrap().backup(path), remedy);
        fails(SqliteStore::restore(path, folder.path().join("new")), remedy);
        fails(SqliteStore::restore(&below, path), remedy);
    }
    let none = folder.path().join("none");
    fails(SqliteStore::open_to_read(&none), &format!("there is no file {}", none.display()));
}

/// A program that opens the file by another name does not free live leases.
#[cfg(unix)]
#[test]
fn a_file_has_one_name() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data-1.timers");
    let (_, clock) = manual();
    let mut first = SqliteStore::with_clock(&path, clock.clone()).unwrap();
    first.commit(&[put("a", 0)]).unwrap();
    assert_eq!(claim(&mut first).len(), 1);
    let link = folder.path().join("current.timers");
    symlink(&path, &link).unwrap();
    let mut second = SqliteStore::with_clock(&link, clock).unwrap();
    assert_eq!(claim(&mut second).len(), 0, "a live lease was freed");
    fs::hard_link(&path, folder.path().join("other.timers")).unwrap();
    for name in ["data-1.timers", "other.timers"] {
        fails(SqliteStore::open(folder.path().join(name)), "hard link");
    }
}

/// Root may write every file, so the folder is mounted read-only, if this process may mount.
#[test]
fn a_read_only_file_can_be_looked_at_and_nothing_else() {
    let (folder, path) = temporary();
    some_jobs(&path, 3);
    let mut store = SqliteStore::open_to_read(&path).unwrap();
    assert_eq!(rows(&mut store).len(), 3);
    assert!(matches!(store.commit(&[put("a", 0)]), Err(StoreError::Refused(_))));
    let claim = store.claim(&Kinds::new([KIND]), ClaimLimit::jobs(9), LEASE);
    assert!(matches!(claim, Err(StoreError::Refused(_))));
    let (_, next) = store.claim(&Kinds::new([KIND]), ClaimLimit::jobs(0), LEASE).unwrap();
    assert!(next.visible_at.is_some(), "the time of the next job can be read");
    assert_eq!(store.format().unwrap(), FORMAT);
    drop(store);
    assert!(SqliteStore::open_to_read(folder.path().join("none")).is_err());

    let Some(_mounted) = Mounted::new(folder.path(), &["-o", "bind,ro"], folder.path()) else {
        return;
    };
    fails(SqliteStore::open(&path), "let this user write the file and its folder");
}

/// A commit that does not fit fails with a remedy. All earlier commits are stored, and the store
/// continues when there is space.
#[test]
fn a_full_disk_loses_nothing_that_was_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let Some(_mounted) =
        Mounted::new(Path::new("none"), &["-t", "tmpfs", "-o", "size=2m"], folder.path())
    else {
        return;
    };
    let spare = folder.path().join("spare");
    fs::write(&spare, vec![0; 300_000]).unwrap();
    let path = folder.path().join("a.timers");
    let mut store = SqliteStore::open(&path).unwrap();
    let large = |n: u32| {
        Change::Put(Put { payload: vec![7; 50_000], ..job(&format!("job {n}"), 1_000_000) })
    };
    let mut acknowledged = 0;
    let error = loop {
        match store.commit(&[large(acknowledged)]) {
            Ok(outcomes) => assert_eq!(outcomes, [Outcome::Done]),
            Err(error) => break error,
        }
        acknowledged += 1;
    };
    assert!(matches!(&error, StoreError::Io(_)) && error.is_transient(), "{error:?}");
    assert!(error.to_string().contains("free space"), "{error}");
    assert!(acknowledged >= 5, "{acknowledged}");
    assert_eq!(rows(&mut store).len(), acknowledged as usize, "reads continue");

    fs::remove_file(&spare).unwrap();
    assert_eq!(one(&mut store, put("small", 0)), Outcome::Done, "there is space again");
    drop(store);
    let mut store = SqliteStore::open(&path).unwrap();
    store.verify().unwrap();
    assert_eq!(rows(&mut store).len(), acknowledged as usize + 1);
}

/// Another program has filled the disk to its last byte: due jobs run, and new jobs are refused
/// until there is space. The same for a program that starts on the full disk.
#[test]
fn jobs_run_on_a_disk_that_is_full_to_the_last_byte() {
    for starts_then in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let options = ["-t", "tmpfs", "-o", "size=8m"];
        let Some(_mounted) = Mounted::new(Path::new("none"), &options, folder.path()) else {
            return;
        };
        run_on_a_full_disk(folder.path(), starts_then);
    }
}

fn run_on_a_full_disk(folder: &Path, starts_then: bool) {
    let path = folder.join("a.timers");
    let mut store = SqliteStore::open(&path).unwrap();
    let puts: Vec<_> = (0..300).map(|n| put(&format!("job {n}"), 0)).collect();
    store.commit(&puts).unwrap();
    let open = (!starts_then).then_some(store);
    let filler = folder.join("filler");
    let mut file = fs::File::create(&filler).unwrap();
    while std::io::Write::write_all(&mut file, &[7; 512]).is_ok() {}
    drop(file);
    let mut store = open.unwrap_or_else(|| SqliteStore::open(&path).unwrap());
    let mut ran = 0;
    while ran < 300 {
        let leased = lease(&mut store, 50);
        let acks: Vec<_> = leased.iter().map(ack).collect();
        assert!(commit(&mut store, &acks).iter().all(|done| *done == Outcome::Done));
        ran += leased.len();
        assert!(fails(store.commit(&[put("new", 0)]), "free ").is_transient());
        let error = store.commit(&[put("new", 0), cancel("none")]).unwrap_err();
        assert!(!error.is_transient(), "a mixed batch is divided: {error:?}");
    }
    fs::remove_file(&filler).unwrap();
    assert_eq!(one(&mut store, put("new", 0)), Outcome::Done, "there is space again");
    assert!(folder.join("a.timers-reserve").exists());
    store.verify().unwrap();
}

/// A file of each format, as the first version of that format wrote it. Every later version must
/// read it. Written by `write_the_golden_file`.
#[test]
fn the_golden_files_of_all_formats_can_be_read() {
    for format in 1..=FORMAT {
        let (folder, path) = temporary();
        fs::copy(golden(format), &path).unwrap();
        // The program that wrote the file left this holder file.
        fs::write(folder.path().join("a.timers-holder-1"), "").unwrap();
        // The user's table, view, index and trigger, which name jobs.
        let user = Connection::open(&path).unwrap();
        let tables = "CREATE TABLE note (job BLOB REFERENCES job (key) ON DELETE CASCADE);
             INSERT INTO note SELECT key FROM job;
             CREATE VIEW noted AS SELECT job.key FROM job JOIN note ON job.key = note.job;
             CREATE INDEX by_due ON job (due) -- of the user
             ;
             CREATE TRIGGER noting AFTER INSERT ON JOB BEGIN
                 INSERT INTO note VALUES (NEW.key);
             END;";
        user.execute_batch(tables).unwrap();
        drop(user);
        assert_eq!(rows(&mut SqliteStore::open_to_read(&path).unwrap()).len(), 2);
        let (_, clock) = manual();
        let mut store = SqliteStore::with_clock(&path, clock).unwrap();
        store.verify().unwrap();
        assert_eq!(store.format().unwrap(), FORMAT, "it is converted");
        let user = Connection::open(&path).unwrap();
        let noted = user.query_row("SELECT count(*) FROM noted", (), |row| row.get::<_, i64>(0));
        assert_eq!(noted.unwrap(), 2, "the user's rows and views stay");
        let indexed = "SELECT count(*) FROM job INDEXED BY by_due";
        let indexed = user.query_row(indexed, (), |row| row.get::<_, i64>(0));
        assert_eq!(indexed.unwrap(), 2, "the user's index stays");
        user.execute_batch("DROP TRIGGER noting").expect("the user's trigger stays");
        drop(user);
        read_golden(&mut store);
    }
}

/// The format that this version writes.
const FORMAT: u32 = 2;

fn golden(format: u32) -> PathBuf {
    let golden = format!("tests/golden/format-{format}.timers");
    Path::new(env!("CARGO_MANIFEST_DIR")).join(golden)
}

/// Run by hand, once for each format: `cargo test --test files -- --ignored golden`.
#[test]
#[ignore = "writes tests/golden"]
fn write_the_golden_file() {
    let (_folder, path) = temporary();
    let (_, clock) = manual();
    let mut store = SqliteStore::with_clock(&path, clock).unwrap();
    write_golden(&mut store);
    drop(store);
    fs::copy(&path, golden(FORMAT)).unwrap();
}
