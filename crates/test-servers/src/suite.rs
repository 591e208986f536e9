//! The checks of a store on a server, as tests.

use crate::Server;
use std::net::SocketAddr;
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

/// The queue of a check.
pub(crate) const QUEUE: &str = "orders";

/// A server, and a function that connects a store to it.
#[derive(Debug)]
pub struct TestServer {
    pub(crate) server: Server,
    pub(crate) connect: Connect,
    start: fn() -> Option<Server>,
}

impl TestServer {
    /// Starts the server; `None` if it is not installed.
    pub fn start(start: fn() -> Option<Server>, connect: Connect) -> Option<Self> {
        Some(Self { server: start()?, connect, start })
    }

    /// Starts another server.
    pub(crate) fn another(&self) -> Server {
        (self.start)().expect("it is installed")
    }

    /// Connects to the server at its own address or that of a proxy.
    pub(crate) fn open(&self, address: SocketAddr, timeout: Duration) -> Box<dyn Store> {
        let url = self.server.url_at(address);
        (self.connect)(&url, QUEUE, How::Within(timeout)).expect("it connects")
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
        $(
            #[test]
            fn $check() {
                $crate::TestServer::start($start, $connect).iter().for_each($crate::checks::$check);
            }
        )*
    };
}
