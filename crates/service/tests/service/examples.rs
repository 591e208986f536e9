//! Checks the results of the examples.

#[path = "../../examples/event_loop.rs"]
#[allow(dead_code)]
mod event_loop;
#[path = "../../examples/session_store.rs"]
#[allow(dead_code)]
mod session_store;

use crate::common::returns;
use session_store::SessionStore;
use std::thread;
use std::time::Duration;
use wheelhouse_service::Service;

/// Workload W7: the number of sessions in the article.
#[test]
fn half_a_million_sessions_come_and_go() {
    // A tenth logs out after two minutes. A tenth is used until the hour is over. The others live
    // for half an hour.
    assert_eq!(session_store::an_hour_of(500_000).unwrap(), [450_000, 50_000, 0]);
}

/// Fault B8 of the articles: a token is free before the closure that removes its former session has
/// run.
#[test]
fn what_ends_a_session_leaves_its_successor_alone() {
    let service = Service::builder().workers(2).tick(Duration::from_micros(20)).start().unwrap();
    let timers = service.handle();
    let store = SessionStore::new(timers.clone());
    let long = Duration::from_secs(3600);
    for n in (0..4_000).step_by(2) {
        store.begin("a", n, Duration::from_micros(50)).unwrap();
        thread::scope(|scope| {
            // In some rounds, another thread logs out at that moment.
            scope.spawn(|| (n % 4 == 0).then(|| store.end("a")));
            while store.begin("a", n + 1, long).is_err() {}
        });
        while timers.snapshot().in_flight > 0 {
            thread::yield_now();
        }
        // The logout may have ended the successor. Then it is gone as it should be.
        let job = timers.job("a");
        assert_eq!(store.user("a"), job.map(|_| n + 1), "{n}");
        store.end("a");
        assert_eq!(store.len(), 0);
    }
}

/// Also if its socket is never empty: a datagram that the server sends to itself is echoed to
/// itself again and again.
#[test]
fn an_event_loop_drives_a_scheduler() {
    for datagrams in [0, 4] {
        let server = event_loop::Server::bind().unwrap();
        for _ in 0..datagrams {
            server.socket.send_to(b"hello", server.socket.local_addr().unwrap()).unwrap();
        }
        let heard = returns(move || event_loop::conversation(server).unwrap());
        // If the machine pauses for 20 ms between the words, there is an additional good-bye.
        assert_eq!((heard[0].as_str(), heard.len()), ("hello", 3));
        assert!(heard.contains(&"good-bye".to_owned()), "{heard:?}");
    }
}
