//! Files that are deleted, renamed or replaced while a program has them open.

mod common;

use common::{Process, file, temporary};
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;
use wheelhouse_durable::store::{ClaimLimit, Kinds, Outcome, Store, StoreError};
use wheelhouse_store_conformance::jobs::{KIND, LEASE, claim, fails, key, one, put, rows};
use wheelhouse_store_sqlite::rusqlite::Connection;
use wheelhouse_store_sqlite::{SqliteStore, commit_in};

/// An open store with jobs `old 0` to `old 9`. Some of them are only in the journal.
fn begun(path: &Path) -> SqliteStore {
    let mut store = SqliteStore::open(path).unwrap();
    for n in 0..10 {
        assert_eq!(one(&mut store, put(&format!("old {n}"), 0)), Outcome::Done);
    }
    store
}

/// A closed store with 300 jobs, at another path of the folder.
fn backup(folder: &Path) -> PathBuf {
    let path = folder.join("backup.timers");
    let mut store = SqliteStore::open(&path).unwrap();
    let puts: Vec<_> = (0..300).map(|n| put(&format!("new {n}"), 0)).collect();
    store.commit(&puts).unwrap();
    path
}

/// Checks that every call is refused, so that none uses a file that no other program finds.
fn is_refused(store: &mut SqliteStore, why: &str) {
    let put = store.commit(&[put("lost", 0)]).map(|_| ());
    let found = store.find(&key("old 1")).map(|_| ());
    let claimed = store.claim(&Kinds::new([KIND]), ClaimLimit::jobs(9), LEASE).map(|_| ());
    for answer in [put, found, claimed] {
        let error = fails(answer, why);
        assert!(matches!(error, StoreError::Refused(_)), "{error:?}");
        assert!(error.to_string().contains("start again"), "{error}");
    }
}

fn count(path: &Path) -> usize {
    let mut store = SqliteStore::open(path).unwrap();
    store.verify().unwrap();
    rows(&mut store).len()
}

#[test]
fn a_deleted_file_acknowledges_nothing() {
    let (_folder, path) = temporary();
    let mut store = begun(&path);
    let shop = Connection::open(&path).unwrap();
    shop.execute_batch("BEGIN IMMEDIATE").unwrap();
    fs::remove_file(&path).unwrap();
    fails(commit_in(&shop, &[put("lost", 0)]), "was deleted or renamed");
    drop(shop);
    is_refused(&mut store, "was deleted or renamed");
    drop(store);
    assert_eq!(count(&path), 0, "the new file is empty: the old journal is not in it");
}

#[test]
fn a_renamed_file_has_all_that_was_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let (path, away) = (folder.path().join("a.timers"), folder.path().join("b.timers"));
    let mut store = begun(&path);
    fs::rename(&path, &away).unwrap();
    is_refused(&mut store, "was deleted or renamed");
    assert_eq!(count(&away), 10);
    is_refused(&mut store, "was deleted or renamed");
    fs::rename(&away, &path).unwrap();
    drop(store);
    assert_eq!(count(&path), 10, "moved back");
}

/// Another program has the file open, so the journal stays. The file is moved back, and calls of
/// the first program wait for transactions of the other one as before.
#[test]
fn a_file_that_was_moved_back_is_waited_for() {
    let (folder, path) = temporary();
    let (mut store, other) = (begun(&path), Connection::open(&path).unwrap());
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let away = folder.path().join("b.timers");
    fs::rename(&path, &away).unwrap();
    is_refused(&mut store, "was deleted or renamed");
    fs::rename(&away, &path).unwrap();
    let ends = thread::spawn(move || {
        thread::sleep(Duration::from_millis(50));
        other.execute_batch("ROLLBACK")
    });
    assert_eq!(one(&mut store, put("after", 0)), Outcome::Done);
    ends.join().unwrap().unwrap();
}

