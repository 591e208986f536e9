//! Stores with a planted fault each: the simulator finds all of them, and the test prints the
//! seeds. It does not check the time that a claim answers, so `Fault::Early` is for the checker of
//! histories, and `Fault::ClaimRoundsUp` for the suite.

mod faulty;

use faulty::{Fault, Faulty};
use std::time::Duration;
use wheelhouse_durable::sim::{Sim, World};
use wheelhouse_durable::store::{MemoryStore, When};
use wheelhouse_durable::{Builder, Durable, Handlers, Next};

const SECOND: Duration = Duration::from_secs(1);

fn program(world: &World) -> Builder {
    let world = world.clone();
    let handlers = Handlers::new().on_bytes("work/1", move |run, _| {
        world.pass(SECOND);
        world.effect_with_key("work", run.idempotency_key(), run.idempotency_key());
        Ok(Next::Done)
    });
    let handlers = handlers.on_async_bytes("large/1", |_, _| async { Ok(Next::Done) });
    let handlers = handlers.on_bytes("tried-twice/1", |run, _| match run.attempt() {
        1 => Err("not yet".into()),
        _ => Ok(Next::Done),
    });
    Durable::builder(handlers).workers(2)
}

/// Jobs in a batch and alone, of which some are moved and cancelled. With `payload`, many large
/// jobs are due at once.
fn sim(fault: Fault, payload: usize) -> Sim {
    let store = move |world: &World| {
        let (clock, store) = (world.store_clock(), MemoryStore::with_clock(world.store_clock()));
        move || Faulty::new(store.clone(), fault, clock.clone())
    };
    let client = move |world: &World, timers: &wheelhouse_durable::Timers| {
        let plan = |n: u64| timers.after(SECOND * (12 - n as u32)).key(format!("job-{n}"));
        let commits: Vec<_> = (0..12).map(|n| plan(n).submit_bytes("work/1", "")).collect();
        commits.into_iter().for_each(|commit| drop(commit.wait().unwrap()));
        for n in 0..24 {
            let large = timers.after(SECOND).key(format!("large-{n}"));
            large.schedule_bytes("large/1", vec![0; payload]).unwrap();
        }
        timers.after(SECOND).key("twice").schedule_bytes("tried-twice/1", "").unwrap();
        timers.every(2 * SECOND).unwrap().key("periodic").schedule_bytes("work/1", "").unwrap();
        world.pass(5 * SECOND);
        timers.cancel("job-3").unwrap();
        drop(timers.submit_move("job-2", When::After(SECOND)).wait());
        timers.after(SECOND).replacing("job-1").schedule_bytes("work/1", "").unwrap();
        timers.cancel("periodic").unwrap();
        timers.after(SECOND).key("last").schedule_bytes("work/1", "").unwrap();
    };
    Sim::new(program).store(store).client(client)
}

#[test]
fn each_fault_is_found() {
    sim(Fault::None, 0).run(0..50).unwrap();
    // The guarantee or contract that breaks first.
    for (fault, payload, promise) in [
        // Jobs that are stored later than acknowledged are also due later.
        (Fault::AcknowledgedBeforeTheCommit, 0, "the contract of the store's clock"),
        (Fault::AckComparesNoTokens, 0, "guarantee 3"),
        (Fault::ClaimMovesNoVisibility, 0, "the contract of leases"),
        (Fault::ClaimIgnoresBytes, 1 << 20, "guarantee 9"),
        (Fault::ClockOfTheClient, 0, "the contract of the store's clock"),
        (Fault::OrderOfKeys, 0, "guarantee 5"),
        (Fault::CancelsRuns, 0, "guarantee 6"),
        // Jobs are lost, and also acks and the attempts that begin.
        (Fault::HalfABatch, 0, "guarantee 3"),
        (Fault::LosesJobs, 0, "guarantee 1"),
        (Fault::LosesRetries, 0, "guarantee 1"),
        (Fault::LosesOccurrences, 0, "guarantee 1"),
        // The attempt of a run that has not begun is counted.
        (Fault::ClaimBegins, 0, "guarantee 7"),
        (Fault::BeginsAll, 0, "guarantee 7"),
        (Fault::BeginsNone, 0, "guarantee 7"),
        (Fault::BeginsTheLast, 0, "guarantee 7"),
        (Fault::CountsTwice, 0, "guarantee 7"),
        (Fault::BeginCountsTwice, 0, "guarantee 7"),
        (Fault::ReleaseCounts, 0, "guarantee 7"),
        (Fault::OldAttempt, 0, "guarantee 7"),
        (Fault::BeginsRetries, 0, "guarantee 7"),
    ] {
        let failure = match sim(fault, payload).run(0..100) {
            Err(failure) => failure,
            Ok(passed) => panic!("{fault:?} is not found: {passed:?}"),
        };
        eprintln!("{fault:?}: seed {}: {}", failure.seed, failure.broken);
        assert!(failure.broken.starts_with(promise), "{fault:?}: {failure}");
    }
}
