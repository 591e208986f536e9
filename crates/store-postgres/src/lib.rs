//! Durable timers on PostgreSQL, for many machines: a store of [`wheelhouse_durable`].
//!
//! ```no_run
//! use wheelhouse_store_postgres::PostgresStore;
//!
//! let store = PostgresStore::connect("postgres://shop@localhost/shop", "orders")?;
//! # Ok::<(), wheelhouse_durable::store::StoreError>(())
//! ```
//!
//! A server for a trial: `apt-get install postgresql`. Tested with PostgreSQL 15.18.
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
//!   change in memory, and writes all by one statement for what goes, one for what changes and one
//!   for what is new. So a thousand changes take as many round trips as one: six at most.
//! * **A claim** is one statement; rows that another machine is leasing at the moment are passed
//!   over (`SKIP LOCKED`), so that claims do not wait for each other.
//! * **The server's clock** decides what is due and which lease has ended (`clock_timestamp()`, not
//!   that of the beginning of the transaction). Clients send delays.
//! * **Tokens and generations** are drawn from a sequence, which each connection moves to the
//!   server's microseconds at least: they grow even if the database is restored from an old copy.
//! * **Who waits is told** (`NOTIFY`) when a job becomes the first of its kind that is not due, and
//!   only then, since PostgreSQL lets transactions that notify commit one after the other. In a
//!   transaction of yours, which may stay open for long, each new job is told.
//! * **With your own tables**: [`commit_in`] schedules in a transaction of yours, [`ack_in`] ends a
//!   job in the transaction of its effect.
//!
//! # What the server has to be set to
//!
//! `fsync` and `full_page_writes` on, which is the default and is checked. `synchronous_commit` is
//! set on by each connection. The table is vacuumed after changes of 1 % of it. A transaction that
//! stays open for long anywhere in the database stops the vacuum, and claims become slower the
//! longer it lasts.
//!
//! Connections are held, with prepared statements and `LISTEN`: a pooler between must hold them too
//! (`pool_mode = session`).
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
//! whose connection breaks while it waits for the answer fails at once: it may have been carried
//! out or not.

mod batch;
mod commit;
mod error;
mod listen;
mod row;
mod session;
mod settings;
mod statements;
mod store;
mod tls;

pub use commit::{ack_in, commit_in};
pub use settings::Builder;
pub use store::PostgresStore;
/// The version of tokio-postgres whose transactions [`commit_in`] takes.
pub use tokio_postgres;
#[cfg(doc)]
use wheelhouse_durable::store::StoreError;
