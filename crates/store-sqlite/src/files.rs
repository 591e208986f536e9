//! Checks that the files of a store are still the ones that were opened.
//!
//! A program keeps its file handles when its file is deleted, renamed or replaced. Later commits
//! would go to a file that no other program finds. So each call compares the inode of each path on
//! its file system with that at opening: before it reads or writes, and again before it
//! acknowledges a commit. That costs three `stat` calls, some microseconds compared with the sync
//! of a commit.

use crate::busy::wait_for_writer;
use crate::holder;
use rusqlite::Connection;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;
use wheelhouse_durable::store::StoreError;

/// The identity of a file, to recognize another file that later has its name. It must hold across a
/// restart of the machine, so it has no device number, which may change then.
///
/// While a program has the file open, no other file on its file system gets its inode. After that,
/// the inode alone is not enough: file systems reuse the inode of a deleted file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileId {
    /// 0 on systems without inodes.
    inode: u64,
    /// The creation time in nanoseconds since 1970, if the file system records it.
    created: Option<u128>,
}

impl FileId {
    /// The identity of the file at this path, if there is one.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let meta = fs::metadata(path).ok()?;
        #[cfg(unix)]
        let inode = std::os::unix::fs::MetadataExt::ino(&meta);
        #[cfg(not(unix))]
        let inode = 0;
        let created = meta.created().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        Some(Self { inode, created: created.map(|at| at.as_nanos()) })
    }

    /// Parses the output of [`Display`](fmt::Display). Older versions wrote only the inode.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let mut numbers = text.split_whitespace();
        let inode = numbers.next()?.parse().ok()?;
        let created = numbers.next().map(str::parse).transpose().ok()?;
        Some(Self { inode, created })
    }

    /// Returns `false` if these are certainly two different files.
    fn may_be(self, other: Self) -> bool {
        let differ = self.created.zip(other.created).is_some_and(|(one, other)| one != other);
        self.inode == other.inode && !differ
    }
}

impl fmt::Display for FileId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.inode)?;
        self.created.map_or(Ok(()), |created| write!(f, " {created}"))
    }
}

/// The path of a file next to the store's file: its path with a suffix.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

/// As many links as Linux follows.
const MOST_LINKS: u32 = 40;

/// The path without symbolic links, also if its last part does not exist. SQLite derives the name
/// of the journal from this path.
pub(crate) fn real(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        if let Ok(real) = fs::canonicalize(&path) {
            return real;
        }
        // A link to a file that does not exist: SQLite creates the file at its target.
        let Ok(target) = fs::read_link(&path) else { break };
        path = holder::folder(&path).join(target);
    }
    match (fs::canonicalize(holder::folder(&path)), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path,
    }
}

/// The [real](real) path of a store's file. Fails if no file can be there.
pub(crate) fn place(path: &Path) -> Result<PathBuf, StoreError> {
    if path.as_os_str().is_empty() {
        let why = "the path is empty: name a file, such as orders.timers";
        return Err(StoreError::Refused(why.into()));
    }
    let path = real(path);
    let folder = holder::folder(&path);
    let shown = folder.display();
    match fs::metadata(folder) {
        Ok(is) if !is.is_dir() => {
            Err(StoreError::Refused(format!("{shown} is not a folder: name a file in a folder")))
        }
        // A retry succeeds when the folder is there.
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let why = format!("there is no folder {shown}: create it, or name another one");
            Err(io::Error::new(ErrorKind::NotFound, why).into())
        }
        // The call that reads the folder reports other errors.
        _ => Ok(path),
    }
}

/// A file of the store, with its identity when it was opened; `None` if it did not exist.
#[derive(Debug)]
struct Known(PathBuf, Option<FileId>);

impl Known {
    fn new(path: PathBuf) -> Self {
        let id = FileId::of(&path);
        Self(path, id)
    }

    fn is_missing(&self) -> bool {
        self.1.is_some() && FileId::of(&self.0).is_none()
    }

    fn is_the_same(&self) -> bool {
        self.1.is_none() || self.1 == FileId::of(&self.0)
    }
}

/// The store's file, its journal, and the index of the journal.
#[derive(Debug)]
pub(crate) struct Files {
    main: Known,
    journal: Known,
    index: Known,
}

impl Files {
    /// Records the files as they are now, for an open connection that has read.
    pub(crate) fn now(path: &Path) -> Self {
        let known = |suffix| Known::new(with_suffix(path, suffix));
        Self { main: known(""), journal: known("-wal"), index: known("-shm") }
    }

