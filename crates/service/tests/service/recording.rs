//! Recordings of the timer operations of a service.

use crate::common::ms;
use std::fs::{self, File};
use wheelhouse_service::{ManualClock, Moment, Scheduler};
use wheelhouse_workload::trace::Reader;
use wheelhouse_workload::{Op, Player};

#[test]
fn a_service_is_recorded_and_replayed() {
    let folder = std::env::temp_dir().join(format!("wheelhouse-service-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("service.trace");
    let clock = ManualClock::new();
    let builder = Scheduler::builder().clock(clock.clone()).tick(ms(10)).record_to(&path).unwrap();
    let mut scheduler = builder.build().unwrap();
    let timers = scheduler.handle();
    timers.after(ms(50)).run(|_| ()).unwrap();
    let cancelled = timers.after(ms(70)).run(|_| ()).unwrap();
    timers.every(ms(100)).times(3).run(|_| ()).unwrap();
    scheduler.poll(Moment::from_nanos(0));
    assert!(cancelled.cancel().is_ok());
    let runs = scheduler.play(&clock, Moment::from_nanos(1_000_000_000));
    assert_eq!(runs, 4);
    drop(scheduler);

    let reader = Reader::new(File::open(&path).unwrap()).unwrap();
    let header = reader.header().clone();
    let ops = reader.collect::<Result<Vec<Op>, _>>().unwrap();
    fs::remove_dir_all(&folder).unwrap();
    assert_eq!((header.name.as_str(), header.tick_ns), ("service", 10_000_000));
    let wheel = wheelhouse_hierarchical_wheel::HierarchicalWheel::new();
    let mut player = Player::new(wheel, header.labels as usize);
    player.play(&ops);
    assert_eq!(player.fired(), 4, "{ops:?}");
    assert_eq!(ops.iter().filter(|op| matches!(op, Op::Cancel { .. })).count(), 1, "{ops:?}");
    let first = ops.iter().find(|op| matches!(op, Op::Insert { .. }));
    assert!(matches!(first, Some(Op::Insert { deadline: 5, .. })), "in ticks of 10 ms: {ops:?}");
}

#[test]
fn a_file_that_cannot_be_made_is_an_error() {
    let path = std::env::temp_dir().join("no such folder for wheelhouse").join("service.trace");
    let error = Scheduler::builder().record_to(&path).map(drop).unwrap_err();
    assert!(error.to_string().contains("no such folder for wheelhouse"), "{error}");
}
