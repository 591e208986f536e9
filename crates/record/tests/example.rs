//! The example records its operations, and other structures can replay the recording.

use std::fs::{self, File};
use wheelhouse_binary_heap::BinaryHeap;
use wheelhouse_conformance::Oracle;
use wheelhouse_core::Timer;
use wheelhouse_hierarchical_wheel::HierarchicalWheel;
use wheelhouse_workload::trace::Reader;
use wheelhouse_workload::{Checksum, Op, Player};

#[path = "../examples/record_sessions.rs"]
#[allow(dead_code, reason = "its main is not for tests")]
mod record_sessions;

const CONNECTIONS: u64 = 12_000;

/// The number of timers that fire in a replay, and the checksum of all answers.
fn replay(timer: impl Timer<u64>, labels: u32, ops: &[Op]) -> (u64, Checksum) {
    let mut player = Player::new(timer, labels as usize);
    player.play(ops);
    (player.fired(), player.checksum())
}

#[test]
fn a_replay_of_the_example_fires_as_many_timers() {
    let folder = std::env::temp_dir().join(format!("wheelhouse-sessions-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder for the test");
    let path = folder.join("sessions.trace");
    let (closed, summary) =
        record_sessions::record(&path, CONNECTIONS).expect("the folder can be written");
    let reader = Reader::new(File::open(&path).expect("it was made")).expect("it is a trace");
    let header = reader.header().clone();
    let ops = reader.collect::<Result<Vec<_>, _>>().expect("it is whole");
    fs::remove_dir_all(&folder).expect("it is ours");

    assert_eq!((header.name.as_str(), header.tick_ns), ("sessions", 1_000_000));
    assert!(header.provenance.contains("hierarchical_wheel"), "{}", header.provenance);
    assert_eq!(summary.totals.inserts, CONNECTIONS);
    assert!(summary.totals.cancels > 2_000 && summary.totals.reschedules > 30_000, "{summary}");

    let unrecorded = record_sessions::serve(&mut HierarchicalWheel::new(), CONNECTIONS);
    assert_eq!(unrecorded, closed, "the recorder changes nothing");
    let expected = replay(Oracle::new(), header.labels, &ops);
    assert_eq!(expected.0, closed as u64);
    assert_eq!(replay(HierarchicalWheel::new(), header.labels, &ops), expected);
    assert_eq!(replay(BinaryHeap::new(), header.labels, &ops), expected);
}
