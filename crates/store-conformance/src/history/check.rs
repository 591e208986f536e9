//! The checker of histories.

use super::log::{Begin, Event};
use super::play::occurrences;
use std::collections::{BTreeMap, BTreeSet};

/// The numbers of events in checked logs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Calls of all processes.
    pub calls: u64,
    /// Calls without an answer.
    pub unanswered: u64,
    /// Answered schedules.
    pub scheduled: u64,
    /// Cancels answered `Cancelled`.
    pub cancelled: u64,
    /// Cancels answered `Running`.
    pub running: u64,
    /// Runs begun.
    pub begins: u64,
    /// Accepted acks.
    pub acked: u64,
    /// Refused acks and retries.
    pub refused: u64,
    /// Killed processes.
    pub killed: u64,
}

/// The events of a key.
#[derive(Default)]
struct KeyEvents {
    called: bool,
    acknowledged: bool,
    /// When a cancel that was answered `Cancelled` returned.
    cancelled: Option<u64>,
    /// The number of cancels that may have taken effect, but were not answered `Cancelled`. If a
    /// later cancel is answered `Absent`, they still may have.
    may_be_cancelled: u32,
    /// Begins that may have been carried out: token and time of the call.
    may_have_begun: BTreeMap<u64, u64>,
    /// When the last cancel of each process was called.
    cancelling: BTreeMap<usize, u64>,
    /// Cancels answered `Running`: when they were called, and answered.
    running: Vec<(u64, u64)>,
    /// Runs, with their process.
    begins: Vec<(usize, Begin)>,
    /// Ends of runs: token and time of the call.
    ends: BTreeMap<u64, u64>,
    /// Answered ends: token and time of the answer. From then on the run has ended, whatever the
    /// answer was.
    ended: BTreeMap<u64, u64>,
    /// Tokens of acks that may have been accepted.
    may_be_acked: BTreeSet<u64>,
    /// Tokens of accepted acks.
    acked: Vec<u64>,
}

/// Checks the logs of all processes. The store must be empty before and drained afterwards.
/// `repeats`: the store repeats a call whose answer was lost. Then a cancel that took effect may be
/// answered `Absent`.
///
/// # Errors
///
/// The first broken rule, with its key.
pub fn check(logs: &[Vec<Event>], repeats: bool) -> Result<Checked, String> {
    let mut checked = Checked::default();
    let mut keys = BTreeMap::<&str, KeyEvents>::new();
    // For each killed process, the last time at which it is known to have lived.
    let mut killed = BTreeMap::new();
    for (process, log) in logs.iter().enumerate() {
        if log.last() != Some(&Event::Over) {
            killed.insert(process, log.iter().map(time).max().unwrap_or_default());
        }
        for event in log {
            record(&mut keys, &mut checked, process, event, repeats);
        }
    }
    checked.unanswered = checked.calls - checked.unanswered;
    checked.killed = killed.len() as u64;
    for (key, events) in &mut keys {
        events.begins.sort_by_key(|(_, begin)| (begin.idempotency(), begin.token));
        let checked_key = check_key(events, &killed).and_then(|()| check_end(key, events));
        checked_key.map_err(|why| format!("{key}: {why}"))?;
    }
    Ok(checked)
}

fn time(event: &Event) -> u64 {
    match event {
        Event::Call(.., at) | Event::Answer(_, _, _, at, _) => *at,
        Event::Begin(begin) => begin.returned,
        Event::Over => 0,
    }
}

fn record<'e>(
    keys: &mut BTreeMap<&'e str, KeyEvents>,
    checked: &mut Checked,
    process: usize,
    event: &'e Event,
    repeats: bool,
) {
    match event {
        Event::Call(what, key, token, at) => {
            checked.calls += 1;
            let events = keys.entry(key).or_default();
            match what.as_str() {
                "schedule" => events.called = true,
                "cancel" => {
                    events.may_be_cancelled += 1;
                    events.cancelling.insert(process, *at);
                }
                "begin" => events.may_have_begun.extend([(*token, *at)]),
                what => {
                    events.ends.insert(*token, *at);
                    if what == "ack" {
                        events.may_be_acked.insert(*token);
                    }
                }
            }
        }
        Event::Answer(what, key, token, at, outcome) => {
            // Counts the answered calls here; `check` subtracts them from all calls.
            checked.unanswered += 1;
            let events = keys.entry(key).or_default();
            if matches!(what.as_str(), "ack" | "retry") {
                events.ended.insert(*token, *at);
            }
            match (what.as_str(), outcome.as_str()) {
                // No other call schedules this key, so a duplicate is this call, repeated.
                ("schedule", "Done" | "Duplicate") => {
                    events.acknowledged = true;
                    checked.scheduled += 1;
                }
                ("cancel", "Cancelled") => {
                    events.cancelled = Some(*at);
                    checked.cancelled += 1;
                }
                ("cancel", "Absent") if repeats => {}
                ("cancel", "Running") => {
                    events.running.push((events.cancelling[&process], *at));
                    checked.running += 1;
                }
                ("cancel", _) => events.may_be_cancelled -= 1,
                // If the store repeats calls, the begin may have been carried out, and its
                // repetition found that another process had the job.
                ("begin", "Superseded" | "Absent") if !repeats => {
                    events.may_have_begun.remove(token);
                }
                ("begin", _) => {}
                ("ack", "Done") => {
                    events.acked.push(*token);
                    checked.acked += 1;
                }
                (_, "Superseded" | "Absent") => {
                    checked.refused += 1;
                    // If the store repeats calls, the ack may have been accepted, and its
                    // repetition found no job.
                    if !repeats {
                        events.may_be_acked.remove(token);
                    }
                }
                _ => {}
            }
        }
        Event::Begin(begin) => {
            checked.begins += 1;
            keys.entry(&begin.key).or_default().begins.push((process, begin.clone()));
        }
        Event::Over => {}
    }
}

