//! Delivery through channels.

use crate::common::{Bomb, HOUR, Rig, at, ms};
use crossbeam_channel::{bounded, unbounded};
use std::time::SystemTime;
use wheelhouse_service::{EventKind, Job, Reason, Status};

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
fn a_rule_that_sends_waits_for_no_receiver_and_ends_without_one() {
    let (mut rig, events) = Rig::with_events();
    let (sender, receiver) = bounded(1);
    let job = rig.timers.on(each_tenth).send(&sender, ()).unwrap();
    rig.play(25);
    assert_eq!((events.kinds(), job.status()), (vec![EventKind::ChannelFull], Status::Pending));
    drop(receiver);
    rig.play(100);
    assert_eq!(events.kinds(), [EventKind::ChannelClosed]);
    assert_eq!((job.status(), job.runs(), rig.timers.len()), (Status::Finished, 3, 0));
}

#[test]
fn a_value_for_a_rule_without_times_comes_back() {
    let rig = Rig::new();
    let (sender, _receiver) = unbounded();
    let rejected = rig.timers.on(|_| None).send(&sender, "a value").unwrap_err();
    assert_eq!((rejected.reason, rejected.job), (Reason::NoOccurrence, "a value"));
    let rejected = rig.timers.on(each_tenth).key("").send(&sender, "a value").unwrap_err();
    assert_eq!((rejected.reason, rejected.job), (Reason::EmptyKey, "a value"));
}

/// Values are stored differently from closures.
#[test]
fn a_value_is_paused_moved_listed_run_now_and_given_back_like_any_job() {
    let mut rig = Rig::new();
    let (sender, receiver) = unbounded();
    let [paused, moved, hurried, cancelled, stopped] =
        ["paused", "moved", "hurried", "cancelled", "stopped"]
            .map(|value| rig.timers.after(ms(10)).send(&sender, value).unwrap());
    assert_eq!(rig.timers.jobs().count(), 5);
    paused.pause().unwrap();
    moved.refresh(ms(20)).unwrap();
    hurried.run_now().unwrap();
    cancelled.cancel().unwrap().run();
    stopped.refresh(ms(90)).unwrap();
    assert_eq!((paused.status(), moved.status()), (Status::Paused, Status::Pending));
    rig.play(9);
    assert_eq!(receiver.try_iter().collect::<Vec<_>>(), ["cancelled", "hurried"]);
    rig.play(19);
    assert!(receiver.is_empty());
    paused.resume().unwrap();
    rig.play(30);
    assert_eq!(receiver.try_iter().collect::<Vec<_>>(), ["paused", "moved"]);
    rig.scheduler.stop().into_iter().for_each(Job::run);
    assert_eq!(receiver.try_iter().collect::<Vec<_>>(), ["stopped"]);
    drop(sender);
    assert!(receiver.recv().is_err(), "no sender is left");
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

/// More types than there are slabs.
#[test]
fn values_of_many_types_arrive() {
    struct Of<const N: usize>;
    fn send<const N: usize>(rig: &Rig, all: &mut Vec<Box<dyn Fn() -> bool>>) {
        let (sender, receiver) = unbounded::<Of<N>>();
        rig.timers.after(ms(1)).send(&sender, Of).unwrap();
        all.push(Box::new(move || receiver.try_recv().is_ok()));
    }
    macro_rules! send_each {
        ($rig:ident, $all:ident, $($tens:literal)*) => {
            $(send_each!(@ $rig, $all, $tens, 0 1 2 3 4 5 6 7 8 9);)*
        };
        (@ $rig:ident, $all:ident, $tens:literal, $($ones:literal)*) => {
            $(send::<{ 10 * $tens + $ones }>(&$rig, &mut $all);)*
        };
    }
    let (mut rig, mut all) = (Rig::new(), Vec::new());
    send_each!(rig, all, 0 1 2 3 4 5 6);
    rig.play(1);
    assert_eq!(all.iter().filter(|arrived| arrived()).count(), 70);
}
