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
//! The store alone, as `Durable` uses it:
//!
//! ```
//! use std::time::Duration;
//! use wheelhouse_durable::store::{Change, ClaimLimit, Key, Kinds, Outcome, Put, Store, When};
//! use wheelhouse_store_sqlite::SqliteStore;
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("orders.timers");
//! let mut store = SqliteStore::open(&path)?;
//! let job = Put {
//!     key: Key::new("order-17")?,
//!     kind: "expire/1".into(),
//!     payload: b"17".to_vec(),
//!     policy: String::new(),
//!     when: When::After(Duration::ZERO),
//!     replace: false,
//! };
//! assert_eq!(store.commit(&[Change::Put(job)])?, [Outcome::Done]); // durable now
//! drop(store); // or a crash
//!
//! let mut store = SqliteStore::open(&path)?;
//! let (kinds, lease) = (Kinds::new(["expire/1"]), Duration::from_secs(30));
//! let limit = ClaimLimit { jobs: 512, bytes: 16 << 20 };
//! let (leased, _next) = store.claim(&kinds, limit, lease)?;
//! let (key, token) = (leased[0].job.key.clone(), leased[0].token);
//! assert_eq!(store.commit(&[Change::Ack { key, token, again: None }])?, [Outcome::Done]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How it works
//!
//! ```text
//!  orders.timers   job   by key           -> the whole row         (a table without row numbers)
//!                        by kind, visible_at, generation -> key    (the order; a claim reads it)
//!                        by holder, if leased -> key               (leases of a dead holder)
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
//!   the process. If the machine loses power before the next synced transaction, those attempts are
//!   not counted. That sync covers the whole journal, including all earlier writes.
//! * **Memory** does not grow with the jobs: the page cache has at most 32 MiB.
//! * **Leases of a dead process** are freed as soon as the file is opened again, before their end.
//!   A process that has the file open holds a lock of the operating system on a small file next to
//!   it. The lock ends with the process. If that file is removed, the leases last until their end.
//! * **Two processes on one file** work like two machines: leases and tokens decide, and SQLite
//!   lets one process write at a time. A process that waits tries again each millisecond, so that
//!   all get their share: of 40,000 due jobs, each of four processes ran 8,300 to 11,800. A call
//!   that waits for more than ten seconds fails with [`Unavailable`](StoreError::Unavailable).
//! * **Waiting programs are woken** on Linux, within a millisecond, if another process on the
//!   machine commits a job that is due before the first one of its kind. Later jobs wake no
//!   program. The commit reads a byte of its holder file, and waiting programs watch these files by
//!   inotify: one thread for each store with handlers, which sleeps until there is such a commit.
//!   Commits that follow each other quickly share a wake-up; there are at most 4,000 a second. A
//!   process that is killed wakes the others too, so its last commit is not overlooked. A program
//!   that opens the file causes some claims within the next second or two, because it may be about
//!   to use [`commit_in`].
//! * **Otherwise they poll**, once a second by default
//!   ([`Builder::poll`](wheelhouse_durable::Builder::poll)): on other systems; if the processes run
//!   on different machines or may not read each other's files; or if the user's limit of inotify
//!   instances (`fs.inotify.max_user_instances`, often 128) is used up. The figure `polls_only` in
//!   [`Snapshot::store`](wheelhouse_durable::Snapshot) is then 1, if the store itself has noticed.
//! * **The clock** is the machine's wall clock. The file keeps the latest time that a commit has
//!   seen. If the wall clock is set back, the store's time stops until the clock has caught up.
//! * **Your tables** may be in the same file, under other names. [`ack_in`] puts a handler's effect
//!   on them and its acknowledgement in one transaction, and [`commit_in`] a job and your own rows.
//! * **To inspect a file**: `wheelhouse durable inspect orders.timers`, or
//!   [`open_to_read`](SqliteStore::open_to_read).
//!
//! # Costs
//!
//! | | |
//! |---|---|
//! | a change | a search and a write in each of two B-trees; one sync for a batch, none if it only begins runs |
//! | a batch that schedules jobs | one more search for each kind, and a read of one byte if it wakes programs |
//! | a claim | the same for each leased job, and one sync; no write if no job is leased |
//! | opening | a few pages, however many jobs there are; files up to 16 MB are checked completely; the first time, up to 4 MiB are written for the reserve |
//! | disk | about 200 bytes a job with a payload of 64 bytes, and the reserve |
//! | any call | three `stat` calls, to check that the files are still there |
//!
//! A commit that makes the journal too long copies it into the file. The bound is half a megabyte
//! if callers wait for one change or a few, and up to 16 MB in large commits and in commits that
//! only claim jobs or end runs. So copying delays a caller by some milliseconds, not by some tens.
//! The journal grows beyond that only while another program reads the file in one long transaction.
//! Its file is then truncated to at most 64 MiB.
//!
//! # Files that are refused
//!
//! | file | error |
//! |---|---|
//! | another program's database, or no database | [`Foreign`](StoreError::Foreign); not changed |
//! | written by a newer version of this crate | [`Format`](StoreError::Format); not changed |
//! | damaged | [`Damaged`](StoreError::Damaged): at opening, or in a large file when it is read |
//! | read-only, a folder, or with a hard link to it | [`Refused`](StoreError::Refused) |
//! | next to the journal of another file | [`Refused`](StoreError::Refused); not changed |
//!
//! # Backup and restore
//!
//! [`SqliteStore::backup`] and `wheelhouse durable backup` copy a store while programs use it.
//! [`SqliteStore::restore`] and `wheelhouse durable restore` replace a store by a copy while no
//! program has it open, and keep the old file. After a restore, jobs acknowledged since the backup
//! are missing, and jobs that ended since then run again, with the same idempotency key. Back up
//! accordingly often.
//!
//! **Other tools** must copy the file and its `-wal` at one moment (by a snapshot of the file
//! system), or while no program runs. `cp` of an open file is no backup.
//!
//! **If the file or its journal is deleted, renamed or replaced** while a program has it open, each
//! later call fails ([`Refused`](StoreError::Refused)), also a commit in progress. So nothing is
//! acknowledged that other programs would not find. (`commit_in` and `ack_in` notice a deletion
//! only, and only before your commit.) All that was acknowledged before is in the file
//! that was open. The store removes the journal, so that it cannot damage a file that was moved to
//! its place. A file that is overwritten in place (`cp copy orders.timers`) keeps its identity, and
//! the store does not notice: use `restore`.
//!
//! **After a crash** the journal belongs to the file that was open. If another file has that name
//! now, opening it is refused with both remedies, and neither file is changed. Files are identified
//! by inode and creation time. Without creation times, a file system may give a copy the inode of a
//! removed file, and the store does not notice: use `restore`.
//!
//! # A full disk
//!
//! A commit that does not fit is an error ([`Io`](StoreError::Io)). Nothing acknowledged is lost,
//! and the store continues when there is space. Stored jobs run even if another program has filled
//! the disk to the last byte. To begin and end them needs space for the journal: for that,
//! `orders.timers-reserve` keeps a sixteenth of the disk, at least 256 KiB and at most 4 MiB. New
//! jobs are refused until there is space for the reserve again. A program that starts when the
//! reserve is used up needs free space to open the file.
//!
//! # Limitations
//!
//! SQLite has no checksums of its pages, so damage within a payload is not found. Do not put the
//! file on a network file system.

mod backup;
mod claim;
mod commit;
mod error;
mod ext;
mod files;
mod holder;
mod open;
mod reserve;
mod row;
mod schema;
mod store;
#[cfg_attr(not(target_os = "linux"), path = "wake/none.rs")]
mod wake;

pub use commit::{ack_in, commit_in};
pub use ext::DurableExt;
/// The version of rusqlite whose connections [`commit_in`] takes.
pub use rusqlite;
pub use store::SqliteStore;
#[cfg(doc)]
use wheelhouse_durable::store::{Change, ClaimLimit, StoreError};
