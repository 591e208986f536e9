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
//! timers.after(Duration::from_secs(1_800)).keeping("order-17").schedule("close-order/1", &17)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! To try it: `apt-get install postgresql`. Tested with PostgreSQL 15.18.
//!
//! # In async programs
//!
//! Every call works on any thread: in async code, in `spawn_blocking` and `block_in_place`, and
//! under `Runtime::enter`. A call blocks its thread until the server has answered: a few round
//! trips, but up to the [timeout](Builder::timeout) while the server is unreachable. To block no
//! async task, make the call in `tokio::task::spawn_blocking`, and await a
//! [`Commit`](wheelhouse_durable::Commit) instead of calling `schedule`.
//!
//! A call does its I/O on its own thread. On a thread that runs async code, it starts another
//! thread for that, which ends with the call. Each store with handlers has one more thread,
//! `wheelhouse-postgres`, which listens for notifications.
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
//! * **A batch of one sort of change is one statement**: only new jobs, moves, cancellations,
//!   begins, or acks without a next occurrence. It takes one round trip on a direct connection, and
//!   three behind a pooler. If a row is in an unusual state, the statement writes nothing, and the
//!   batch is repeated as a transaction.
//! * **Any other batch is a transaction.** It reads and locks the rows of its keys, and decides
//!   each change in memory. Then it writes dead letters, removed rows, changed rows, new rows and
//!   notifications by one statement each. With its begin and its commit it takes at most eight
//!   round trips, whatever the number of changes. Changes to dead letters take a few more each.
//! * **A claim** is a transaction of two statements: one leases jobs and begins runs, the other
//!   finds when the next job is visible. It skips rows that another claim has locked (`SKIP
//!   LOCKED`), so claims do not wait for each other.
//! * **A direct connection is set up once** by `SET`, and has prepared statements. Behind a pooler
//!   each transaction uses `SET LOCAL`, and statements have no names, so no session is changed.
//! * **The server's clock** (`clock_timestamp()`) decides which jobs are due and which leases have
//!   ended. Clients send delays.
//! * **Tokens and generations** are drawn from a sequence. Each connection moves it to at least the
//!   server's microseconds, so they grow even if the database is restored from an old copy.
//! * **Waiting programs are notified** (`NOTIFY`) only when a job becomes the first of its kind
//!   that is not due (within 20 ms), because PostgreSQL commits transactions that notify one after
//!   the other. The payload is the queue and when the job is visible, in milliseconds. No
//!   notification is sent for a job with a delay of more than 20 minutes plus the
//!   [timeout](Builder::timeout): programs that are notified also look for jobs every 10 minutes.
//!   In your own transaction, which may stay open for long, each new job notifies.
//! * **With your own tables**: [`commit_in`] schedules a job in your transaction, or ends a run in
//!   the transaction of its effect.
//!
//! # Server settings
//!
//! `fsync` and `full_page_writes` must be on, which is the default and is checked. The store sets
//! `synchronous_commit` on. Other defaults (isolation, timeouts, `search_path`, time zone) do not
//! matter. The `transaction_timeout` of PostgreSQL 17 is switched off, which has not been tested on
//! PostgreSQL 17 yet. A database with another encoding than `UTF8` or `SQL_ASCII` keeps the reason
//! of a dead letter with escapes (`\u{6771}`), and refuses queues and kinds with characters that
//! the encoding does not have.
//!
//! Each statement can use only one index, so its plan does not depend on statistics.
//!
//! # Dead rows
//!
//! Each job that runs leaves two dead rows and their index entries, or three if its begin is a
//! separate change. The vacuum removes them, usually once a minute. A transaction that stays
//! open for long, anywhere in the database, blocks the vacuum until it ends. So that claims need
//! not walk over all of these:
//!
//! * Once a claim from the beginning of the index takes more than half a millisecond, and 20 µs
//!   more for each job, later claims begin where the last one ended, the *floor*. Claims from the
//!   beginning are then made once a second, and take at most a tenth of the time. If one exceeds
//!   the [timeout](Builder::timeout), the next one follows after ten times that duration. Behind a
//!   pooler, where programs are not notified, the limit is 10 ms, and only the tenth applies.
//! * In the same way, the search for the next job begins at the job that the last search found. So
//!   the end of a dead program's lease can be noticed up to a second late.
//! * The last two sets of kinds that were claimed each have a floor, so closures and async handlers
//!   can alternate. A claim of other kinds reads from the beginning.
//! * If the same store commits an earlier job, or is notified of one, the next claim begins at that
//!   job, unless such claims take more than a tenth of the time.
//!
//! Other jobs that become visible before the floor can be late, by a second or ten times the
//! duration of a claim from the beginning, and the gauge of overdue jobs does not count them:
//!
//! * a due job that another transaction has locked when a claim skips it;
//! * jobs that become visible more than 200 ms after their commit has read the clock, and for which
//!   no notification was sent because an earlier job of the kind was waiting;
//! * where programs are not notified: jobs that another program or your own transaction makes
//!   visible in the past.
//!
//! While a transaction stays open, the table and its indexes grow. They keep the space afterwards
//! (`VACUUM FULL` returns it). A lookup by key walks over the dead rows of a key that is reused
//! often.
//!
//! # Poolers
//!
//! A pooler (pgbouncer, and those of Supabase, Neon and Heroku) works in session mode and in
//! transaction mode. Statement mode fails, because it has no transactions. Behind a pooler there
//! are no notifications, so the store is polled once a second (`Builder::poll`). A job that another
//! program schedules to be due at once can then be up to a second late. If that matters, use the
//! direct address of the server.
//!
//! # Encrypted connections
//!
//! Use `sslmode=require` in the URL and the feature `tls` of this crate. The server's certificate
//! is checked against the machine's roots, or against those of `Builder::root_certificates`.
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
//! each connection. A call is also retried if the connection breaks before its commit was sent, if
//! the server shuts down or has become a read-only standby, and if other transactions lock the same
//! rows. A call whose connection breaks after its commit was sent fails at once: it may have been
//! carried out or not. A batch of one statement is its own commit. If the server refuses a new
//! connection of a running program, for example because the password was changed, calls fail
//! ([`Io`](StoreError::Io)), and the ends of runs are committed later.
//!
//! A server that has become a standby still answers reads. So after a failover that leaves
//! connections open, `find`, `jobs` and `dead` can return old rows until the next change or claim.

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

pub use commit::commit_in;
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
