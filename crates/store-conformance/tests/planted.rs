//! Stores with a planted fault each: the suite finds all of them.

mod faulty;

use faulty::{Fault, Faulty};
use std::panic::{AssertUnwindSafe, catch_unwind};
use wheelhouse_durable::store::{MemoryStore, StoreClock};
use wheelhouse_store_conformance::{Bed, checks};

/// The names of the checks that find the fault.
fn found(fault: Fault) -> Vec<&'static str> {
    let fails = |check: fn(&mut Bed)| {
        let mut store = None;
        let mut bed = Bed::new(move |clock: StoreClock| {
            let store = store.get_or_insert_with(|| MemoryStore::with_clock(clock.clone()));
            Faulty::new(store.clone(), fault, clock)
        });
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
        (Fault::ClaimRoundsUp, "dates_and_delays_name_times"),
        (Fault::ClockOfTheClient, "each_change_in_each_state"),
        (Fault::OrderOfKeys, "random_changes"),
        (Fault::HalfABatch, "large_batches_and_payloads"),
        (Fault::BeginsAll, "random_changes"),
        (Fault::BeginsNone, "random_changes"),
        (Fault::BeginsTheLast, "random_changes"),
        (Fault::CountsTwice, "random_changes"),
        (Fault::OldAttempt, "random_changes"),
        (Fault::BeginsRetries, "a_claim_begins_first_attempts_without_a_policy"),
    ] {
        let found = found(fault);
        assert!(found.contains(&by), "{fault:?} is found by {found:?}");
    }
}
