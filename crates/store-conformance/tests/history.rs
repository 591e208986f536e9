//! The checker of histories finds violations of each rule, and faulty stores.

mod faulty;

use faulty::{Fault, Faulty};
use std::thread;
use std::time::Duration;
use wheelhouse_durable::store::{MemoryStore, StoreClock};
use wheelhouse_store_conformance::history::{Begin, Checked, Event, Log, check, drain, play, read};

/// A log of calls for one key. Its events are `WHAT TOKEN TIME` (a call without an answer),
/// `WHAT TOKEN TIME OUTCOME` (a call and its answer), `answer WHAT TOKEN TIME OUTCOME`, and
/// `run TOKEN TIME OCCURRENCE`: a run in milliseconds, due at 10, leased for 10. `killed` ends the
/// log of a killed process.
fn log(text: &str) -> Vec<Event> {
    let mut log = Vec::new();
    for event in text.split("; ") {
        let words: Vec<&str> = event.split(' ').collect();
        let number = |at: usize| words[at].parse::<u64>().unwrap();
        let call = |what: &str| Event::Call(what.into(), "a".into(), number(1), number(2));
        let answer = |what: &str, token, at, outcome: &str| {
            Event::Answer(what.into(), "a".into(), token, at, outcome.into())
        };
        match words[..] {
            ["killed"] => return log,
            ["run", ..] => log.push(run(number(1), number(2), number(3))),
            ["answer", what, _, _, outcome] => {
                log.push(answer(what, number(2), number(3), outcome));
            }
            [what, _, _] => log.push(call(what)),
            [what, _, _, outcome] => {
                log.extend([call(what), answer(what, number(1), number(2) + 100, outcome)]);
            }
            _ => panic!("no event: {event}"),
        }
    }
    log.push(Event::Over);
    log
}

fn run(token: u64, now: u64, occurrence: u64) -> Event {
    Event::Begin(Begin {
        key: "a".into(),
        generation: 1,
        occurrence,
        token,
        due: 10,
        now,
        until: now + 10,
        called: now * 1_000,
        returned: now * 1_000 + 100,
    })
}

/// Checks the logs of processes, the first of which schedules the key.
fn checked(logs: &[&str], repeats: bool) -> Result<Checked, String> {
    let mut logs: Vec<_> = logs.iter().map(|text| log(text)).collect();
    let first = log("schedule 0 1000 Done; killed");
    logs[0].splice(0..0, first);
    check(&logs, repeats)
}

#[test]
fn sound_histories_pass() {
    let counts = checked(&["run 1 10 0; ack 1 11000 Done"], false).unwrap();
    assert_eq!((counts.calls, counts.begins, counts.acked, counts.killed), (2, 1, 1, 0));
    assert_eq!(checked(&["cancel 0 3000 Cancelled"], false).unwrap().cancelled, 1);
    // It is unknown whether this schedule took effect.
    assert_eq!(check(&[log("schedule 0 1000; killed")], false).unwrap().unanswered, 1);
    for logs in [
        // It is unknown whether this cancel took effect. If it did, the second found no job.
        &["cancel 0 3000"][..],
        &["cancel 0 3000; cancel 0 4000 Absent"],
        // A process began the run and was killed before it logged that; the job is not handed out
        // again. Or the run ended during the cancel; or another run began.
        &["begin 1 2500; cancel 0 3000 Running"],
        &["begin 1 2500; cancel 0 3000; retry 1 3020 Done; answer cancel 0 3100 Running"],
        &["begin 1 2500; retry 1 2600 Done; begin 2 2900; cancel 0 3000 Running"],
        // A lease that ran out, and a lease of a killed process.
        &["run 1 10 0; run 2 20 0; ack 2 21000 Done"],
        &["run 1 10 0; killed", "run 2 15 0; ack 2 16000 Done"],
        // An ack that was accepted without an answer.
        &["run 1 10 0; ack 1 11000"],
    ] {
        checked(logs, false).unwrap_or_else(|why| panic!("{logs:?}: {why}"));
    }
    // Stores that repeat calls: the repetition finds no job.
    for log in ["run 1 10 0; ack 1 11000 Absent", "cancel 0 3000; cancel 0 4000 Absent"] {
        checked(&[log], true).unwrap_or_else(|why| panic!("{log}: {why}"));
    }
}

