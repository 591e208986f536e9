//! Real servers for tests and benches: each is started on a free port in a temporary folder, and
//! ends with whoever started it, even by `kill -9`.
//!
//! ```
//! use wheelhouse_test_servers::Server;
//!
//! let Some(server) = Server::redis(&[]) else { return }; // has said that it is skipped
//! server.kill(); // as a crash would
//! server.start();
//! println!("redis://{}", server.address());
//! ```
//!
//! # How it works
//!
//! ```text
//!  test ──── orders, by a pipe ───▶ keeper (sh) ──── starts, signals ───▶ server
//! ```
//!
//! A *keeper*, a small shell script, is the parent of the server. It starts, kills, stops and
//! continues it as it is told. When its pipe ends, it kills the server and removes the folder. A
//! pipe ends with the process that holds it, however that process ends. So a test that is killed
//! leaves neither a server nor a file behind, and a server may be shared by all tests of a program.
//!
//! [`Proxy`] stands between a client and a server, and delays, swallows or cuts what goes through.
//! [`failures`] are what a store on a server must survive, [`encryption`] what it does on one that
//! encrypts.

mod certificate;
pub mod encryption;
pub mod failures;
mod keeper;
mod pgbouncer;
mod postgres;
mod proxy;
mod redis;
pub mod shards;

pub use proxy::{Network, Proxy};

use keeper::Keeper;
use std::net::{SocketAddr, TcpListener};
use std::time::{Duration, Instant};

/// How long a server may take to answer after its start.
const START: Duration = Duration::from_secs(30);

/// A server that runs in a temporary folder, for as long as this value lives.
#[derive(Debug)]
pub struct Server {
    keeper: Keeper,
    address: SocketAddr,
    /// Whether the server at this address answers as its kind does.
    answers: fn(SocketAddr) -> bool,
}

impl Server {
    /// A Redis whose append-only file has what it acknowledged; `more` are further options.
    ///
    /// `None`, and a line on standard error, if there is no `redis-server` on this machine.
    ///
    /// # Panics
    ///
    /// If the server does not answer within 30 seconds.
    #[must_use]
    pub fn redis(more: &[&str]) -> Option<Self> {
        redis::server(more)
    }

    /// Three Redis that are a cluster, each with a third of the slots.
    ///
    /// # Panics
    ///
    /// As [`redis`](Self::redis), or if they do not become a cluster within 30 seconds.
    #[must_use]
    pub fn redis_cluster() -> Option<[Self; 3]> {
        redis::cluster()
    }

    /// A Sentinel that watches the Redis at this address under a name.
    ///
    /// # Panics
    ///
    /// As [`redis`](Self::redis).
    #[must_use]
    pub fn redis_sentinel(name: &str, primary: SocketAddr) -> Option<Self> {
        redis::sentinel(name, primary)
    }

    /// A Redis that takes encrypted connections only, and what a client is to trust, as PEM. It has
    /// started when it takes connections.
    ///
    /// `None` also if there is no `openssl` on this machine.
    ///
    /// # Panics
    ///
    /// As [`redis`](Self::redis).
    #[must_use]
    pub fn redis_with_tls() -> Option<(Self, Vec<u8>)> {
        redis::server_with_tls()
    }

    /// A PostgreSQL with the user `postgres`, who needs no password, and a database of that name.
    ///
    /// `None`, and a line on standard error, if there is no PostgreSQL on this machine, or if this
    /// is root's process and no user `postgres` exists: PostgreSQL refuses to run as root.
    ///
    /// # Panics
    ///
    /// If the server does not answer within 30 seconds.
    #[must_use]
    pub fn postgres() -> Option<Self> {
        postgres::server()
    }

    /// The same with a certificate, and what a client is to trust, as PEM.
    ///
    /// `None` also if there is no `openssl` on this machine.
    ///
    /// # Panics
    ///
    /// As [`postgres`](Self::postgres).
    #[must_use]
    pub fn postgres_with_tls() -> Option<(Self, Vec<u8>)> {
        postgres::server_with_tls()
    }

    /// A standby of a PostgreSQL, which streams what that commits and answers queries. `SELECT
    /// pg_promote()` makes a primary of it.
    ///
    /// `None` as [`postgres`](Self::postgres).
    ///
    /// # Panics
    ///
    /// If the server does not answer within 30 seconds, or cannot be copied.
    #[must_use]
    pub fn postgres_standby(primary: &Self) -> Option<Self> {
        postgres::standby(primary.address)
    }

    /// A PostgreSQL whose databases have this encoding, such as `SQL_ASCII` or `LATIN1`.
    ///
    /// `None` as [`postgres`](Self::postgres).
    ///
    /// # Panics
    ///
    /// As [`postgres`](Self::postgres).
    #[must_use]
    pub fn postgres_with_encoding(encoding: &str) -> Option<Self> {
        postgres::server_with_encoding(encoding)
    }

    /// A pgbouncer in front of a PostgreSQL, with a mode (`transaction`, `session`) and at most
    /// this number of sessions for each database. Any user is `postgres` there.
    ///
    /// `None`, and a line on standard error, if there is no `pgbouncer` on this machine.
    ///
    /// # Panics
    ///
    /// If it does not answer within 30 seconds.
    #[must_use]
    pub fn pgbouncer(behind: &Self, mode: &str, sessions: usize) -> Option<Self> {
        pgbouncer::server(behind.address, mode, sessions)
    }

    /// Where it listens: a port of 127.0.0.1 that stays the same over a restart.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Starts it again, after [`kill`](Self::kill), on the files that it left.
    ///
    /// # Panics
    ///
    /// If the server does not answer within 30 seconds.
    pub fn start(&self) {
        let begun = Instant::now();
        while !self.start_once() {
            assert!(begun.elapsed() < START, "the server does not start:\n{}", self.keeper.log());
        }
    }

    /// Kills it as a crash would (`kill -9`), and waits until it is gone.
    pub fn kill(&self) {
        self.keeper.order("KILL");
    }

    /// Stops it: it keeps its connections and does not answer, until [`go_on`](Self::go_on).
    pub fn stop(&self) {
        self.keeper.order("STOP");
    }

    /// Lets it go on after [`stop`](Self::stop).
    pub fn go_on(&self) {
        self.keeper.order("CONT");
    }

    /// Whether it answers before it ends: a server may find its port taken, or the lock of the one
    /// that was killed still held, and end at once.
    fn start_once(&self) -> bool {
        self.keeper.order("start");
        let begun = Instant::now();
        while begun.elapsed() < START {
            if (self.answers)(self.address) {
                return true;
            }
            if self.keeper.order("lives") == "no" {
                return false;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        false
    }
}

/// Waits until a condition holds.
///
/// # Panics
///
/// If it does not within 20 seconds.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < Duration::from_secs(20), "waited for 20 s: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A port that was free a moment ago.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port of 127.0.0.1");
    listener.local_addr().expect("an address").port()
}

/// Says on standard error that a test is skipped, and what would help.
pub fn skipped(what: &str, remedy: &str) {
    eprintln!("SKIPPED, no {what} here: {remedy}");
}
