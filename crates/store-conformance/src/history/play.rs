//! The work of a process: it schedules, cancels, claims and ends runs, and logs all of it.

use super::log::{Begin, Event, Log, micros};
use crate::jobs::{self, cancel, job, retry};
use crate::rig::after;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use std::thread;
use std::time::{Duration, Instant};
use wheelhouse_durable::store::{
    Again, Change, ClaimLimit, Kinds, Leased, Outcome, Put, Store, Timestamp,
};

const KIND: &str = "history/1";

/// Short, so that a stopped process loses its leases.
const LEASE: Duration = Duration::from_millis(150);

/// The number of occurrences of a repeating job.
const OCCURRENCES: u64 = 3;

/// The number of occurrences of the job with this name.
pub(super) fn occurrences(name: &str) -> u64 {
    if name.ends_with("-repeats") { OCCURRENCES } else { 1 }
}

/// Works on the store for `time`. No other process may have the same `name`. An error of the store
/// leaves a call without an answer in the log.
pub fn play(store: &mut dyn Store, log: &mut Log, name: &str, time: Duration) {
    let mut random = Pcg64::seed_from_u64(micros());
    let (begun, mut mine) = (Instant::now(), Vec::new());
    while begun.elapsed() < time {
        let new: Vec<String> =
            (0..4).map(|n| format!("{name}-{}{}", mine.len() + n, repeats(n))).collect();
        let mut put = |name: &String| {
            Change::Put(Put { kind: KIND.into(), ..job(name, random.random_range(0..60)) })
        };
        let puts: Vec<_> = new.iter().map(&mut put).collect();
        commit(store, log, "schedule", &puts);
        mine.extend(new);
        for _ in 0..random.random_range(0..4) {
            // One of the latest jobs, which may be pending, leased or running.
            let which = mine.len() - 1 - random.random_range(0..mine.len().min(12));
            commit(store, log, "cancel", &[cancel(&mine[which])]);
        }
        let (leased, now) = claim(store, 8);
        // Time for other processes to cancel the leased jobs.
        thread::sleep(Duration::from_millis(random.random_range(0..12)));
        let leased = begin(store, log, leased, now);
        // Some runs take longer than their lease.
        let slow = if random.random_ratio(1, 10) { LEASE } else { Duration::ZERO };
        thread::sleep(slow + Duration::from_millis(random.random_range(0..8)));
        for leased in leased {
            end(store, log, &leased, random.random_ratio(1, 8));
        }
    }
    log.write(&Event::Over);
}

/// Every fourth job repeats.
fn repeats(n: usize) -> &'static str {
    if n % 4 == 3 { "-repeats" } else { "" }
}

/// Commits a batch, with a call and an answer in the log for each change. `None` after an error.
fn commit(
    store: &mut dyn Store,
    log: &mut Log,
    what: &str,
    changes: &[Change],
) -> Option<Vec<Outcome>> {
    let its = |change: &Change| {
        let key = change.key().expect("it has a key").to_string();
        (what.to_owned(), key, change.token().map_or(0, |token| token.0))
    };
    for (what, key, token) in changes.iter().map(its) {
        log.write(&Event::Call(what, key, token, micros()));
    }
    let outcomes = store.commit(changes).ok()?;
    for ((what, key, token), outcome) in changes.iter().map(its).zip(&outcomes) {
        log.write(&Event::Answer(what, key, token, micros(), format!("{outcome:?}")));
    }
    Some(outcomes)
}

/// Leases the due jobs. Also returns the store's clock.
fn claim(store: &mut dyn Store, max: usize) -> (Vec<Leased>, Timestamp) {
    if let Ok((leased, next)) = store.claim(&Kinds::new([KIND]), ClaimLimit::jobs(max), LEASE) {
        return (leased, next.now);
    }
    thread::sleep(Duration::from_millis(5));
    (Vec::new(), Timestamp::default())
}

/// Begins the runs of all leased jobs in one commit. Returns the jobs whose runs have begun.
fn begin(store: &mut dyn Store, log: &mut Log, leased: Vec<Leased>, now: Timestamp) -> Vec<Leased> {
    let called = micros();
    let begins: Vec<_> = leased.iter().map(jobs::begin).collect();
    let outcomes = commit(store, log, "begin", &begins).unwrap_or_default();
    let mut begun = Vec::new();
    for (leased, outcome) in leased.into_iter().zip(outcomes) {
        // `Closed`: an earlier call whose answer was lost has begun the run, and the job was
        // cancelled since.
        if matches!(outcome, Outcome::Done | Outcome::Closed) {
            log.write(&Event::Begin(Begin::of(&leased, now, called)));
            begun.push(leased);
        }
    }
    begun
}

/// Acks a run, or retries it if it `fails`.
fn end(store: &mut dyn Store, log: &mut Log, leased: &Leased, fails: bool) {
    let (key, token) = (leased.job.key.clone(), leased.token);
    let occurrence = leased.job.occurrence + 1;
    let has_more = occurrence < occurrences(&key.to_string());
    let again = has_more.then(|| Again { when: after(5), occurrence });
    let (what, change) = match fails {
        true => ("retry", retry(leased, 5)),
        false => ("ack", Change::Ack { key, token, again }),
    };
    commit(store, log, what, &[change]);
}

/// Runs all jobs that are left, at the end of a history. Panics if a job is left after a minute.
pub fn drain(store: &mut dyn Store, log: &mut Log) {
    let begun = Instant::now();
    loop {
        let (leased, now) = claim(store, 256);
        for leased in begin(store, log, leased, now) {
            end(store, log, &leased, false);
        }
        if store.scan(None, 1).expect("a scan succeeds").is_empty() {
            return log.write(&Event::Over);
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "a job is never handed out");
        thread::sleep(Duration::from_millis(2));
    }
}
