//! Durable timers in one SQLite file: a store for [`wheelhouse_durable`] that needs no server.
//! Jobs survive a crash and a restart.
//!
//! ```
//! use std::time::Duration;
//! use wheelhouse_durable::{Durable, Handlers, Next};
//! use wheelhouse_store_sqlite::DurableExt;
//!
//! # let folder = tempfile::tempdir()?;
//! # std::env::set_current_dir(&folder)?;
//! let handlers = Handlers::new().on_bytes("expire/1", |run, _| {
//!     println!("{} expires", run.key());
//!     Ok(Next::Done)
//! });
//! let timers = Durable::open("orders.timers", handlers)?; // overdue jobs run now
//! // A job that an earlier start has scheduled stays as it is.
//! timers.after(Duration::from_secs(1_800)).keeping("order-17").schedule_bytes("expire/1", "")?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How it works
//!
//! ```text
//!  orders.timers   job   by generation    -> the whole row
//!                        by key           -> generation
//!                        by kind, visible_at -> generation         (the order; a claim reads it)
//!                        by holder, if leased -> generation        (leases of a dead holder)
//!                  dead  by generation    -> the row, reason, time
//!                  meta  epoch, last number drawn, latest time seen
//!  orders.timers-wal, -shm                SQLite's journal; part of the store while it is open
//!  orders.timers-holder-7                 locked by the process that has epoch 7
//!  orders.timers-reserve                  up to 4 MiB, removed when the disk is full
//! ```
//!
//! * **A batch is a transaction with one sync** of the journal (`synchronous = FULL`). Once
//!   `commit` has returned, it survives a crash of the process and of the machine. A batch of
//!   [`Begin`](Change::Begin) alone is written without a sync (`NORMAL`): it survives a crash of
//!   the process. If the machine loses power before the next sync, those attempts are not counted.
//!   A claim is synced, with the runs that it begins.
//! * **Memory** does not grow with the jobs: the page cache has at most 32 MiB.
//! * **Leases of a dead process** are freed as soon as the file is opened again. A process that has
//!   the file open locks a small file next to it, the *holder file*, and the lock ends with the
//!   process. If the holder file is removed or cannot be read, the leases last until their end.
//! * **Several processes on one file** share the jobs by leases, and SQLite lets one of them write
//!   at a time. A process that waits for that retries each millisecond, so that all get a similar
//!   share. A call that waits for more than ten seconds fails with
//!   [`Unavailable`](StoreError::Unavailable).
//! * **Waiting programs are woken** on Linux, within a millisecond, if another process on the
//!   machine commits a job that is due before all others of its kind. The committing process reads
//!   a byte of its holder file, and waiting programs watch these files by inotify, with one thread
//!   for each store with handlers. Commits in quick succession share a wake-up; there are at most
//!   4,000 a second. A process that is killed wakes the others too. After a program opens the file,
//!   the others claim for a second or two, because the program may use [`commit_in`].
//! * **Otherwise they poll**, once a second by default
//!   ([`Builder::poll`](wheelhouse_durable::Builder::poll)). They do so on other systems, if the
//!   processes run on different machines or may not read each other's files, and if the user's
//!   limit of inotify instances (`fs.inotify.max_user_instances`, often 128) is used up. If the
//!   store has noticed this, the figure `polls_only` in
//!   [`Snapshot::store`](wheelhouse_durable::Snapshot) is 1.
//! * **The clock** is the machine's wall clock. The file keeps the latest time that a commit has
//!   seen. If the wall clock is set back, the store's time stops until the clock has caught up.
//! * **Your tables** may be in the same file, under other names. One transaction can contain a
//!   handler's effect and its acknowledgement, or a new job and your own rows: [`commit_in`].
//! * **To inspect a file**: `wheelhouse durable inspect orders.timers`, or
//!   [`open_to_read`](SqliteStore::open_to_read).
//!
//! # Costs
//!
//! | | |
//! |---|---|
//! | a change | a search and a write in each of two B-trees; three if it adds or removes a job, four if the job was leased |
//! | a batch | one sync, none if it only begins runs |
//! | a batch that schedules jobs | one more search for each kind, and a read of one byte if it wakes programs |
//! | a claim | a search and a write in each of three B-trees for each leased job, and one sync; no write if no job is leased |
//! | opening | a few pages, whatever the number of jobs; files up to 16 MB are checked completely; the first time, up to 4 MiB are written for the reserve |
//! | opening a file of format 1 | every job is copied, about 10 microseconds for each; needs 2.5 times the size of the file on the disk |
//! | disk | about 200 bytes a job with a payload of 64 bytes, and the reserve |
//! | a commit, or a claim that leases jobs | six `stat` calls, to check that the files are still there |
//! | any other call | three of them |
//!
//! A commit copies the journal into the file when the journal exceeds a bound: half a megabyte if
//! callers wait for a few changes, up to 16 MB in large commits and in commits that only claim jobs
//! or end runs. So copying delays a caller by a few milliseconds. The journal grows beyond the
//! bound only while another program reads the file in one long transaction. Its file is then
//! truncated to at most 64 MiB.
//!
//! # Files that are refused
//!
//! | file | error |
//! |---|---|
//! | another program's database, or no database | [`Foreign`](StoreError::Foreign); not changed |
//! | written by a newer version of this crate | [`Format`](StoreError::Format); not changed |
//! | damaged | [`Damaged`](StoreError::Damaged): at opening, or in a large file when it is read |
//! | read-only, a folder, or with a hard link to it | [`Refused`](StoreError::Refused) |
//! | next to the journal of another file, or missing next to one | [`Refused`](StoreError::Refused); not changed |
//!
//! # Backup and restore
//!
//! [`SqliteStore::backup`] and `wheelhouse durable backup` copy a store while programs use it.
//! [`SqliteStore::restore`] and `wheelhouse durable restore` replace a store by a copy while no
//! program has it open, and keep the old file. After a restore, jobs acknowledged since the backup
//! are missing, and jobs that ended since then run again, with the same idempotency key.
//!
//! **Other tools** must copy the file and its `-wal` at one moment (by a snapshot of the file
//! system), or while no program runs. `cp` of an open file is no backup.
//!
//! **If the file or its journal is deleted, renamed or replaced** while a program has it open, each
//! later call fails ([`Refused`](StoreError::Refused)), also a commit in progress. `commit_in`
//! notices only a deletion, and only before your commit. All that was acknowledged before is in the
//! file that was open. The store removes the journal, so that it cannot damage a file of the same
//! name. The store does not notice if the file is overwritten in place (`cp copy orders.timers`):
//! use `restore`.
//!
//! **After a crash** the journal belongs to the file that was open. If another file has that name
//! now, opening it is refused with the remedy, and neither file is changed. Files are identified by
//! inode and creation time. On a file system without creation times, a copy may have the inode of
//! the removed file, and the store does not notice: use `restore`.
//!
//! # A full disk
//!
//! A commit that does not fit, on the disk or into the quota, is an error
//! ([`Io`](StoreError::Io)). Nothing acknowledged is lost, and the store continues when there is
//! space. Stored jobs run even if another program has filled the disk to the last byte:
//! `orders.timers-reserve` reserves a sixteenth of the disk, at least 256 KiB and at most 4 MiB,
//! for the journal of their runs. New jobs are refused until there is space for the reserve again.
//! A program that starts when the reserve is used up needs free space to open the file.
//!
//! # Limitations
//!
//! SQLite pages have no checksums, so damage within a payload is not found. Do not put the file on
//! a network file system.

mod backup;
mod busy;
mod claim;
mod commit;
mod error;
mod files;
mod holder;
mod open;
mod reserve;
mod row;
mod schema;
mod store;
#[cfg_attr(not(target_os = "linux"), path = "wake/none.rs")]
mod wake;

pub use commit::commit_in;
/// The version of rusqlite whose connections [`commit_in`] takes.
pub use rusqlite;
pub use store::{DurableExt, SqliteStore};
#[cfg(doc)]
use wheelhouse_durable::store::{Change, ClaimLimit, StoreError};
