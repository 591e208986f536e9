//! Stores with a planted fault each: the suite finds all of them.

mod faulty;

use faulty::{Fault, Faulty};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;
use wheelhouse_durable::store::{MemoryStore, Store, StoreClock};
use wheelhouse_service::{Clock, ManualClock};
use wheelhouse_store_conformance::{Bed, checks};

struct FaultyBed {
    store: MemoryStore,
    clock: ManualClock,
    fault: Fault,
}

impl Bed for FaultyBed {
    fn connect(&mut self) -> Box<dyn Store> {
        let clock = StoreClock::new(self.clock.clone());
        Box::new(Faulty::new(self.store.clone(), self.fault, clock))
    }

    fn advance(&mut self, by: Duration) {
        self.clock.advance(by);
    }

    fn set_back(&mut self, by: Duration) {
        self.clock.set_wall(self.clock.wall() - by);
    }
}

/// The names of the checks that find the fault.
fn found(fault: Fault) -> Vec<&'static str> {
    let fails = |check: fn(&mut dyn Bed)| {
        let clock = ManualClock::new();
        let store = MemoryStore::with_clock(StoreClock::new(clock.clone()));
        let mut bed = FaultyBed { store, clock, fault };
        catch_unwind(AssertUnwindSafe(|| check(&mut bed))).is_err()
    };
    // `an_earlier_job_wakes` takes long to fail, and finds none of these faults.
    let checks = checks().into_iter().filter(|(name, _)| *name != "an_earlier_job_wakes");
    checks.filter(|(_, check)| fails(*check)).map(|(name, _)| name).collect()
}

#[test]
fn each_fault_is_found() {
    assert_eq!(found(Fault::None), [""; 0], "the harness itself breaks nothing");
    for (fault, by) in [
        (Fault::AcknowledgedBeforeTheCommit, "what_was_committed_is_there_after_a_restart"),
        (Fault::AckComparesNoTokens, "each_change_in_each_state"),
        (Fault::ClaimMovesNoVisibility, "each_change_in_each_state"),
        (Fault::ClaimIgnoresBytes, "a_large_claim_is_bounded_in_bytes"),
        (Fault::ClockOfTheClient, "each_change_in_each_state"),
        (Fault::OrderOfKeys, "random_changes"),
        (Fault::HalfABatch, "large_batches_and_payloads"),
    ] {
        let found = found(fault);
        assert!(found.contains(&by), "{fault:?} is found by {found:?}");
    }
}