/// The same if the program makes no call between the replacement and its end.
#[test]
fn a_file_that_was_moved_over_a_live_one_is_not_damaged() {
    for calls in [true, false] {
        let (folder, path) = temporary();
        let mut store = begun(&path);
        fs::rename(backup(folder.path()), &path).unwrap();
        // A program that starts now is refused: the old journal is still there.
        fails(SqliteStore::open(&path), "stop it");
        if calls {
            is_refused(&mut store, "was replaced");
        }
        drop(store);
        assert_eq!(count(&path), 300);
    }
}

#[test]
fn a_journal_that_is_deleted_loses_nothing() {
    for suffix in ["-wal", "-shm"] {
        let (folder, path) = temporary();
        let mut store = begun(&path);
        fs::remove_file(folder.path().join(format!("a.timers{suffix}"))).unwrap();
        is_refused(&mut store, "a.timers-");
        drop(store);
        assert_eq!(count(&path), 10, "{suffix}");
    }
}

#[test]
#[ignore = "a child"]
fn commits_and_waits() {
    let _store = begun(&file());
    println!("committed");
    thread::sleep(Duration::from_secs(60));
}

/// A program commits to a store, and is killed.
fn killed(path: &Path) {
    let mut process = Process::start("commits_and_waits", path);
    process.wait_for("committed");
    process.kill();
}

/// The journal of a killed program belongs to the file that it had open, and to no other.
#[test]
fn the_journal_of_a_killed_program_is_not_replayed_into_another_file() {
    let (folder, path) = temporary();
    killed(&path);
    let old = folder.path().join("old.timers");
    fs::rename(&path, &old).unwrap();
    // Creating a new file would remove the old journal and lose its commits.
    for open in [SqliteStore::open, SqliteStore::open_to_read] {
        fails(open(path.clone()), "journal of another file");
    }
    let new = backup(folder.path());
    fs::rename(&new, &path).unwrap();
    let before = fs::read(&path).unwrap();
    fails(SqliteStore::open(&path), "move the journal");
    assert_eq!(fs::read(&path).unwrap(), before);

    // Both remedies work: the new file without the journal, and the old file with its journal.
    for suffix in ["-wal", "-shm"] {
        let journal = folder.path().join(format!("a.timers{suffix}"));
        fs::rename(&journal, folder.path().join(format!("old.timers{suffix}"))).unwrap();
    }
    assert_eq!(count(&path), 300);
    assert_eq!(count(&old), 10);
}

/// A new file may get the inode of the deleted one: ext4 reuses it at once.
#[test]
fn a_journal_is_not_replayed_into_a_copy_with_the_same_inode() {
    let (folder, path) = temporary();
    let copy = backup(folder.path());
    killed(&path);
    if fs::metadata(&path).unwrap().created().is_err() {
        eprintln!("SKIPPED: this file system records no creation times");
        return;
    }
    fs::remove_file(&path).unwrap();
    fs::copy(&copy, &path).unwrap();
    let before = fs::read(&path).unwrap();
    for open in [SqliteStore::open, SqliteStore::open_to_read] {
        fails(open(path.clone()), "journal of another file");
    }
    assert_eq!(fs::read(&path).unwrap(), before);
    for suffix in ["-wal", "-shm"] {
        fs::remove_file(folder.path().join(format!("a.timers{suffix}"))).unwrap();
    }
    assert_eq!(count(&path), 300);
}

/// A lease ends with the lock of its holder, or when it runs out, but not because the holder file
/// is missing.
#[test]
fn removing_a_holders_file_frees_no_lease() {
    let (folder, path) = temporary();
    let mut first = begun(&path);
    assert_eq!(claim(&mut first).len(), 10);
    fs::remove_file(folder.path().join("a.timers-holder-1")).unwrap();
    let mut second = SqliteStore::open(&path).unwrap();
    assert_eq!(claim(&mut second).len(), 0, "leases of a live process were freed");
    drop((first, second));
    let mut third = SqliteStore::open(&path).unwrap();
    assert_eq!(claim(&mut third).len(), 0, "without the file, the holder may still live");
}

