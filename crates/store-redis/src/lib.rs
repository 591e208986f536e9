//! Durable timers on Redis or Valkey, for several machines: a store for [`wheelhouse_durable`].
//!
//! ```no_run
//! use wheelhouse_store_redis::RedisStore;
//!
//! let store = RedisStore::connect("redis://127.0.0.1:6379/", "orders")?;
//! # Ok::<(), wheelhouse_durable::store::StoreError>(())
//! ```
//!
//! To try it: `apt-get install redis-server && redis-server --appendonly yes`. Tested with Redis
//! 7.0.15.
//!
//! # How it works
//!
//! ```text
//!  wh:{orders}:order:expire/1  sorted set   generation + key, by visible_at      one for each kind
//!  wh:{orders}:jobs            hash         key -> state, token, due, kind, policy, payload ..
//!  wh:{orders}:bodies          hash         key -> policy, payload, if longer than 128 bytes
//!  wh:{orders}:dead            hash         generation -> dead letter
//!  wh:{orders}:dead-order      sorted set   the generations of `dead`
//!  wh:{orders}:kinds           set          the kinds that may have jobs
//!  wh:{orders}:meta            hash         format
//! ```
//!
//! * **One script call for a batch** of at most 512 changes, which blocks the server for a few
//!   milliseconds at most. A call is carried out completely or not at all, even if the server is
//!   killed: it is one entry of the append-only file. A batch of more than 512 changes can be
//!   carried out in part. A claim is a script call for 512 jobs, which also begins their runs.
//! * **The server's clock** decides which jobs are due and which leases have ended. Clients send
//!   delays.
//! * **All data of a queue are in one slot** of a cluster, because the queue is the hash tag of
//!   their names. To spread jobs over several slots or servers, start on [several
//!   stores](wheelhouse_durable::Builder::start_shards).
//! * **Scripts declare every key** that they touch. So a user can be limited to `~wh:{orders}:*`
//!   and the channel `&wh:{orders}:order:`.
//! * **Tokens and generations** begin with the server's microseconds, so they grow even if the data
//!   are lost or restored from an old copy. The empty key of `jobs` has the last number drawn, and
//!   the epoch.
//! * **Data of format 1** are converted by the first program that connects, in one call. It takes
//!   about 10 microseconds for each job, in which the server answers no other call: convert a large
//!   queue without traffic, and with a [timeout](Builder::timeout) that allows for it.
//! * **The epoch** of the data is a random number, drawn when the queue is created, which each call
//!   contains. If the data were replaced, the next commit or claim of each connection fails once,
//!   and its message names the cause. Reads and all later calls use the new data.
//! * **A full server** (`maxmemory`) refuses new jobs. Stored jobs still begin and end, also in
//!   programs that start then.
//! * **Waiting programs are woken** by a message when a job is due before all others of its kind.
//!
//! # Server settings
//!
//! | setting | | reason |
//! |---|---|---|
//! | `appendonly yes` | checked | without it a crash loses acknowledged jobs |
//! | `maxmemory-policy noeviction`, if there is a `maxmemory` | checked | otherwise the server evicts jobs when memory is short |
//! | `appendfsync` | your choice | `everysec`: a power cut may lose the last two seconds. So may a crash of the server's process while the disk is busy, because Redis then delays its writes. `always`: neither loses anything; about a third of the speed in batches, a tenth for single changes |
//!
//! The settings are checked at each new connection and once a minute. If a setting was changed,
//! calls fail ([`Io`](StoreError::Io)) until it is restored.
//!
//! # Replicas, Sentinel, clusters
//!
//! A failover moves the queue to another server, and may leave connections to the old one open. If
//! a server answers that it does not have the queue now (`READONLY`, `LOADING`, `MASTERDOWN`,
//! `CLUSTERDOWN`, `TRYAGAIN`, `MOVED`, `ASK`, `NOREPLICAS`, `UNBLOCKED`), the call was not carried
//! out. The store closes the connection, looks for the server that has the queue, and repeats the
//! call there, with growing pauses and for at most its [timeout](Builder::timeout).
//!
//! | you have | give the store |
//! |---|---|
//! | a host name that leads to the primary, as with hosted servers | that name; it is resolved again for each connection |
//! | a primary and replicas | all addresses: [`also`](Builder::also). The store uses the first that says it is a primary |
//! | Sentinels | their addresses, and the name of the primary: [`sentinels`](Builder::sentinels) |
//! | a cluster | any node, or several by `also`. The store follows `MOVED` to the node that has the queue. While its slot is being moved, calls wait |
//!
//! A failover may lose changes that the old primary had acknowledged and not yet replicated.
//! `min-replicas-to-write` makes this less likely; no client can prevent it.
//!
//! # Encrypted connections
//!
//! Use `rediss://` in the URL and the feature `tls` of this crate. The server's certificate is
//! checked against the machine's roots, or against those of `Builder::root_certificates`. The first
//! connection makes `ring` the default provider of rustls in this process, if there is none.
//!
//! # Crate features
//!
//! | feature | adds | by default |
//! |---|---|---|
//! | `tls` | encrypted connections: `rediss://` | off |
//!
//! # Outages
//!
//! If a call cannot connect, it retries with growing pauses until its [timeout](Builder::timeout),
//! and then fails ([`Unavailable`](StoreError::Unavailable)). A call whose connection breaks while
//! it waits for the answer fails at once: it may have been carried out or not. If the server
//! refuses a new connection of a running program, for example because the password was changed,
//! calls fail ([`Io`](StoreError::Io)), and the ends of runs are committed later.
//!
//! A server that has become a replica still answers reads. So after a failover that leaves
//! connections open, `find`, `jobs` and `dead` can return old jobs until the next change or claim.
//!
//! # Costs
//!
//! A change takes about 10 us of the server's one core, less in batches. A job with a payload of 64
//! bytes takes about 350 bytes of memory. Listing all jobs takes memory for one page.

#![cfg_attr(docsrs, feature(doc_cfg))]

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

pub use settings::Builder;
pub use store::RedisStore;
#[cfg(doc)]
use wheelhouse_durable::store::StoreError;
