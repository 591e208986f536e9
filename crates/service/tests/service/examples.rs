//! Checks the results of the examples.

#[path = "../../examples/event_loop.rs"]
#[allow(dead_code)]
mod event_loop;
#[path = "../../examples/game_broadcast.rs"]
#[allow(dead_code)]
mod game_broadcast;
#[path = "../../examples/graceful_shutdown.rs"]
#[allow(dead_code)]
mod graceful_shutdown;
#[path = "../../examples/order_audit.rs"]
#[allow(dead_code)]
mod order_audit;
#[cfg(feature = "cron")]
#[path = "../../examples/reports.rs"]
#[allow(dead_code)]
mod reports;
#[path = "../../examples/retransmission.rs"]
#[allow(dead_code)]
mod retransmission;
#[path = "../../examples/session_store.rs"]
#[allow(dead_code)]
mod session_store;

use crate::common::{PATIENCE, ms, returns};
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
fn nothing_is_lost_in_a_graceful_shutdown() {
    let kept = ["in 1 h", "in 2 h", "in 3 h"].map(str::to_owned).to_vec();
    let expected = graceful_shutdown::Outcome { sent: 1, kept, refused: true, hanging: 0 };
    assert_eq!(graceful_shutdown::send_mails(true, PATIENCE).unwrap(), expected);
}

#[test]
fn a_mail_server_that_never_answers_does_not_keep_the_program_from_its_end() {
    let kept = ["in 1 h", "in 2 h", "in 3 h"].map(str::to_owned).to_vec();
    let expected = graceful_shutdown::Outcome { sent: 0, kept, refused: true, hanging: 1 };
    let sent = returns(|| graceful_shutdown::send_mails(false, ms(50)).unwrap());
    assert_eq!(sent, expected);
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

/// More datagrams than it echoes in one portion.
#[test]
fn an_event_loop_echoes_all_that_had_arrived_before_it_looked() {
    let mut server = event_loop::Server::bind().unwrap();
    let (client, end) = (client_of(server.address().unwrap()), server.ender());
    for n in 0..150 {
        client.send(format!("{n}").as_bytes()).unwrap();
    }
    let heard = thread::spawn(move || {
        // If the machine pauses for 20 ms, there is a good-bye in between.
        let words = std::iter::repeat_with(|| receive(&client)).filter(|word| word != "good-bye");
        let heard: Vec<_> = words.take(150).collect();
        (heard, end())
    });
    returns(move || server.run().unwrap());
    let (heard, ended) = heard.join().unwrap();
    assert!(heard.iter().enumerate().all(|(n, heard)| *heard == format!("{n}")) && ended);
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

/// Workload W8: a burst of a million orders, all due at one instant half an hour later.
#[test]
fn a_million_orders_that_are_not_paid_are_cancelled_at_one_instant() {
    let outcome = order_audit::audit(1_000_000).unwrap();
    assert_eq!((outcome.paid, outcome.cancelled), (50_000, 950_000));
    assert!(outcome.polls < 20, "{} polls for half an hour", outcome.polls);
}

#[test]
fn a_silent_peer_is_tried_again_and_again_at_growing_distances() {
    use retransmission::Act::{GiveUp, Retransmit};
    // The last acknowledgement came after 1 s.
    let after = |n: u64| std::time::Duration::from_millis(1000 + 200 * n);
    let mut expected: Vec<_> = [1, 3, 7, 15, 31, 63].map(|n| Retransmit { at: after(n) }).to_vec();
    expected.push(GiveUp { at: after(127) });
    assert_eq!(retransmission::silent_peer().unwrap(), expected);
}

/// Requirement S2 (line 36): clients are notified of an event. The example measures how fast, on a
/// machine without other load.
#[test]
fn each_player_hears_of_an_attack_once_unless_logged_out() {
    let outcome = game_broadcast::broadcast(10_000, 50_000).unwrap();
    assert_eq!((outcome.told, outcome.spared), (9_900, 100));
    assert!(outcome.median <= outcome.last);
}

#[cfg(feature = "cron")]
mod cron {
    use super::reports::{a_year, times_of};
    use wheelhouse_service::cron::jiff::SignedDuration;
    use wheelhouse_service::cron::jiff::civil::{Weekday, time};

    #[test]
    fn reports_come_on_their_days_at_nine_whatever_the_clocks_do() {
        let done = a_year(2026).unwrap();
        let weekly = times_of(&done, "weekly report");
        assert_eq!(weekly.len(), 51, "52 Mondays");
        for (at, distance) in weekly {
            assert_eq!((at.weekday(), at.time()), (Weekday::Monday, time(9, 0, 0, 0)));
            let hours = match (at.month(), at.day()) {
                (3, 30) => 167,
                (10, 26) => 169,
                _ => 168,
            };
            assert_eq!(distance, SignedDuration::from_hours(hours), "{at}");
        }
        let monthly = times_of(&done, "monthly report");
        let days: Vec<_> =
            monthly.iter().map(|(at, _)| (at.month(), at.day(), at.time())).collect();
        assert_eq!(days, (2..=12).map(|month| (month, 12, time(9, 0, 0, 0))).collect::<Vec<_>>());
        let offsets: Vec<_> = monthly.iter().map(|(at, _)| at.offset().seconds() / 3600).collect();
        assert_eq!(offsets, [1, 1, 2, 2, 2, 2, 2, 2, 2, 1, 1]);
    }

    #[test]
    fn each_night_has_its_backup_also_where_half_past_two_is_missing_or_comes_twice() {
        let done = a_year(2026).unwrap();
        let nightly = times_of(&done, "nightly backup");
        assert_eq!(nightly.len(), 364);
        let mut dates: Vec<_> = nightly.iter().map(|(at, _)| at.date()).collect();
        dates.dedup();
        assert_eq!(dates.len(), 364, "one each night");
        let (skipped, repeated) = ((3, 29), (10, 25));
        for (at, _) in nightly {
            let day = (at.month(), at.day());
            let expected = if day == skipped { time(3, 0, 0, 0) } else { time(2, 30, 0, 0) };
            assert_eq!(at.time(), expected, "{at}");
            if day == repeated {
                assert_eq!(at.offset().seconds(), 7200, "the first of the two");
            }
        }
    }
}