#[test]
fn each_rule_is_checked() {
    let no_run = "no run was in progress";
    for (logs, rule) in [
        (&["cancel 0 3000 Absent"][..], "neither ran nor was cancelled"),
        (&["schedule 0 1500 Duplicate"], "neither ran nor was cancelled"),
        (&["run 1 10 0"], "was not acked"),
        (&["run 1 10 0; ack 1 11000 Absent"], "was not acked"),
        (&["run 1 10 0; retry 1 11000 Done"], "was not acked"),
        (&["run 1 9 0"], "began at 9, due at 10"),
        (&["cancel 0 3000 Cancelled; run 1 10 0"], "after a cancel was"),
        (&["cancel 0 3000 Running"], no_run),
        (&["cancel 0 3000 Running; begin 1 5000"], no_run),
        (&["begin 1 2000 Superseded; cancel 0 3000 Running"], no_run),
        // Only an earlier run had begun, and its end was answered before the cancel was called.
        (&["begin 1 2100 Done; retry 1 2300 Done; cancel 0 3000 Running"], no_run),
        (
            &["begin 1 2100 Done; retry 1 2300 Done; cancel 0 3000 Running; begin 2 5000 Done"],
            no_run,
        ),
        (&["run 1 10 0; run 2 19 0"], "leased until 20"),
        (&["run 1 10 0; run 1 20 0"], "handed out twice"),
        (&["run 1 10 0; ack 1 11000 Done; ack 2 21000 Done", "run 2 20 0"], "acked twice"),
        (&["run 1 10 0; ack 1 21000 Done", "run 2 20 0"], "after a newer token"),
        (&["run 1 10 0; ack 7 11000 Done"], "never handed out"),
        // The first occurrence is acked by a newer token than the second.
        (&["run 2 10 0; ack 2 11000 Done; run 1 40 1; ack 1 41000 Done"], "do not grow"),
    ] {
        let error = checked(logs, false).expect_err("it is refused");
        assert!(error.contains(rule), "{logs:?}: {error}");
    }
    let error = check(&[log("run 1 10 0")], false).expect_err("it is refused");
    assert!(error.contains("never scheduled"), "{error}");
}

/// Runs four threads as processes on one store, and checks their logs.
fn played(fault: Fault) -> Result<Checked, String> {
    let folder = tempfile::tempdir().unwrap();
    let store = Faulty::new(MemoryStore::new(), fault, StoreClock::default());
    let path = |name: &str| folder.path().join(name);
    let names: Vec<String> = (0..4).map(|n| format!("p{n}")).collect();
    thread::scope(|scope| {
        for name in &names {
            let (mut store, mut log) = (store.clone(), Log::create(&path(name)));
            scope.spawn(move || play(&mut store, &mut log, name, Duration::from_secs(2)));
        }
    });
    drain(&mut store.clone(), &mut Log::create(&path("drain")));
    let names = names.iter().map(String::as_str).chain(["drain"]);
    check(&names.map(|name| read(&path(name))).collect::<Vec<_>>(), false)
}

#[test]
fn a_sound_store_passes() {
    let checked = played(Fault::None).unwrap();
    eprintln!("{checked:?}");
    assert!(checked.acked > 100 && checked.cancelled > 0 && checked.refused > 0, "{checked:?}");
}

/// Checks that the faulty store is found by one of these rules. The threads decide which rule is
/// broken first.
#[test]
fn each_faulty_store_is_found() {
    let faults: [(Fault, &[&str]); 7] = [
        // An old ack is accepted, so the ack of the newer token finds no job. Or it ends the lease
        // of another process, and the next occurrence begins during that lease.
        (
            Fault::AckComparesNoTokens,
            &["after a newer token", "was not acked", "leased until", "acked twice", "do not grow"],
        ),
        (Fault::ClaimMovesNoVisibility, &["leased until"]),
        (Fault::LosesJobs, &["neither ran nor was cancelled"]),
        (Fault::LosesRetries, &["was not acked"]),
        (Fault::LosesOccurrences, &["ended at occurrence 0 of 2"]),
        // As in an older version: then a cancel of a leased job is answered `Running`.
        (Fault::ClaimBegins, &["no run was in progress"]),
        (Fault::Early, &["due at"]),
    ];
    thread::scope(|scope| {
        for (fault, by) in faults {
            scope.spawn(move || {
                let error = played(fault).expect_err("it is found");
                assert!(by.iter().any(|why| error.contains(why)), "{fault:?}: {error}");
            });
        }
    });
}
