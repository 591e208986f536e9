//! Real servers for tests and benches. A server that is not installed is `None`, and a line on
//! standard error says how to install it. Each is started on a free port in a temporary folder, and
//! ends with the program that started it, even if that is killed with `kill -9`.
//!
//! ```
//! use wheelhouse_test_servers::Server;
//!
//! let Some(server) = Server::redis(&[]) else { return }; // not installed: prints "SKIPPED"
//! server.kill(); // as a crash would
//! server.start();
//! println!("{}", server.url());
//! ```
//!
//! # How it works
//!
//! ```text
//!  test ──── orders, by a pipe ───▶ keeper (sh) ──── starts, signals ───▶ server
//! ```
//!
//! A *keeper*, a small shell script, is the parent of the server. It starts, kills, stops and
//! continues the server on orders from the test. When its pipe closes, it kills the server and
//! removes the folder. A pipe closes when the process that holds it ends, however that happens. So
//! a test that is killed leaves neither a server nor a file behind, and all tests of a program can
//! share a server.
//!
//! [`Proxy`] forwards data between a client and a server, and can delay it, swallow it, or cut the
//! connection. [`server_suite!`] makes tests of the checks of a store on a server: of failures that
//! it must survive, of readers, and of programs over two servers. [`encryption`] has checks of a
//! store on a server that uses TLS.

mod certificate;
pub mod encryption;
mod failures;
mod keeper;
mod postgres;
mod programs;
mod proxy;
mod redis;
mod suite;

pub use proxy::{Network, Proxy};
pub use suite::{Connect, How, TestServer};
#[doc(hidden)]
pub use wheelhouse_durable::store;
pub use wheelhouse_store_conformance::jobs::wait_until;

use keeper::Keeper;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The checks of [`server_suite!`]. Each panics with the promise that was broken.
pub mod checks {
    pub use crate::failures::*;
    pub use crate::programs::*;
}

/// The time that a server may take to answer after its start.
const START: Duration = Duration::from_secs(30);

/// A server in a temporary folder. It runs until this value is dropped. Each call that starts one
/// panics if it does not answer within 30 seconds.
#[derive(Debug)]
pub struct Server {
    keeper: Keeper,
    address: SocketAddr,
    protocol: Protocol,
}

/// How clients connect to a server.
#[derive(Clone, Copy, Debug)]
enum Protocol {
    Postgres,
    Redis,
    EncryptedRedis,
}

impl Protocol {
    /// Returns `true` if the server at this address answers as a server of its kind does.
    fn answers(self, address: SocketAddr) -> bool {
        match self {
            // A startup message. The answer is a request for authentication, or an error while the
            // server is starting.
            Self::Postgres => answers(address, b"\0\0\0\x17\0\x03\0\0user\0postgres\0\0", b"R"),
            // Until it has read its files, it answers with an error.
            Self::Redis => answers(address, b"PING\r\n", b"+PONG"),
            Self::EncryptedRedis => TcpStream::connect(address).is_ok(),
        }
    }
}

fn answers(address: SocketAddr, request: &[u8], expected: &[u8]) -> bool {
    let answer = || {
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(Duration::from_secs(1)))?;
        stream.write_all(request)?;
        let mut answer = vec![0; expected.len()];
        stream.read_exact(&mut answer).map(|()| answer)
    };
    answer().is_ok_and(|answer| answer == expected)
}

impl Server {
    /// Starts `command`, which must serve this port of 127.0.0.1.
    fn run((folder, port): (PathBuf, u16), command: &[String], protocol: Protocol) -> Self {
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let server = Self { keeper: Keeper::new(folder, command), address, protocol };
        server.start();
        server
    }

    /// The address it listens on: a port of 127.0.0.1 that stays the same after a restart.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its URL for clients.
    #[must_use]
    pub fn url(&self) -> String {
        self.url_at(self.address)
    }

    /// Its URL at another address, such as that of a [`Proxy`].
    #[must_use]
    pub fn url_at(&self, address: SocketAddr) -> String {
        match self.protocol {
            Protocol::Postgres => format!("postgres://postgres@{address}/postgres"),
            Protocol::Redis => format!("redis://{address}/"),
            Protocol::EncryptedRedis => format!("rediss://{address}/"),
        }
    }

    /// The PostgreSQL that all tests of a program share.
    #[must_use]
    pub fn shared_postgres() -> Option<&'static Self> {
        static SERVER: LazyLock<Option<Server>> = LazyLock::new(Server::postgres);
        SERVER.as_ref()
    }

    /// The Redis that all tests of a program share.
    #[must_use]
    pub fn shared_redis() -> Option<&'static Self> {
        static SERVER: LazyLock<Option<Server>> = LazyLock::new(|| Server::redis(&[]));
        SERVER.as_ref()
    }

    /// Starts it again after [`kill`](Self::kill), on the files that it left.
    pub fn start(&self) {
        let begun = Instant::now();
        while !self.start_once() {
            assert!(begun.elapsed() < START, "the server does not start:\n{}", self.keeper.log());
        }
    }

    /// Kills it with `kill -9`, as a crash would, and waits until it is gone.
    pub fn kill(&self) {
        self.keeper.order("KILL");
    }

    /// Stops it: it keeps its connections and does not answer until [`resume`](Self::resume).
    pub fn stop(&self) {
        self.keeper.order("STOP");
    }

    /// Continues it after [`stop`](Self::stop).
    pub fn resume(&self) {
        self.keeper.order("CONT");
    }

    /// Returns `true` once it answers, and `false` if it ends first. That happens if its port is
    /// taken, or if the killed server still holds its lock.
    fn start_once(&self) -> bool {
        self.keeper.order("start");
        let begun = Instant::now();
        while begun.elapsed() < START {
            if self.protocol.answers(self.address) {
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

/// The name of a queue that no other test of this program uses.
#[must_use]
pub fn queue() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("queue {}", COUNT.fetch_add(1, Ordering::SeqCst))
}

/// A port that was free a moment ago.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port of 127.0.0.1");
    listener.local_addr().expect("an address").port()
}

/// Compiles and runs the programs of the guide and of a README, here since they use the stores,
/// and this crate is not published.
#[cfg(doctest)]
#[doc = include_str!("../../../guide/use.md")]
struct Guide;
#[cfg(doctest)]
#[doc = include_str!("../../durable/README.md")]
struct Readme;
