//! Checks the results of the examples.

#[path = "../../examples/event_loop.rs"]
#[allow(dead_code)]
mod event_loop;
#[cfg(feature = "cron")]
#[path = "../../examples/reports.rs"]
#[allow(dead_code)]
mod reports;
#[path = "../../examples/session_store.rs"]
#[allow(dead_code)]
mod session_store;

use crate::common::{PATIENCE, returns};
use session_store::SessionStore;
use std::net::{SocketAddr, UdpSocket};
use std::thread;
use std::time::Duration;
use wheelhouse_service::Service;

/// Example E8 of the articles: a session of 3 s, checked after 2, 4 and 6 s; and one of 4 s,
/// refreshed to 5 s after 2 s, gone after 7 s.
#[test]
fn sessions_live_as_long_as_the_article_says() {
    let (first, second) = session_store::worked_example().unwrap();
    assert_eq!(first, [true, false, false]);
    assert_eq!(second, [true, true, true, true, true, true, false]);
}

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

#[test]
fn an_event_loop_drives_a_scheduler() {
    let (heard, echoed, said_good_bye) = event_loop::conversation().unwrap();
    // If the machine pauses for 20 ms between the words, there is an additional good-bye.
    assert_eq!((heard.first().map(String::as_str), heard.len(), echoed), (Some("hello"), 3, 2));
    assert!(heard.contains(&"good-bye".to_owned()) && said_good_bye >= 1, "{heard:?}");
}

/// A datagram that the server sends to itself is echoed to itself again and again, so its socket is
/// never empty.
#[test]
fn an_event_loop_that_is_flooded_keeps_its_timers() {
    let mut server = event_loop::Server::bind().unwrap();
    let (address, end) = (server.address().unwrap(), server.ender());
    for _ in 0..4 {
        server.send(b"hello", address).unwrap();
    }
    let client = client_of(address);
    client.send(b"hello").unwrap();
    let heard = thread::spawn(move || {
        let heard = ["hello", "good-bye"].map(|word| (receive(&client), word));
        (heard, end())
    });
    returns(move || server.run().unwrap());
    let (heard, ended) = heard.join().unwrap();
    assert!(heard.iter().all(|(heard, word)| heard == word) && ended, "{heard:?}");
}

fn client_of(server: SocketAddr) -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket.connect(server).unwrap();
    socket
}

fn receive(client: &UdpSocket) -> String {
    let mut bytes = [0; 16];
    let length = client.recv(&mut bytes).unwrap();
    String::from_utf8(bytes[..length].to_vec()).unwrap()
}

#[cfg(feature = "cron")]
#[test]
fn reports_come_on_their_days_and_at_their_times_whatever_the_clocks_do() {
    use reports::{a_year, times_of};
    use wheelhouse_service::cron::jiff::civil::{Weekday, time};
    let (done, nine) = (a_year(2026).unwrap(), time(9, 0, 0, 0));
    let weekly = times_of(&done, "weekly report");
    assert_eq!(weekly.len(), 51, "52 Mondays");
    for (at, distance) in weekly {
        let hours = match (at.month(), at.day()) {
            (3, 30) => 167,
            (10, 26) => 169,
            _ => 168,
        };
        assert_eq!((at.weekday(), at.time(), distance.as_hours()), (Weekday::Monday, nine, hours));
    }
    let monthly = times_of(&done, "monthly report");
    let days = monthly.iter().map(|(at, _)| (at.month(), at.day(), at.time()));
    assert!(days.eq((2..=12).map(|month| (month, 12, nine))), "{monthly:?}");
    // Half past two is missing in one night, and comes twice in another.
    let nightly = times_of(&done, "nightly backup");
    assert_eq!(nightly.len(), 364);
    assert!(
        nightly.windows(2).all(|pair| pair[0].0.date().tomorrow().ok() == Some(pair[1].0.date()))
    );
    for (at, _) in nightly {
        let day = (at.month(), at.day());
        let expected = if day == (3, 29) { time(3, 0, 0, 0) } else { time(2, 30, 0, 0) };
        assert_eq!(at.time(), expected, "{at}");
        assert!(day != (10, 25) || at.offset().seconds() == 7200, "the first of the two");
    }
}
