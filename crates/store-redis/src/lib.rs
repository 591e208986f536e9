//! Durable timers on Redis or Valkey, for many machines: a store of [`wheelhouse_durable`].
//!
//! ```no_run
//! use wheelhouse_store_redis::RedisStore;
//!
//! let store = RedisStore::connect("redis://127.0.0.1:6379/", "orders")?;
//! # Ok::<(), wheelhouse_durable::store::StoreError>(())
//! ```
//!
//! A server for a trial: `apt-get install redis-server && redis-server --appendonly yes`. Tested
//! with Redis 7.0.15.
//!
//! # How it works
//!
//! ```text
//!  wh:{orders}:order:expire/1  sorted set   generation + key, by visible_at      one for each kind
//!  wh:{orders}:states          hash         key -> state, token, due, attempt, kind
//!  wh:{orders}:bodies          hash         key -> policy, payload
//!  wh:{orders}:dead            hash         generation -> dead letter
//!  wh:{orders}:meta            hash         format, epoch, last number drawn
//! ```
//!
//! * **One script call for a batch**, of at most 512 changes, so that the server is not held up for
//!   more than some milliseconds. A call is carried out as a whole or not at all, also if the
//!   server is killed: it is one entry of the append-only file. A batch of more than 512 is not, if
//!   it fails midway.
//! * **The server's clock** decides what is due and which lease has ended. Clients send delays.
//! * **All data of a queue are in one slot** of a cluster, since their names have it as their hash
//!   tag. To spread jobs over several slots or servers, start on [several
//!   stores](wheelhouse_durable::Builder::start_shards).
//! * **Scripts name every key** that they touch, also the order of each kind: a commit names those
//!   of all kinds of the queue. So a user can be limited to `~wh:{orders}:*` and the channel
//!   `&wh:{orders}:order:`.
//! * **Tokens and generations** begin with the server's microseconds, so that they grow even if the
//!   data are lost or restored from an old copy. Each call names the *epoch* of the data, a random
//!   number that was drawn when the queue was made. If the data are no longer those, the next
//!   commit or claim of each connection fails once with a message that says it. Reads, and the
//!   calls after that, work on the data that are there.
//! * **A full server** (`maxmemory`) refuses new jobs; those that are there still begin and end.
//! * **Programs that wait are woken** by a message when a job is visible earlier than before.
//!
//! # What the server has to be set to
//!
//! | | | |
//! |---|---|---|
//! | `appendonly yes` | checked | without it a crash loses what was acknowledged |
//! | `maxmemory-policy noeviction`, if there is a `maxmemory` | checked | jobs would be thrown away when memory is short |
//! | `appendfsync` | yours to choose | `everysec`: a power cut may lose the last two seconds, and so may a crash of the server's process while the disk is busy: Redis then keeps back what it would write. `always`: neither loses anything; about a third of the speed in batches, a tenth singly |
//!
//! The server is asked at each new connection and once a minute. If the answer has changed, calls
//! fail ([`Io`](StoreError::Io)) until it is set as before.
//!
//! # Replicas, Sentinel, clusters
//!
//! A failover moves the queue to another server, and may leave connections to the old one open. An
//! answer by which a server says that it does not have the queue now (`READONLY`, `LOADING`,
//! `MASTERDOWN`, `CLUSTERDOWN`, `TRYAGAIN`, `MOVED`, `ASK`, `NOREPLICAS`) closes the connection.
//! The store then looks for the server that has it, with growing pauses, and repeats the call
//! there, for at most its [timeout](Builder::timeout): such a call was not carried out.
//!
//! | you have | give the store |
//! |---|---|
//! | a name that leads to the primary, as hosted servers do | that name; it is resolved again for each connection |
//! | a primary and replicas | all addresses: [`also`](Builder::also). The first that says it is a primary is taken |
//! | Sentinels | their addresses, and the name of the primary: [`sentinels`](Builder::sentinels) |
//! | a cluster | any node, or several by `also`. `MOVED` is followed to the node that has the queue. While its slot is being moved, calls wait |
//!
//! A failover may lose what the old primary had acknowledged and not yet replicated. Redis
//! documents this, and a client cannot prevent it. (`min-replicas-to-write` makes it less likely.)
//!
//! # Encrypted connections
//!
//! With `rediss://` in the URL and the feature `tls` of this crate. The server's certificate is
//! checked, against the machine's roots or those that `Builder::root_certificates` is given. The
//! first connection makes `ring` the default provider of rustls in this process, if there is none.
//!
//! # If the server is gone
//!
//! A call tries to connect again, with growing pauses, for as long as its
//! [timeout](Builder::timeout), and then fails ([`Unavailable`](StoreError::Unavailable)). A call
//! whose connection breaks while it waits for the answer fails at once: it may have been carried
//! out or not.
//!
//! # Costs
//!
//! About 10 us of the server's one core for a change, less in batches; about 350 bytes of memory
//! for a job with a payload of 64 bytes. Listing all jobs takes memory for a page.

mod check;
mod commit;
mod connection;
mod error;
mod keys;
mod listen;
mod row;
mod scan;
mod servers;
mod settings;
mod store;
mod tls;

pub use settings::Builder;
pub use store::RedisStore;
#[cfg(doc)]
use wheelhouse_durable::store::StoreError;
