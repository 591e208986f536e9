//! The checker of histories finds violations of each rule, and faulty stores.

mod faulty;

use faulty::{Fault, Faulty};
use std::thread;
use std::time::Duration;
use wheelhouse_durable::store::{MemoryStore, StoreClock};
use wheelhouse_store_conformance::history::{Begin, Checked, Event, Log, check, drain, play, read};

fn call(what: &str, token: u64, at: u64) -> Event {
    Event::Call(what.into(), "a".into(), token, at)
}

fn answer(what: &str, token: u64, at: u64, outcome: &str) -> Event {
    Event::Answer(what.into(), "a".into(), token, at, outcome.into())
}

/// A run that was handed out at `now`, leased for ten milliseconds, and due at 10.
fn begin(token: u64, now: u64) -> Event {
    Event::Begin(Begin {
        key: "a".into(),
        generation: 1,
        occurrence: 0,
        attempt: token,
        token,
        due: 10,
        now,
        until: now + 10,
        called: now * 1_000,
        returned: now * 1_000 + 100,
    })
}

/// The log of a process that schedules the key, logs `then`, and ends.
fn scheduled(then: &[Event]) -> Vec<Event> {
    let begun = [call("schedule", 0, 1_000), answer("schedule", 0, 2_000, "Done")];
    [&begun, then, &[Event::Over]].concat()
}

fn refused(logs: &[Vec<Event>], why: &str) {
    let error = check(logs, false).expect_err("it is refused");
    assert!(error.contains(why), "{error}");
}

fn acked(token: u64, at: u64) -> [Event; 2] {
    [call("ack", token, at), answer("ack", token, at + 100, "Done")]
}

#[test]
fn sound_histories_pass() {
    let ran = [&[begin(1, 10)], &acked(1, 11_000)[..]].concat();
    let checked = check(&[scheduled(&ran)], false).unwrap();
    assert_eq!((checked.calls, checked.begins, checked.acked, checked.killed), (2, 1, 1, 0));
    let cancelled = [call("cancel", 0, 3_000), answer("cancel", 0, 4_000, "Cancelled")];
    assert_eq!(check(&[scheduled(&cancelled)], false).unwrap().cancelled, 1);
    // It is unknown whether this schedule took effect, and whether this cancel did.
    let killed = vec![call("schedule", 0, 1_000)];
    assert_eq!(check(&[killed], false).unwrap().unanswered, 1);
    check(&[scheduled(&[call("cancel", 0, 3_000)])], false).unwrap();
    // The first cancel may have taken effect, so the second found no job.
    let cancel = |at, outcome| [call("cancel", 0, at), answer("cancel", 0, at + 100, outcome)];
    let twice = [&[call("cancel", 0, 3_000)], &cancel(4_000, "Absent")[..]].concat();
    check(&[scheduled(&twice)], false).unwrap();
    check(&[scheduled(&twice)], true).unwrap();
    // A process began the run and was killed before it logged that; the job is not handed out
    // again.
    let begun = [&[call("begin", 1, 2_500)], &cancel(3_000, "Running")[..]].concat();
    check(&[scheduled(&begun)], false).unwrap();
    // The run ended during the cancel; or another run began.
    let retry = |at| [call("retry", 1, at), answer("retry", 1, at + 100, "Done")];
    let overlaps = [&begun[..2], &retry(3_020)[..], &begun[2..]].concat();
    check(&[scheduled(&overlaps)], false).unwrap();
    let another = [&begun[..1], &retry(2_600)[..], &[call("begin", 2, 2_900)], &begun[1..]];
    check(&[scheduled(&another.concat())], false).unwrap();
    // A lease that ran out, and a lease of a killed process.
    let again = [&[begin(1, 10), begin(2, 20)], &acked(2, 21_000)[..]].concat();
    check(&[scheduled(&again)], false).unwrap();
    let mut killed = scheduled(&[begin(1, 10)]);
    killed.pop();
    let other = [&[begin(2, 15)], &acked(2, 16_000)[..], &[Event::Over]].concat();
    check(&[killed, other], false).unwrap();
    // An ack that was accepted without an answer; its repetition finds no job.
    let unanswered = [begin(1, 10), call("ack", 1, 11_000)];
    check(&[scheduled(&unanswered)], false).unwrap();
    let repeated = [&unanswered[..], &[answer("ack", 1, 12_000, "Absent")]].concat();
    check(&[scheduled(&repeated)], true).unwrap();
    refused(&[scheduled(&repeated)], "was not acked");
}

#[test]
fn each_rule_is_checked() {
    let absent = [call("cancel", 0, 3_000), answer("cancel", 0, 4_000, "Absent")];
    refused(&[scheduled(&absent)], "neither ran nor was cancelled");
    refused(&[scheduled(&[])], "neither ran nor was cancelled");
    refused(&[scheduled(&[begin(1, 10)])], "was not acked");
    let retry = [begin(1, 10), call("retry", 1, 11_000), answer("retry", 1, 12_000, "Done")];
    refused(&[scheduled(&retry)], "was not acked");
    refused(&[vec![begin(1, 10), Event::Over]], "never scheduled");
    refused(&[scheduled(&[begin(1, 9)])], "began at 9, due at 10");
    let cancelled = [call("cancel", 0, 3_000), answer("cancel", 0, 4_000, "Cancelled")];
    refused(&[scheduled(&[&cancelled[..], &[begin(1, 10)]].concat())], "after a cancel was");
    let running = [call("cancel", 0, 3_000), answer("cancel", 0, 4_000, "Running")];
    refused(&[scheduled(&running)], "no run was in progress");
    let late = [&running[..], &[call("begin", 1, 5_000)]].concat();
    refused(&[scheduled(&late)], "no run was in progress");
    let refusal = [call("begin", 1, 2_000), answer("begin", 1, 2_500, "Superseded")];
    refused(&[scheduled(&[&refusal, &running[..]].concat())], "no run was in progress");
    // Only an earlier run had begun, and its end was answered before the cancel was called.
    let began = |token, at| [call("begin", token, at), answer("begin", token, at + 100, "Done")];
    let retried = [call("retry", 1, 2_300), answer("retry", 1, 2_400, "Done")];
    let ended = [&began(1, 2_100)[..], &retried, &running].concat();
    refused(&[scheduled(&ended)], "no run was in progress");
    let late = [&ended[..], &began(2, 5_000)].concat();
    refused(&[scheduled(&late)], "no run was in progress");
    refused(&[scheduled(&[begin(1, 10), begin(2, 19)])], "leased until 20");
    refused(&[scheduled(&[begin(1, 10), begin(1, 20)])], "handed out twice");
    let other = vec![begin(2, 20), Event::Over];
    let twice = [&[begin(1, 10)][..], &acked(1, 11_000), &acked(2, 21_000)].concat();
    refused(&[scheduled(&twice), other.clone()], "acked twice");
    let late = [&[begin(1, 10)][..], &acked(1, 21_000)].concat();
    refused(&[scheduled(&late), other], "after a newer token");
    let unknown = [&[begin(1, 10)][..], &acked(7, 11_000)].concat();
    refused(&[scheduled(&unknown)], "never handed out");
    // The first occurrence is acked by a newer token than the second.
    let Event::Begin(second) = begin(1, 40) else { unreachable!() };
    let second = Event::Begin(Begin { occurrence: 1, ..second });
    let falling = [&[begin(2, 10)][..], &acked(2, 11_000), &[second], &acked(1, 41_000)].concat();
    refused(&[scheduled(&falling)], "do not grow");
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
