//! Delivery through channels.

use crate::common::{Rig, each_second, ms};
use crossbeam_channel::{bounded, unbounded};
use std::time::SystemTime;
use wheelhouse_service::{EventKind, Status};

#[test]
fn a_receiver_that_is_slow_holds_up_nobody() {
    let (mut rig, events) = Rig::with_events();
    let (sender, receiver) = bounded(1);
    let periodic = rig.timers.every(ms(10)).named("beat").send(&sender, ()).unwrap();
    rig.play(30);
    assert_eq!(events.kinds(), [EventKind::ChannelFull, EventKind::ChannelFull]);
    receiver.recv().unwrap();
    rig.play(40);
    let undelivered = rig.timers.snapshot().counts.undelivered;
    assert_eq!((receiver.len(), periodic.runs(), undelivered), (1, 4, 2));
}

#[test]
fn a_periodic_job_ends_when_nobody_receives() {
    let (mut rig, events) = Rig::with_events();
    let (sender, receiver) = unbounded();
    let periodic = rig.timers.every(ms(10)).named("beat").send(&sender, ()).unwrap();
    rig.timers.after(ms(30)).named("last").send(&sender, ()).unwrap();
    rig.play(10);
    drop(receiver);
    rig.play(100);
    let told: Vec<_> = events.take().iter().map(ToString::to_string).collect();
    let expected =
        ["beat", "last"].map(|job| format!("job '{job}' found its channel closed, and ends"));
    assert_eq!(told, expected);
    assert_eq!((periodic.status(), periodic.runs(), rig.timers.len()), (Status::Finished, 2, 0));
}

/// From values that are sent once, periodically and by a rule, and from a future.
#[test]
fn values_arrive_at_the_times_of_a_rule() {
    let (mut rig, (sender, receiver)) = (Rig::new(), unbounded());
    rig.timers.after(ms(1_500)).send(&sender, "once").unwrap();
    rig.timers.every(ms(2_500)).times(2).send(&sender, "often").unwrap();
    let plan = rig.timers.on(each_second).times(3).named("beat");
    let job = plan.send(&sender, "sent").unwrap();
    let sends = sender.clone();
    let future = rig.timers.on(each_second).times(3).run_async(move |run| {
        assert_eq!(run.time(), Some(SystemTime::UNIX_EPOCH + run.deadline().since_origin()));
        let sender = sends.clone();
        async move { sender.send("from a future").unwrap() }
    });
    let mut arrived = Vec::new();
    for now in (0..=5_000).step_by(500) {
        rig.play(now);
        arrived.extend(receiver.try_iter().map(|value| (now, value)));
    }
    let [first, second, third] =
        [1_000, 2_000, 3_000].map(|now| [(now, "sent"), (now, "from a future")]);
    let [once, often] = [[(1_500, "once")], [(2_500, "often")]];
    let all = [&first[..], &once, &second, &often, &third, &[(5_000, "often")]];
    assert_eq!(arrived, all.concat());
    assert_eq!((job.status(), job.name(), job.runs()), (Status::Finished, Some("beat"), 3));
    assert_eq!(future.unwrap().status(), Status::Finished);
    drop(sender);
    assert!(receiver.recv().is_err(), "the service has no sender any more");
}
