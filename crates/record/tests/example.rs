//! The example records its operations, and other structures can replay the recording.

mod common;

use common::replay;
use std::fs::{self, File};
use wheelhouse_binary_heap::BinaryHeap;
use wheelhouse_conformance::Oracle;
use wheelhouse_core::{Expired, Tick, Timer, TimerId};
use wheelhouse_hierarchical_wheel::HierarchicalWheel;
use wheelhouse_workload::Player;
use wheelhouse_workload::trace::Reader;

#[path = "../examples/record_sessions.rs"]
#[allow(dead_code, reason = "its main is not for tests")]
mod record_sessions;

const CONNECTIONS: u64 = 12_000;

/// Records what fires.
#[derive(Default)]
struct ExpiryLog {
    timer: HierarchicalWheel<u64>,
    fired: Vec<(Tick, u64)>,
}

impl Timer<u64> for ExpiryLog {
    fn now(&self) -> Tick {
        self.timer.now()
    }
    fn len(&self) -> usize {
        self.timer.len()
    }
    fn insert(&mut self, deadline: Tick, value: u64) -> TimerId {
        self.timer.insert(deadline, value)
    }
    fn cancel(&mut self, id: TimerId) -> Option<u64> {
        self.timer.cancel(id)
    }
    fn reschedule(&mut self, id: TimerId, deadline: Tick) -> bool {
        self.timer.reschedule(id, deadline)
    }
    fn deadline(&self, id: TimerId) -> Option<Tick> {
        self.timer.deadline(id)
    }
    fn next_wakeup(&self) -> Option<Tick> {
        self.timer.next_wakeup()
    }
    fn pop_expired(&mut self, now: Tick) -> Option<Expired<u64>> {
        let expired = self.timer.pop_expired(now)?;
        self.fired.push((expired.deadline, expired.value));
        Some(expired)
    }
}

#[test]
fn a_replay_of_the_example_fires_the_same_timers() {
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

    // The timers that fire in the program without a recorder.
    let mut expiries = ExpiryLog::default();
    assert_eq!(record_sessions::serve(&mut expiries, CONNECTIONS), closed);
    assert_eq!(expiries.fired.len(), closed);
    assert_eq!(replay(&mut Oracle::new(), header.labels, &ops), expiries.fired);
    assert_eq!(replay(&mut BinaryHeap::new(), header.labels, &ops), expiries.fired);

    // The same with the player of the workloads: the checksum is the same for all structures.
    let mut oracle = Player::new(Oracle::new(), header.labels as usize);
    let mut wheel = Player::new(HierarchicalWheel::new(), header.labels as usize);
    oracle.play(&ops);
    wheel.play(&ops);
    assert_eq!((oracle.fired(), oracle.checksum()), (closed as u64, wheel.checksum()));
}
