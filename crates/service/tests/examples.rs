//! The examples, checked.

#[path = "../examples/event_loop.rs"]
#[allow(dead_code)]
mod event_loop;
#[path = "../examples/graceful_shutdown.rs"]
#[allow(dead_code)]
mod graceful_shutdown;
#[path = "../examples/order_audit.rs"]
#[allow(dead_code)]
mod order_audit;
#[path = "../examples/retransmission.rs"]
#[allow(dead_code)]
mod retransmission;
#[path = "../examples/session_store.rs"]
#[allow(dead_code)]
mod session_store;

/// Example E8 of the articles: 3 s, seen after 2, 4, 6 s; 4 s, refreshed to 5 s after 2, gone after 7.
#[test]
fn sessions_live_as_long_as_the_article_says() {
    let (first, second) = session_store::worked_example().unwrap();
    assert_eq!(first, [true, false, false]);
    assert_eq!(second, [true, true, true, true, true, true, false]);
}

#[test]
fn sessions_come_and_go() {
    // Of 5,000, 500 log out after two minutes; all others but 500, which are used until the hour is over, live for half an hour.
    assert_eq!(session_store::an_hour_of(5_000).unwrap(), [4_500, 500, 0]);
}

#[test]
fn nothing_is_lost_in_a_graceful_shutdown() {
    let kept = ["in 1 h", "in 2 h", "in 3 h"].map(str::to_owned).to_vec();
    let expected = graceful_shutdown::Outcome { sent: 1, kept, refused: true };
    assert_eq!(graceful_shutdown::send_mails().unwrap(), expected);
}

#[test]
fn an_event_loop_drives_a_scheduler() {
    let (heard, echoed, said_good_bye) = event_loop::conversation().unwrap();
    // On a machine that pauses for 20 ms between the words there is a good-bye more.
    assert_eq!((heard.first().map(String::as_str), heard.len(), echoed), (Some("hello"), 3, 2));
    assert!(heard.contains(&"good-bye".to_owned()) && said_good_bye >= 1, "{heard:?}");
}

/// Example W8: a burst of orders, all due at one instant half an hour later.
#[test]
fn orders_that_are_not_paid_are_cancelled_at_one_instant() {
    let outcome = order_audit::audit(20_000).unwrap();
    assert_eq!((outcome.paid, outcome.cancelled), (1_000, 19_000));
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
