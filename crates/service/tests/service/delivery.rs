//! Delivery through channels.

use crate::common::{Bomb, HOUR, Rig, at, ms};
use crossbeam_channel::{bounded, unbounded};
use std::time::SystemTime;
use wheelhouse_service::{EventKind, Status};

#[test]
fn values_arrive_at_their_times() {
    let mut rig = Rig::new();
    let (sender, receiver) = unbounded();
    rig.timers.after(ms(15)).send(&sender, "once".to_owned()).unwrap();
    rig.timers.every(ms(10)).times(3).send(&sender, "often".to_owned()).unwrap();
    let mut arrived = Vec::new();
    for now in (0..=30).step_by(5) {
        rig.scheduler.play(&rig.clock, at(now));
        arrived.extend(receiver.try_iter().map(|value| (now, value)));
    }
    let expected = [(10, "often"), (15, "once"), (20, "often"), (30, "often")];
    assert_eq!(arrived, expected.map(|(at, value)| (at, value.to_owned())));
    // When all jobs are over, the service has no sender any more.
    rig.scheduler.poll(at(31));
    drop(sender);
    assert!(receiver.recv().is_err());
}

#[test]
fn a_receiver_that_is_slow_holds_up_nobody() {
    let (mut rig, events) = Rig::with_events();
    let (sender, receiver) = bounded(1);
    let periodic = rig.timers.every(ms(10)).named("beat").send(&sender, ()).unwrap();
    rig.play(30);
    assert_eq!(events.kinds(), [EventKind::ChannelFull, EventKind::ChannelFull]);
    receiver.recv().unwrap();
    rig.play(40);
    assert_eq!(
        (receiver.len(), periodic.runs(), rig.timers.snapshot().counts.undelivered),
        (1, 4, 2)
    );
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
    assert_eq!(
        told,
        ["beat", "last"].map(|name| format!("job '{name}' found its channel closed, and ends"))
    );
    assert_eq!((periodic.status(), periodic.runs(), rig.timers.len()), (Status::Finished, 2, 0));
}

/// Each tenth millisecond of the wall clock.
fn each_tenth(after: SystemTime) -> Option<SystemTime> {
    let tenths = after.duration_since(SystemTime::UNIX_EPOCH).ok()?.as_millis() / 10;
    Some(SystemTime::UNIX_EPOCH + ms((tenths as u64 + 1) * 10))
}

#[test]
fn values_arrive_at_the_times_of_a_rule() {
    let mut rig = Rig::new();
    let (sender, receiver) = unbounded();
    let plan = rig.timers.on(each_tenth).times(3).named("beat");
    let job = plan.send(&sender, "often".to_owned()).unwrap();
    let mut arrived = Vec::new();
    for now in (0..=50).step_by(5) {
        rig.play(now);
        arrived.extend(receiver.try_iter().map(|value| (now, value)));
    }
    assert_eq!(arrived, [10, 20, 30].map(|now| (now, "often".to_owned())));
    assert_eq!((job.status(), job.name(), job.runs()), (Status::Finished, Some("beat"), 3));
}

#[test]
fn a_value_that_panics_when_it_is_dropped_harms_nobody() {
    let mut rig = Rig::new();
    let (sender, receiver) = bounded(1);
    for _ in 0..3 {
        rig.timers.after(ms(10)).send(&sender, Bomb).unwrap();
    }
    rig.timers.after(HOUR).send(&sender, Bomb).unwrap();
    let after = rig.timers.after(ms(10)).named("job").run(|_| ()).unwrap();
    rig.play(10);
    assert_eq!((receiver.len(), after.status()), (1, Status::Finished));
    assert_eq!(rig.timers.snapshot().counts.panicked, 2);
    receiver.try_iter().for_each(std::mem::forget);
    drop(rig);
}
