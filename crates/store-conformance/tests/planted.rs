//! Stores with a planted fault each: the suite finds all of them.

mod faulty;

use faulty::{Fault, Faulty};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;
use wheelhouse_durable::store::{MemoryStore, StoreClock};
use wheelhouse_store_conformance::{Bed, an_earlier_job_wakes, checks};

/// An empty store with the fault.
fn bed(fault: Fault) -> Bed {
    let mut store = None;
    Bed::new(move |clock: StoreClock| {
        let first = || Faulty::new(MemoryStore::with_clock(clock.clone()), fault, clock);
        store.get_or_insert_with(first).connect()
    })
}

/// The names of the checks that find the fault.
fn found(fault: Fault) -> Vec<&'static str> {
    let fails = |check: fn(&mut Bed)| {
        let mut bed = bed(fault);
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
        (Fault::BeginCountsTwice, "each_change_in_each_state"),
        (Fault::ReleaseCounts, "each_change_in_each_state"),
        (Fault::OldAttempt, "random_changes"),
        (Fault::CancelsRuns, "each_change_in_each_state"),
        (Fault::BeginsRetries, "a_claim_begins_first_attempts_without_a_policy"),
    ] {
        let found = found(fault);
        assert!(found.contains(&by), "{fault:?} is found by {found:?}");
    }
}

/// The check fails after a minute without a wake-up, so this test does not wait for its end.
#[test]
fn a_store_that_is_not_woken_is_found() {
    an_earlier_job_wakes(&mut bed(Fault::None));
    let (passes, passed) = mpsc::channel();
    thread::spawn(move || {
        an_earlier_job_wakes(&mut bed(Fault::WakesForConnections));
        passes.send(()).unwrap();
    });
    let waits = Err(mpsc::RecvTimeoutError::Timeout);
    assert_eq!(passed.recv_timeout(Duration::from_secs(2)), waits, "no wake-up, and no failure");
}
