//! Durable timers on PostgreSQL, for several machines: a store for [`wheelhouse_durable`].
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
//! To try it: `apt-get install postgresql`. Tested with PostgreSQL 15.18. Newer versions have one
//! more default that would matter, `transaction_timeout`: see [Server settings](#server-settings).
//!
//! # In async programs
//!
//! Every call works on any thread: in async code, in `spawn_blocking` and `block_in_place`, and
//! under `Runtime::enter`. A call blocks its thread until the server has answered: a few round
//! trips, but up to the [timeout](Builder::timeout) while the server is unreachable. In async code
//! the other tasks of that thread wait too. To avoid that, make the call by
//! `tokio::task::spawn_blocking`, and await a [`Commit`](wheelhouse_durable::Commit) instead of
//! calling `schedule`.
//!
//! A call reads and writes its connection on its own thread, by a tokio runtime without threads. On
//! a thread that runs async code, it starts another thread for that, which ends with the call. One
//! more thread, `wheelhouse-postgres`, listens for all stores of a process. It starts with the
//! first store and ends with the last.
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
//! * **A batch of one sort is one statement** and one round trip: only new jobs, moves,
//!   cancellations, begins, or acks without a next occurrence. It writes all rows if each is in the
//!   state in which such a change usually finds it. Otherwise it writes none.
//! * **Any other batch is a transaction.** It reads and locks the rows of its keys, decides each
//!   change in memory, and writes the result by one statement for removed rows, one for changed
//!   rows and one for new rows. So a thousand changes take as many round trips as one: six at most.
//! * **A claim** is a transaction of two statements. It skips rows that another machine is leasing
//!   at the moment (`SKIP LOCKED`), so claims do not wait for each other.
//! * **A direct connection is set up once**: it sets what statements rely on by `SET`, and prepares
//!   each statement with one plan. Behind a pooler each transaction brings its settings by
//!   `SET LOCAL`, and statements have no names, so no session is changed. In both cases the
//!   defaults of the server do not matter.
//! * **The server's clock** decides which jobs are due and which leases have ended
//!   (`clock_timestamp()`, not the time of the beginning of the transaction). Clients send delays.
//! * **Tokens and generations** are drawn from a sequence. Each connection moves it to at least the
//!   server's microseconds, so they grow even if the database is restored from an old copy.
//! * **Waiting programs are notified** (`NOTIFY`) when a job becomes the first of its kind that is
//!   not due, and only then, because PostgreSQL commits transactions that notify one after the
//!   other. In your own transaction, which may stay open for long, each new job is notified.
//! * **With your own tables**: [`commit_in`] schedules in your transaction, [`ack_in`] ends a
//!   job in the transaction of its effect.
//!
//! # Server settings
//!
//! `fsync` and `full_page_writes` must be on, which is the default and is checked. The store sets
//! `synchronous_commit` on. Other defaults (isolation, timeouts, `search_path`, encoding, time
//! zone) do not matter. PostgreSQL 17 has one more timeout, `transaction_timeout`. It is switched
//! off if the server has it; this was not run on PostgreSQL 17 yet. Text of handlers and programs
//! is UTF-8. A database with another encoding than `UTF8` or `SQL_ASCII` keeps the reason of a dead
//! letter with escapes (`\u{6771}`), and refuses queues and kinds with characters that the encoding
//! does not have.
//!
//! Statements have the same plan for any statistics: those by key can use only one index, those by
//! time only another, and a row is changed by its physical place (`ctid`).
//!
//! # Upgrades from the first version
//!
//! The first version has the index `job_order` instead of `job_turn`. The first program of this
//! version that claims jobs builds `job_turn` in the background (`CREATE INDEX CONCURRENTLY`).
//! During the build, programs of both versions read and write by the old index. The build waits for
//! each older transaction in the database to end. If it fails or is interrupted, a program retries
//! after a minute. The gauge `missing_indexes` is 1 until it is done. The build takes two more
//! connections, which a pooler must be able to lend. It needs a server without `statement_timeout`
//! and `transaction_timeout`, or a direct connection, which switches both off. Programs that claim
//! nothing build nothing.
//!
//! `job_order` stays, because older programs need it. Once the last of them has ended, drop it
//! (`DROP INDEX CONCURRENTLY wheelhouse.job_order`): it slows writes down, and with wrong
//! statistics the planner may use it for lookups by key, which then read a whole queue.
//!
//! # Old transactions
//!
//! The table is vacuumed after changes of 1 % of it. A transaction that stays open for long
//! anywhere in the database blocks the vacuum: until it ends, each job that runs leaves two dead
//! rows and their index entries. Claims must not walk over all of these, so:
//!
//! * Once a claim from the beginning of the index searches for more than 10 ms, later claims begin
//!   where the last one ended. Claims from the beginning then take at most a tenth of the time.
//! * The last two sets of kinds that were claimed each have their own place, so closures and async
//!   handlers can alternate. A claim of other kinds reads from the beginning.
//! * After a commit by the same store that makes an earlier job visible, the next claim begins at
//!   that job, unless such claims take more than a tenth of the time.
//!
//! Other jobs that become visible before the place where a claim begins can then be late, by ten
//! times the duration of a search from the beginning:
//!
//! * jobs that another program or your own transaction makes visible in the past: a job scheduled
//!   for a past time, the new job under a key after the ack of the replaced run, the next run of a
//!   periodic job that took longer than its period;
//! * jobs of a commit that becomes visible more than 200 ms after it has read the clock, as in a
//!   transaction that stays open;
//! * a due job that another transaction has locked when a claim skips it.
//!
//! The list of kinds, which finds overdue jobs, begins there too for the kinds that this store
//! claims: the gauge of overdue jobs does not count those before that place. It still walks over
//! dead entries of kinds that only other programs claim.
//!
//! If a claim from the beginning exceeds the [timeout](Builder::timeout), the next one follows
//! after ten times that duration. Until then claims begin where the last one ended, or at the
//! present in a program that has just started.
//!
//! These effects remain: the table and its indexes grow until that transaction ends. A lookup by
//! key walks over the dead rows of a key that is reused often. The table keeps the space afterwards
//! (`VACUUM FULL` returns it). `visible_at` is in an index, so updates are never in place (HOT),
//! and a fill factor would not help. There are no partitions by due time either, which could be
//! truncated. A claim, a retry and a refresh change the time, so each would move its row to another
//! partition, and no index could keep a key unique in all of them.
//!
//! # Poolers
//!
//! A pooler (pgbouncer, and those of Supabase, Neon and Heroku) works in session mode and in
//! transaction mode. Statement mode fails, because it has no transactions. `LISTEN` needs its own
//! session, so it is used only if the server process that greets a connection also answers it.
//! Behind a pooler there are no notifications: the store is polled once a second (`Builder::poll`).
//! So a job that another program schedules to be due at once can be up to a second late. If that
//! matters, use the direct address of the server.
//!
//! # Encrypted connections
//!
//! Use `sslmode=require` in the URL and the feature `tls` of this crate. The server's certificate
//! is checked against the machine's roots, or against those of `Builder::root_certificates`.
//! Without `sslmode=require` nothing is encrypted.
//!
//! # Crate features
//!
//! | feature | adds | by default |
//! |---|---|---|
//! | `tls` | encrypted connections: `sslmode=require` | off |
//!
//! # Outages
//!
//! If a call cannot connect, it retries with growing pauses until its [timeout](Builder::timeout),
//! and then fails ([`Unavailable`](StoreError::Unavailable)). The host name is resolved again for
//! each connection. A call that fails before its commit was sent has changed nothing, and is
//! repeated in the same way: if the connection breaks, if the server shuts down or has become a
//! read-only standby, and if other transactions lock the same rows. A call whose connection breaks
//! after its commit was sent fails at once: it may have been carried out or not. A batch of one
//! statement is its own commit.
//!
//! A server that has become a standby still answers reads. So after a failover that leaves
//! connections open, `find`, `jobs` and `dead` can return old rows until the next change or claim
//! of the same connection, which replaces it.

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(test)]
mod always;
mod batch;
mod claim;
#[cfg(test)]
mod codes;
mod commit;
mod error;
mod floor;
mod greeting;
mod index;
mod listen;
#[cfg(test)]
mod plans;
mod quick;
mod row;
mod session;
mod settings;
mod setup;
mod sockets;
mod statements;
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