    /// The paths of the store's file and of its journal.
    pub(crate) fn paths(&self) -> (&Path, &Path) {
        (&self.main.0, &self.journal.0)
    }

    /// Checks that each path still leads to the open file.
    ///
    /// # Errors
    ///
    /// `Refused`, with the remedy. If no other program has the file open, the journal is then
    /// copied into the file that it belongs to, and removed. So it is never read as the journal of
    /// a file that was moved here.
    pub(crate) fn check(&self, connection: &Connection) -> Result<(), StoreError> {
        let all = [&self.main, &self.journal, &self.index];
        let Some(changed) = all.into_iter().find(|file| !file.is_the_same()) else {
            return Ok(());
        };
        let saved = self.part_with_journal(connection);
        let shown = changed.0.display();
        let main = self.main.0.display();
        let what = if changed.is_missing() { "was deleted or renamed" } else { "was replaced" };
        let kept = if saved {
            " The open file has all acknowledged changes."
        } else {
            " Its journal could not be copied."
        };
        let remedy = if changed.0 == self.main.0 && changed.is_missing() {
            format!(
                "stop the program, move the file back to {main} or restore a backup, and start \
                 again"
            )
        } else {
            "stop every program that has it open, and start again".to_owned()
        };
        Err(StoreError::Refused(format!(
            "{shown} {what} while it was open, so this call was not carried out.{kept} To \
             continue, {remedy}"
        )))
    }

    /// Copies the journal into the open file and removes it. That needs the journal of the open
    /// file, and no other program that has the file open, because leaving the mode `wal` takes an
    /// exclusive lock. Returns `true` if it was done.
    ///
    /// If the path leads to another journal, another program has created that journal, and may have
    /// written to the file. Then nothing is changed.
    fn part_with_journal(&self, connection: &Connection) -> bool {
        if !self.journal.is_the_same() && !self.journal.is_missing() {
            return false;
        }
        let left = connection.busy_handler(None).and_then(|()| {
            connection.query_row("PRAGMA journal_mode = DELETE", (), |row| row.get::<_, String>(0))
        });
        // If the file is moved back, the program continues.
        let waits = connection.busy_handler(Some(wait_for_writer));
        waits.is_ok() && left.is_ok_and(|mode| mode == "delete")
    }
}

/// Refuses a file that is next to the journal of another one, before SQLite reads either: SQLite
/// would replay that journal into this file. If there is no file, SQLite would remove the journal.
pub(crate) fn check_journal(path: &Path) -> Result<(), StoreError> {
    let now = FileId::of(path);
    let wal = with_suffix(path, "-wal");
    let has_journal = fs::metadata(&wal).is_ok_and(|meta| meta.len() > 0);
    let (main, wal) = (path.display(), wal.display());
    for found in holder::all(path)? {
        if !found.is_readable() && has_journal {
            let holder = found.path.display();
            return Err(StoreError::Refused(format!(
                "{holder} cannot be read, so {wal} may be the journal of another file: let this \
                 user read it, or remove it if its program is gone and the file was never replaced"
            )));
        }
        let Some(opened) = found.store else { continue };
        if now.is_some_and(|now| opened.may_be(now)) {
            continue;
        }
        if found.lives()? {
            return Err(StoreError::Refused(format!(
                "a program still has the earlier file {main} open: stop it, and open the new file \
                 again"
            )));
        }
        if has_journal {
            let holder = found.path.display();
            return Err(StoreError::Refused(format!(
                "{wal} is the journal of another file that was {main} before, and would damage the \
                 current file: move the earlier file back if you have it, or move the journal and \
                 {main}-shm away to use the current one. If all of them were copied together, \
                 remove {holder}"
            )));
        }
    }
    if has_journal && now.is_none() {
        return Err(StoreError::Refused(format!(
            "{wal} is the journal of a file that is gone: move that file back to {main} if you \
             have it, or move the journal and {main}-shm away"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_apart_by_all_that_is_known_of_both() {
        let read = |text: &str| FileId::read(text).unwrap();
        let (file, other) = (read("17 1790000000000000000"), read("17 1790000000000000001"));
        assert_eq!(read(&file.to_string()), file);
        assert!(file.may_be(file) && !file.may_be(other), "another file with the same inode");
        assert!(!file.may_be(read("18 1790000000000000000")));
        // Without creation times, and in older versions, only the inode is written.
        assert_eq!(read("17").to_string(), "17");
        assert!(file.may_be(read("17")) && read("17").may_be(file) && !file.may_be(read("18")));
        for text in ["", "x", "17 x"] {
            assert_eq!(FileId::read(text), None, "{text}");
        }
    }
}
