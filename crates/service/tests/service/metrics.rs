//! Snapshots and metrics, and recordings of the timer operations of a service.

use crate::common::{Rig, at, ms};
use std::fs::{self, File};
use wheelhouse_hierarchical_wheel::HierarchicalWheel;
use wheelhouse_record::Recorder;
use wheelhouse_workload::trace::Reader;
use wheelhouse_workload::{Op, Player};

#[test]
fn a_snapshot_accounts_for_every_job() {
    let mut rig = Rig::with(|builder| builder.tick(ms(10)));
    let clock = rig.clock.clone();
    rig.timers.after(ms(10)).run(|_| ()).unwrap();
    rig.timers.after(ms(15)).run(move |_| clock.advance(ms(2))).unwrap();
    rig.timers.every(ms(100)).key("periodic").run(|_| ()).unwrap();
    drop(rig.timers.after(ms(1000)).run(|_| ()).unwrap().cancel().unwrap());
    rig.timers.every(ms(0)).run(|_| ()).unwrap_err();
    rig.timers.refresh("periodic", ms(30)).unwrap();
    rig.play(60);
    let snapshot = rig.timers.snapshot();
    let counts = snapshot.counts;
    assert_eq!((counts.scheduled, counts.finished, counts.cancelled, counts.stopped), (4, 2, 1, 0));
    assert_eq!((counts.rejected, counts.rescheduled, counts.runs), (1, 1, 3));
    assert_eq!((snapshot.jobs, snapshot.keys, snapshot.in_flight, snapshot.running), (1, 1, 0, 0));
    assert_eq!(
        (snapshot.lateness.count, snapshot.lateness.max, snapshot.lateness.sum),
        (3, ms(5), ms(5))
    );
    assert_eq!((snapshot.run_time.count, snapshot.run_time.max), (3, ms(2)));
}

#[test]
fn the_text_for_prometheus_has_every_metric_once_with_its_type() {
    let mut rig = Rig::new();
    rig.timers.after(ms(1)).run(|_| ()).unwrap();
    rig.timers.after(ms(5)).key("key").run(|_| ()).unwrap();
    rig.stall(3);
    let text = rig.timers.snapshot().prometheus();
    for line in [
        "# TYPE wheelhouse_jobs_scheduled_total counter",
        "wheelhouse_jobs_scheduled_total 2",
        "wheelhouse_jobs_finished_total 1",
        "# TYPE wheelhouse_jobs gauge",
        "wheelhouse_jobs 1",
        "wheelhouse_keys 1",
        "wheelhouse_polls_total 1",
        "# TYPE wheelhouse_lateness_seconds summary",
        "wheelhouse_lateness_seconds{quantile=\"0.999\"} 0.002",
        "wheelhouse_lateness_seconds_sum 0.002",
        "wheelhouse_lateness_seconds_count 1",
        "wheelhouse_run_time_seconds{quantile=\"0.5\"} 0",
    ] {
        assert_eq!(text.lines().filter(|other| *other == line).count(), 1, "{line}\nin\n{text}");
    }
    let (comments, samples): (Vec<_>, Vec<_>) =
        text.lines().partition(|line| line.starts_with('#'));
    assert_eq!(comments.len(), 2 * (17 + 4 + 2), "help and type of each");
    assert_eq!(samples.len(), 17 + 4 + 2 * 7);
    let value = |line: &&str| line.split_once(' ').and_then(|(_, value)| value.parse().ok());
    let _: Vec<f64> = samples.iter().map(|line| value(line).unwrap()).collect();
    assert!(text.ends_with('\n'));
}

#[test]
fn what_a_text_for_prometheus_may_not_contain_is_escaped() {
    let mut text = wheelhouse_service::Exposition::default();
    text.gauge("depth", "One\nline, with a \\.");
    text.sample("depth", &[("path", "C:\\x"), ("said", "\"a\nb\"")], 0.5);
    assert_eq!(
        text.to_string(),
        "# HELP depth One\\nline, with a \\\\.\n# TYPE depth gauge\n\
         depth{path=\"C:\\\\x\",said=\"\\\"a\\nb\\\"\"} 0.5\n"
    );
}

#[test]
fn a_service_is_recorded_and_replayed() {
    let name = format!("wheelhouse-service-{}", std::process::id());
    let path = std::env::temp_dir().join(format!("{name}.trace"));
    let recorder =
        Recorder::builder().tick(ms(10)).create(&path, HierarchicalWheel::new()).unwrap();
    let mut rig = Rig::with(|builder| builder.tick(ms(10)).backend(recorder));
    rig.timers.after(ms(50)).run(|_| ()).unwrap();
    let cancelled = rig.timers.after(ms(70)).run(|_| ()).unwrap();
    rig.timers.every(ms(100)).times(3).run(|_| ()).unwrap();
    rig.scheduler.poll(at(0));
    assert!(cancelled.cancel().is_ok());
    assert_eq!(rig.play(1_000), 4);
    drop(rig);

    let reader = Reader::new(File::open(&path).unwrap()).unwrap();
    let header = reader.header().clone();
    let ops = reader.collect::<Result<Vec<Op>, _>>().unwrap();
    fs::remove_file(&path).unwrap();
    assert_eq!((header.name, header.tick_ns), (name, 10_000_000));
    let mut player = Player::new(HierarchicalWheel::new(), header.labels as usize);
    player.play(&ops);
    assert_eq!(player.fired(), 4, "{ops:?}");
    assert_eq!(ops.iter().filter(|op| matches!(op, Op::Cancel { .. })).count(), 1, "{ops:?}");
    let first = ops.iter().find(|op| matches!(op, Op::Insert { .. }));
    assert!(matches!(first, Some(Op::Insert { deadline: 5, .. })), "in ticks of 10 ms: {ops:?}");
}
