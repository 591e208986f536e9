//! The checks of a store on a server, as tests.

use crate::Server;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use wheelhouse_durable::store::{Store, StoreError};

/// How a store is connected.
#[derive(Clone, Copy, Debug)]
pub enum How {
    /// To write, with this timeout.
    Within(Duration),
    /// At its first call, with this timeout.
    Later(Duration),
    /// To read.
    ToRead,
}

/// Connects a store to a queue at a URL.
pub type Connect = fn(&str, &str, How) -> Result<Box<dyn Store>, StoreError>;

/// A server, and a function that connects a store to it.
#[derive(Debug)]
pub struct TestServer {
    pub(crate) server: Server,
    pub(crate) connect: Connect,
    start: fn() -> Option<Server>,
}

impl TestServer {
    /// Starts another server, for a check that kills it or needs an empty one.
    pub(crate) fn another(&self) -> Server {
        (self.start)().expect("it is installed")
    }

    /// Connects to a new queue.
    pub(crate) fn open(&self, address: SocketAddr, timeout: Duration) -> Box<dyn Store> {
        self.open_queue(address, &crate::queue(), timeout)
    }

    pub(crate) fn open_queue(
        &self,
        address: SocketAddr,
        queue: &str,
        timeout: Duration,
    ) -> Box<dyn Store> {
        let url = self.server.url_at(address);
        (self.connect)(&url, queue, How::Within(timeout)).expect("it connects")
    }
}

/// Two servers for the tests of a program. Tests mostly wait, so two of them can run at once.
#[derive(Debug, Default)]
pub struct TestServers {
    servers: [OnceLock<Option<Mutex<TestServer>>>; 2],
    next: AtomicUsize,
}

impl TestServers {
    /// Two servers that have not started.
    pub const fn new() -> Self {
        Self { servers: [const { OnceLock::new() }; 2], next: AtomicUsize::new(0) }
    }

    /// Waits for the next server in turn, which `start` starts if needed; `None` if it is not
    /// installed. Works also after another test has panicked.
    pub fn next(
        &self,
        start: fn() -> Option<Server>,
        connect: Connect,
    ) -> Option<MutexGuard<'_, TestServer>> {
        let next = self.next.fetch_add(1, Ordering::SeqCst) % self.servers.len();
        let begin = || Some(Mutex::new(TestServer { server: start()?, connect, start }));
        let server = self.servers[next].get_or_init(begin).as_ref()?;
        Some(server.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Makes a `#[test]` of each check. The arguments are a function that starts a server, and a
/// closure that returns the builder of a store, given a URL and a queue.
#[macro_export]
macro_rules! server_suite {
    ($start:expr, |$url:ident, $queue:ident| $builder:expr) => {
        fn connect(
            $url: &str,
            $queue: &str,
            how: $crate::How,
        ) -> Result<Box<dyn $crate::store::Store>, $crate::store::StoreError> {
            let store = $builder;
            let store = match how {
                $crate::How::Within(timeout) => store.timeout(timeout).connect(),
                $crate::How::Later(timeout) => store.timeout(timeout).connect_later(),
                $crate::How::ToRead => store.connect_to_read(),
            };
            Ok(Box::new(store?))
        }

        $crate::server_suite!($start, connect;
            a_killed_server_loses_nothing,
            a_server_that_is_gone_is_waited_for,
            a_stopped_server_is_unavailable,
            a_lost_answer_is_repeated,
            a_worker_that_is_cut_off_is_superseded,
            a_slow_network_is_only_slow,
            nothing_is_early_by_the_servers_clock,
            who_waits_is_told_again_after_a_restart,
            a_history_of_three_processes_is_sound,
            a_reader_changes_nothing,
            a_program_starts_while_a_server_is_away,
        );

        #[test]
        #[ignore = "a child"]
        fn plays() {
            $crate::checks::plays(connect);
        }
    };
    ($start:expr, $connect:expr; $($check:ident,)*) => {
        static SERVERS: $crate::TestServers = $crate::TestServers::new();

        $(
            #[test]
            fn $check() {
                SERVERS.next($start, $connect).iter().for_each(|it| $crate::checks::$check(it));
            }
        )*
    };
}
