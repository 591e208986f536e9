//! Durable timers on PostgreSQL, for many machines: a store of [`wheelhouse_durable`].
//!
//! ```no_run
//! use std::time::Duration;
//! use wheelhouse_durable::{Durable, Handlers, Next};
//! use wheelhouse_store_postgres::PostgresStore;
//!
//! let handlers = Handlers::new().on("close-order/1", |_, order: u64| {
//!     println!("close order {order}");
//!     Ok(Next::Done)
//! });
//! let store = PostgresStore::connect("postgres://shop@localhost/shop", "orders")?;
//! let timers = Durable::start(store, handlers)?;
//! timers.after(Duration::from_secs(1_800)).key("order-17").schedule("close-order/1", &17)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A server for a trial: `apt-get install postgresql`. Tested with PostgreSQL 15.18.
//!
//! # In async programs
//!
//! Every call works on any thread: in async code, in `spawn_blocking` and `block_in_place`, and
//! under `Runtime::enter`. A call blocks its thread until the server has answered, which takes a
//! few round trips, and up to the [timeout](Builder::timeout) while the server is gone. In async
//! code the other tasks of that thread wait too. A program that cannot afford it calls
//! `tokio::task::spawn_blocking`, and awaits a [`Commit`](wheelhouse_durable::Commit) instead of
//! calling `schedule`.
//!
//! The sockets of all stores of a process are moved by one thread, `wheelhouse-postgres`, with its
//! own tokio runtime. It starts with the first store and ends with the last.
//!
//! # How it works
//!
//! ```text
//!  wheelhouse.job     by queue, key                            -> the whole row
//!                     by queue, kind, visible_at, generation   -> the order; a claim reads it
//!  wheelhouse.dead    by queue, generation                     -> the row, reason, time
//!  wheelhouse.number  sequence of generations and tokens
//!  wheelhouse.meta    format
//! ```
//!
//! * **A batch is a transaction.** It reads and locks the rows of its keys, decides about each
//!   change in memory, and writes all by one statement for removed rows, one for changed rows and
//!   one for new rows. So a thousand changes take as many round trips as one: six at most.
//! * **A claim** is a transaction of two statements; rows that another machine is leasing at the
//!   moment are passed over (`SKIP LOCKED`), so that claims do not wait for each other.
//! * **Each transaction brings its settings** by `SET LOCAL`, and statements have no names. So no
//!   default of the server matters, and no session is changed.
//! * **The server's clock** decides what is due and which lease has ended (`clock_timestamp()`, not
//!   that of the beginning of the transaction). Clients send delays.
//! * **Tokens and generations** are drawn from a sequence, which each connection moves to the
//!   server's microseconds at least: they grow even if the database is restored from an old copy.
//! * **Waiting programs are notified** (`NOTIFY`) when a job becomes the first of its kind that is
//!   not due, and only then, since PostgreSQL lets transactions that notify commit one after the
//!   other. In your own transaction, which may stay open for long, each new job is notified.
//! * **With your own tables**: [`commit_in`] schedules in your transaction, [`ack_in`] ends a
//!   job in the transaction of its effect.
//!
//! # What the server has to be set to
//!
//! `fsync` and `full_page_writes` on, which is the default and is checked. `synchronous_commit` is
//! set on by each transaction. Other defaults (isolation, timeouts, `search_path`, encoding, time
//! zone) do not matter. Text of handlers and programs is UTF-8: a database of another encoding than
//! `UTF8` or `SQL_ASCII` keeps the reason of a dead letter with escapes (`\u{6771}`), and refuses
//! queues and kinds with characters that it does not have.
//!
//! Statements are planned the same way whatever the statistics are: those by key can use one index,
//! those by time another, and a row is changed by its place.
//!
//! # Upgrades from the first version
//!
//! The first version has the index `job_order` instead of `job_turn`. The first program of this
//! version that claims jobs builds `job_turn` in the background (`CREATE INDEX CONCURRENTLY`).
//! Programs of both versions read and write meanwhile, by the old index. The build waits for each
//! older transaction in the database to end. If it fails or is interrupted, a program tries again
//! after a minute. The gauge `missing_indexes` is 1 until it is done. The build takes two more
//! connections, which a pooler must be able to lend. It needs a server without
//! `statement_timeout`, or a direct connection, which switches that off. Programs that claim
//! nothing build nothing.
//!
//! `job_order` stays, since older programs need it. Once the last of them has ended, drop it
//! (`DROP INDEX CONCURRENTLY wheelhouse.job_order`): it slows writes down, and with wrong
//! statistics the planner may use it for lookups by key, which then read a whole queue.
//!
//! # Old transactions
//!
//! The table is vacuumed after changes of 1 % of it. A transaction that stays open for long
//! anywhere in the database stops the vacuum, and each job that runs leaves two dead rows and their
//! index entries until it ends. Once a claim from the beginning searches for more than 10 ms,
//! claims begin where the last one ended, so that they do not walk over these entries; those from
//! the beginning then take a tenth of the time at most. A claim of other kinds than the last one
//! reads from the beginning. After a commit by the same store that makes an earlier job visible,
//! the next claim begins at that job, unless such claims take more than a tenth of the time.
//!
//! Other jobs that become visible before the place where a claim begins can then be late, by ten
//! times as long as a search from the beginning takes:
//!
//! * what another program or your own transaction makes visible in the past: a job that was
//!   scheduled for a past time, the new job under a key after the ack of the replaced run, the next
//!   run of a periodic job that took longer than its period;
//! * a commit that is seen more than 200 ms after it has read the clock, as in a transaction that
//!   stays open;
//! * a due job that another transaction has locked when a claim passes it over.
//!
//! The list of kinds (what is overdue, what is paused) begins there too for the kinds that this
//! store claims. It still walks over dead entries of kinds that only other programs claim.
//!
//! If a claim from the beginning exceeds the [timeout](Builder::timeout), the next one is tried
//! after ten times that duration. Until then claims begin where the last one ended, or at the
//! present in a program that has just started.
//!
//! What remains: the table and its indexes grow until that transaction ends, a lookup by key walks
//! over the dead rows of a key that is used again and again, and the table keeps the space
//! afterwards (`VACUUM FULL` returns it). `visible_at` is in an index, so updates are never in
//! place (HOT), and a fill factor would not help.
//!
//! # Poolers
//!
//! A pooler (pgbouncer, and those of Supabase, Neon and Heroku) may stand between, in session or in
//! transaction mode; statement mode fails, since it has no transactions. `LISTEN` needs its own
//! session, so it is used only where the server process that greets a connection also answers
//! it. Behind a pooler there are no notifications: the store is asked once a second
//! (`Builder::poll`), so a job that another program schedules to be due at once can be up to a
//! second late. Where that matters, use the direct address of the server.
//!
//! # Encrypted connections
//!
//! With `sslmode=require` in the URL and the feature `tls` of this crate. The certificate of the
//! server is checked, against the machine's roots or those that `Builder::root_certificates` is
//! given. Without `sslmode=require` nothing is encrypted.
//!
//! # If the server is gone
//!
//! A call tries to connect again, with growing pauses, for as long as its
//! [timeout](Builder::timeout), and then fails ([`Unavailable`](StoreError::Unavailable)). A call
//! that fails before its commit was sent has changed nothing, and is repeated in the same way: if
//! the connection breaks, if the server shuts down or has become a standby that only reads, and if
//! other transactions lock the same rows. The name of the server is resolved again for each
//! connection. A call whose connection breaks after that fails at once: it may have been carried
//! out or not.

#[cfg(test)]
mod always;
mod batch;
mod claim;
mod commit;
mod error;
mod floor;
mod greeting;
mod index;
mod listen;
#[cfg(test)]
mod plans;
mod row;
mod session;
mod settings;
mod setup;
mod sockets;
mod store;
mod tls;
mod transaction;

pub use commit::{ack_in, commit_in};
pub use settings::Builder;
pub use store::PostgresStore;
/// The version of tokio-postgres whose transactions [`commit_in`] takes.
pub use tokio_postgres;
#[cfg(doc)]
use wheelhouse_durable::store::StoreError;

/// Compiles the program of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