/// Checks all rules for one key. Its runs must be sorted by occurrence, then by token.
fn check_key(events: &KeyEvents, killed: &BTreeMap<usize, u64>) -> Result<(), String> {
    let KeyEvents { begins, .. } = events;
    if !begins.is_empty() && !events.called {
        return Err("ran, but was never scheduled".into());
    }
    if events.acknowledged
        && begins.is_empty()
        && events.cancelled.is_none()
        && events.may_be_cancelled == 0
    {
        return Err("was acknowledged, but neither ran nor was cancelled".into());
    }
    for (_, begin) in begins {
        if begin.now < begin.due {
            return Err(format!("began at {}, due at {}", begin.now, begin.due));
        }
        if events.cancelled.is_some_and(|cancelled| begin.called > cancelled) {
            return Err("began after a cancel was answered `Cancelled`".into());
        }
    }
    // If a process was killed before it logged that a run had begun, its log still has the call.
    let may_run = |(called, answered): &(u64, u64)| {
        events.may_have_begun.iter().any(|(token, begun)| {
            begun <= answered && events.ended.get(token).is_none_or(|ended| ended >= called)
        })
    };
    if !events.running.iter().all(may_run) {
        let why = "a cancel was answered `Running`, but no run was in progress";
        return Err(why.into());
    }
    for pair in begins.windows(2) {
        let [(process, before), (_, after)] = pair else { continue };
        if before.token == after.token {
            return Err(format!("token {} was handed out twice", before.token));
        }
        let was_ended = events.ends.get(&before.token).is_some_and(|at| *at < after.returned);
        // A store may free the leases of a dead process.
        let is_gone = killed.get(process).is_some_and(|lived| *lived < after.returned);
        if after.now < before.until && !was_ended && !is_gone {
            return Err(format!("began at {}, leased until {}", after.now, before.until));
        }
    }
    check_acks(events)
}

/// Checks that a key ended, because the store was drained: if it has begun and was not cancelled,
/// its last run was acked, in its last occurrence.
fn check_end(key: &str, events: &KeyEvents) -> Result<(), String> {
    let Some((_, last)) = events.begins.last() else { return Ok(()) };
    if events.cancelled.is_some() || events.may_be_cancelled > 0 {
        return Ok(());
    }
    if !events.may_be_acked.contains(&last.token) {
        return Err(format!("the last run, with token {}, was not acked", last.token));
    }
    match occurrences(key) - 1 {
        expected if last.occurrence == expected => Ok(()),
        expected => Err(format!("ended at occurrence {} of {expected}", last.occurrence)),
    }
}

fn check_acks(events: &KeyEvents) -> Result<(), String> {
    let mut accepted = BTreeMap::new();
    for token in &events.acked {
        let found = events.begins.iter().find(|(_, begin)| begin.token == *token);
        let Some((_, begin)) = found else {
            return Err(format!("token {token} was acked, but never handed out"));
        };
        if accepted.insert(begin.idempotency(), *token).is_some() {
            return Err(format!("{:?} was acked twice", begin.idempotency()));
        }
        let called = events.ends.get(token).copied().unwrap_or_default();
        let newer = |other: &Begin| {
            other.idempotency() == begin.idempotency()
                && other.token > *token
                && other.returned < called
        };
        if events.begins.iter().any(|(_, other)| newer(other)) {
            return Err(format!(
                "the ack of token {token} was accepted after a newer token was handed out"
            ));
        }
    }
    let tokens: Vec<u64> = accepted.into_values().collect();
    match tokens.is_sorted() {
        true => Ok(()),
        false => Err(format!("tokens of accepted acks do not grow: {tokens:?}")),
    }
}