/// A backup of an open store is complete. A restore needs a store that no program has open.
#[test]
fn a_backup_is_restored_when_no_program_has_the_file_open() {
    let folder = tempfile::tempdir().unwrap();
    let (path, copy) = (folder.path().join("a.timers"), folder.path().join("copy.timers"));
    let mut store = begun(&path);
    store.backup(&copy).unwrap();
    assert!(store.backup(&copy).unwrap_err().to_string().contains("exists"));
    store.commit(&[put("after", 0)]).unwrap();
    fails(SqliteStore::restore(&copy, &path), "stop it first");
    assert_eq!(one(&mut store, put("after 2", 0)), Outcome::Done, "nothing was changed");
    drop(store);

    let replaced = SqliteStore::restore(&copy, &path).unwrap().expect("there was one");
    assert_eq!(count(&path), 10);
    assert_eq!(count(&replaced), 12);
    fails(SqliteStore::restore(&copy, &path), "earlier restore");
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().path()).collect();
    assert!(!left.iter().any(|path| path.to_string_lossy().contains(".part")), "{left:?}");

    // To a path without a file, and to a path with a damaged one.
    assert_eq!(SqliteStore::restore(&copy, folder.path().join("b.timers")).unwrap(), None);
    assert_eq!(count(&folder.path().join("b.timers")), 10);
    let damaged = folder.path().join("damaged.timers");
    fs::write(&damaged, "no database at all, but much text".repeat(100)).unwrap();
    assert!(SqliteStore::restore(&damaged, &path).is_err());
    SqliteStore::restore(&copy, &damaged).unwrap();
    assert_eq!(count(&damaged), 10);
}

/// The journal of a killed program stays with its file.
#[test]
fn a_restore_after_a_crash_keeps_the_old_file_with_its_journal() {
    let (folder, path) = temporary();
    killed(&path);
    let replaced = SqliteStore::restore(backup(folder.path()), &path).unwrap().unwrap();
    assert_eq!(count(&path), 300);
    assert_eq!(count(&replaced), 10);
}

/// A backup that is in progress is not overwritten, and no other program's backup is damaged.
#[test]
fn two_backups_at_once_do_not_share_a_file() {
    let (folder, path) = temporary();
    let store = begun(&path);
    let (copy, part) = (folder.path().join("copy"), folder.path().join("copy.part"));
    // Another backup is being written to this name.
    fs::write(&part, "its first pages").unwrap();
    fails(store.backup(&copy), "copy.part exists: wait for the other copy");
    fails(SqliteStore::restore(&path, &copy), "copy.part exists");
    assert_eq!(fs::read(&part).unwrap(), b"its first pages");
    // It ends.
    fs::rename(&part, &copy).unwrap();
    fails(store.backup(&copy), "copy exists");
    assert!(!part.exists());
    fs::remove_file(&copy).unwrap();
    // Exactly one of several backups to one name is made.
    let backups = [(); 4].map(|()| {
        let (path, copy) = (path.clone(), copy.clone());
        thread::spawn(move || SqliteStore::open_to_read(&path).unwrap().backup(copy))
    });
    let made = backups.map(|backup| backup.join().unwrap().is_ok());
    assert_eq!(made.iter().filter(|made| **made).count(), 1, "{made:?}");
    assert_eq!(count(&copy), 10);
}

/// The file was deleted, and its journal is left without a holder file: a new file does not get the
/// commits of the journal, and they are not lost.
#[test]
fn a_journal_without_its_file_is_not_replayed() {
    let (folder, path) = temporary();
    let (copy, journal) = (backup(folder.path()), folder.path().join("a.timers-wal"));
    let store = begun(&path);
    let bytes = fs::read(&journal).unwrap();
    drop(store);
    fs::remove_file(&path).unwrap();
    fs::write(&journal, &bytes).unwrap();
    fails(SqliteStore::restore(&copy, &path), "the journal of a file that is gone");
    for open in [SqliteStore::open, SqliteStore::open_to_read] {
        fails(open(path.clone()), "the journal of a file that is gone");
    }
    assert_eq!(fs::read(&journal).unwrap(), bytes);
    assert!(!path.exists());
    fs::remove_file(&journal).unwrap();
    assert_eq!(SqliteStore::restore(&copy, &path).unwrap(), None);
    assert_eq!(count(&path), 300);
}

