//! Durable timers in one SQLite file: jobs of [`wheelhouse_durable`] that survive a crash and a
//! restart, without a server.
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
//! let timers = Durable::open("orders.timers", handlers)?; // what is due since before runs now
//! // A job that is there, since a start before, stays as it is.
//! timers.after(Duration::from_secs(1_800)).keeping("order-17").schedule_bytes("expire/1", "")?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The file by itself, as `Durable` uses it:
//!
//! ```
//! use std::time::Duration;
//! use wheelhouse_durable::store::{Change, Key, Kinds, Outcome, Put, Store, When};
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
//! let mut leased = Vec::new();
//! # std::thread::sleep(Duration::from_millis(2));
//! store.claim(&Kinds::new(["expire/1"]), 512, Duration::from_secs(30), &mut leased)?;
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
//!                        by holder, if leased -> key               (freed when the holder is gone)
//!                  dead  by generation    -> the row, reason, time
//!                  meta  epoch, last number drawn, latest time seen
//!  orders.timers-wal, -shm                SQLite's journal; part of the store while it is open
//!  orders.timers-holder-7                 locked by the process that has epoch 7
//!  orders.timers-reserve                  4 MiB of the disk, given back when it is full
//! ```
//!
//! * **A batch is a transaction with one sync** of the journal (`synchronous = FULL`). It survives
//!   a crash of the process and of the machine once `commit` has returned. A batch of nothing but
//!   [`Begin`](Change::Begin) is written without a sync (`NORMAL`): it survives a crash of the
//!   process. If the machine loses power before the next synced transaction, those attempts are not
//!   counted. That sync covers the whole journal, also what was written before.
//! * **Memory** does not grow with the jobs: a page cache of at most 32 MiB.
//! * **Leases of a process that is gone** are free as soon as the file is opened again, without
//!   waiting for their end. A process that has the file open holds a lock of the operating system
//!   on a small file next to it, which ends with the process. If
//!   that file is removed, the leases last until their end.
//! * **Two processes on one file** work as two machines do: leases and tokens decide, and SQLite
//!   lets one write at a time. One that has to wait for more than ten seconds gets
//!   [`Unavailable`](StoreError::Unavailable).
//! * **The clock** is the machine's wall clock. The latest time that a commit has seen is in the
//!   file; if the clock is set back, this store's stands still until it has caught up.
//! * **Your tables** may be in the same file, under other names. A handler's effect on
//!   them and its acknowledgement are one transaction by [`ack_in`], a job and what it belongs to
//!   by [`commit_in`].
//! * **To look at it**: `wheelhouse durable inspect orders.timers`, or
//!   [`open_to_read`](SqliteStore::open_to_read) here.
//!
//! # Costs
//!
//! | | |
//! |---|---|
//! | a change | a search and a write in each of two B-trees; a batch one sync, or none if it only begins runs |
//! | a claim | the same for each job that is leased, and one sync; nothing is written if none is |
//! | opening | a few pages, however many jobs there are; files up to 16 MB are checked as a whole; 4 MiB are written for the reserve the first time |
//! | disk | about 200 bytes a job with a payload of 64 bytes, and the reserve |
//! | any call | three `stat`, to see that the files are still there |
//!
//! The journal is copied into the file by the commit that makes it long: longer than half a
//! megabyte where callers wait for one change or for few, up to 16 MB in large commits and in those
//! that only claim jobs and end runs. So a caller waits some milliseconds more, and not some tens.
//! It grows beyond that only while another program reads the file in one long transaction. Its file
//! is cut to at most 64 MiB.
//!
//! # Files that are refused
//!
//! | | error |
//! |---|---|
//! | another program's database, or no database | [`Foreign`](StoreError::Foreign); not touched |
//! | written by a newer version of this crate | [`Format`](StoreError::Format); not touched |
//! | damaged | [`Damaged`](StoreError::Damaged): at opening, or, in a large one, when it is read |
//! | read-only, a folder, or with a hard link to it | [`Refused`](StoreError::Refused) |
//! | next to the journal of another file | [`Refused`](StoreError::Refused); not touched |
//!
//! # Backup and restore
//!
//! [`SqliteStore::backup`] and `wheelhouse durable backup` copy a store while programs use it.
//! [`SqliteStore::restore`] and `wheelhouse durable restore` put a copy in its place when no
//! program has it open, and keep the file that was there. A job that was acknowledged after the
//! copy was made is missing after a restore; one that ended after it runs again, with the same
//! idempotency key. So back up as often as that matters.
//!
//! **Other tools** must copy the file and its `-wal` as of one moment (a snapshot of the file
//! system), or copy them while no program runs. `cp` of an open file is no backup.
//!
//! **If the file or its journal is deleted, renamed or replaced** while a program has it open, each
//! later call fails ([`Refused`](StoreError::Refused)), also a commit that was under way: nothing
//! is acknowledged that other programs would not find. All that was acknowledged before is in the
//! file that was open; the store removes the journal, so that it cannot damage a file that was
//! moved to its place. A file that is overwritten in place (`cp copy orders.timers`) keeps its
//! identity, and this is not noticed: use `restore`.
//!
//! **After a crash** the journal belongs to the file that was open. If another file has its name by
//! then, opening it is refused, with both remedies, and neither file is changed. Files are
//! identified by inode and time of creation. A file system without times of creation may give a
//! copy the inode of a file that was removed, and then this is not noticed: use `restore`.
//!
//! # A full disk
//!
//! A commit that does not fit is an error ([`Io`](StoreError::Io)); nothing that was acknowledged
//! is lost, and the store continues when there is space. Jobs that are stored run even if another
//! program has filled the disk to the last byte: to begin and end them needs space for the journal,
//! and `orders.timers-reserve` keeps a sixteenth of the disk for that, at least 256 KiB and at most
//! 4 MiB. New jobs are refused until there is space for the reserve again. A program that starts
//! when the reserve is used up needs free space to open the file.
//!
//! SQLite has no checksums of its pages, so damage within a payload is not found. A network file
//! system is no place for the file.

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

pub use commit::{ack_in, commit_in};
pub use ext::DurableExt;
/// The version of rusqlite whose connections [`commit_in`] takes.
pub use rusqlite;
pub use store::SqliteStore;
#[cfg(doc)]
use wheelhouse_durable::store::{Change, StoreError};