/// The first program opens the file by links, before there is a file. A later one finds its holder
/// file and its journal.
#[cfg(unix)]
#[test]
fn a_link_to_a_file_that_does_not_exist_yet_is_followed() {
    use std::os::unix::fs::symlink;
    let (folder, path) = temporary();
    let copy = backup(folder.path());
    let data = folder.path().join("data");
    fs::create_dir(&data).unwrap();
    symlink("data/next", &path).unwrap();
    symlink("real", data.join("next")).unwrap();
    let mut store = begun(&path);
    fails(SqliteStore::restore(&copy, &path), "stop it first");
    assert_eq!(one(&mut store, put("after", 0)), Outcome::Done);
    assert!(data.join("real-holder-1").exists());
    drop(store);
    assert_eq!(count(&data.join("real")), 11);
    // Links in a circle.
    let circle = folder.path().join("circle");
    symlink("circle", &circle).unwrap();
    assert!(SqliteStore::open(&circle).is_err());
}

/// A user who may open the store reads the holder file. A copy is not writable by others.
#[cfg(unix)]
#[test]
fn files_next_to_a_store_have_its_permissions() {
    use std::os::unix::fs::PermissionsExt;
    let (folder, path) = temporary();
    let mode = |file: &Path| fs::metadata(file).unwrap().permissions().mode() & 0o777;
    drop(SqliteStore::open(&path).unwrap());
    fs::set_permissions(&path, PermissionsExt::from_mode(0o606)).unwrap();
    let store = SqliteStore::open(&path).unwrap();
    assert_eq!(mode(&folder.path().join("a.timers-holder-2")), 0o606);
    assert_eq!(mode(&backup(folder.path())) & 0o022, 0);
    drop(store);
}

/// No user can create files in `/proc`, not even root.
#[cfg(target_os = "linux")]
#[test]
fn a_copy_that_cannot_be_created_names_the_remedy() {
    let (_folder, path) = temporary();
    let error = SqliteStore::open(&path).unwrap().backup("/proc/copy").unwrap_err().to_string();
    assert!(error.contains("/proc/copy.part") && error.contains("may write to it"), "{error}");
}

/// Only names of the exact form are holder files.
#[test]
fn the_files_of_the_user_are_kept() {
    let (folder, path) = temporary();
    let names = ["notes.txt", "", "+7", "07", "-7", "7.bak", "99999999999999999999"];
    let files = names.map(|name| folder.path().join(format!("a.timers-holder-{name}")));
    files.iter().for_each(|file| fs::write(file, "mine").unwrap());
    drop(SqliteStore::open(&path).unwrap());
    SqliteStore::restore(backup(folder.path()), &path).unwrap();
    files.iter().for_each(|file| assert_eq!(fs::read(file).unwrap(), b"mine", "{file:?}"));
}

/// The holder file of another user may be unreadable. Root may read every file, so here it is a
/// link to itself. Its holder may live, so the store opens and frees no lease, and no other file
/// takes its place.
#[cfg(unix)]
#[test]
fn a_holder_file_that_cannot_be_read_counts_as_locked() {
    let (folder, path) = temporary();
    let copy = backup(folder.path());
    let mut store = begun(&path);
    assert_eq!(claim(&mut store).len(), 10);
    drop(store);
    let holder = folder.path().join("a.timers-holder-1");
    fs::remove_file(&holder).unwrap();
    std::os::unix::fs::symlink(&holder, &holder).unwrap();
    let mut store = SqliteStore::open(&path).unwrap();
    assert_eq!(claim(&mut store).len(), 0, "leases of a live process were freed");
    drop(store);
    drop(SqliteStore::open_to_read(&path).unwrap());
    fails(SqliteStore::restore(&copy, &path), "this user may not read it");
    assert!(fs::symlink_metadata(&holder).is_ok());
    // A journal may belong to another file.
    let wal = folder.path().join("a.timers-wal");
    fs::write(&wal, "of another file").unwrap();
    fails(SqliteStore::open(&path), "may be the journal of another file");
    assert_eq!(fs::read(&wal).unwrap(), b"of another file");
}
