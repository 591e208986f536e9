//! The checker.

use super::log::{Begin, Event};
use super::play::occurrences;
use std::collections::{BTreeMap, BTreeSet};

/// What a checker has seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Calls of all processes.
    pub calls: u64,
    /// Of those, without an answer.
    pub unanswered: u64,
    /// Schedules that were answered.
    pub scheduled: u64,
    /// Cancellations that were answered `Cancelled`.
    pub cancelled: u64,
    /// Cancellations that were answered `Running`.
    pub running: u64,
    /// Beginnings of runs.
    pub begins: u64,
    /// Acks that were accepted.
    pub acked: u64,
    /// Acks and retries that were refused.
    pub refused: u64,
    /// Processes that were killed.
    pub killed: u64,
}

/// What is known of a key.
#[derive(Default)]
struct Facts {
    called: bool,
    acknowledged: bool,
    /// When the first cancellation that was answered `Cancelled` returned.
    cancelled: Option<u64>,
    /// Cancellations that may have taken effect without an answer that says so. The answer to a
    /// later one, that there is no such job, changes nothing about that.
    may_be_cancelled: u32,
    /// When the beginning of a run was called that may have been carried out, by its token.
    may_have_begun: BTreeMap<u64, u64>,
    /// When the last cancellation of each process was called.
    cancelling: BTreeMap<usize, u64>,
    /// Cancellations that were answered `Running`: when they were called, and answered.
    running: Vec<(u64, u64)>,
    /// With the process that has it.
    begins: Vec<(usize, Begin)>,
    /// When the end of a run was called, by its token.
    ends: BTreeMap<u64, u64>,
    /// When that was answered: from then on this run has ended, whatever the answer was.
    ended: BTreeMap<u64, u64>,
    /// Tokens of acks that may have been accepted.
    may_be_acked: BTreeSet<u64>,
    /// Tokens of acks that were accepted.
    acked: Vec<u64>,
}

/// Checks the logs of all processes, from an empty store to one that was drained. `repeats`: the
/// store repeats a call whose answer was lost, so that a cancellation may be answered `Absent`.
///
/// # Errors
///
/// The rule that was broken first, and by which key.
pub fn check(logs: &[Vec<Event>], repeats: bool) -> Result<Checked, String> {
    let mut checked = Checked::default();
    let mut keys = BTreeMap::<&str, Facts>::new();
    // Until when those that were killed are known to have lived.
    let mut killed = BTreeMap::new();
    for (process, log) in logs.iter().enumerate() {
        if log.last() != Some(&Event::Over) {
            killed.insert(process, log.iter().map(time).max().unwrap_or_default());
        }
        for event in log {
            take(&mut keys, &mut checked, process, event, repeats);
        }
    }
    checked.unanswered = checked.calls - checked.unanswered;
    checked.killed = killed.len() as u64;
    for (key, facts) in &mut keys {
        facts.begins.sort_by_key(|(_, begin)| (begin.idempotency(), begin.token));
        let judged = judge(facts, &killed).and_then(|()| came_to_its_end(key, facts));
        judged.map_err(|why| format!("{key}: {why}"))?;
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

fn take<'e>(
    keys: &mut BTreeMap<&'e str, Facts>,
    checked: &mut Checked,
    process: usize,
    event: &'e Event,
    repeats: bool,
) {
    match event {
        Event::Call(what, key, token, at) => {
            checked.calls += 1;
            let facts = keys.entry(key).or_default();
            match what.as_str() {
                "schedule" => facts.called = true,
                "cancel" => {
                    facts.may_be_cancelled += 1;
                    facts.cancelling.insert(process, *at);
                }
                "begin" => facts.may_have_begun.extend([(*token, *at)]),
                what => {
                    facts.ends.insert(*token, *at);
                    if what == "ack" {
                        facts.may_be_acked.insert(*token);
                    }
                }
            }
        }
        Event::Answer(what, key, token, at, outcome) => {
            // Turned into the number without one in the end.
            checked.unanswered += 1;
            let facts = keys.entry(key).or_default();
            if matches!(what.as_str(), "ack" | "retry") {
                facts.ended.insert(*token, *at);
            }
            match (what.as_str(), outcome.as_str()) {
                // Nobody else schedules this key: it was this call, repeated.
                ("schedule", "Done" | "Duplicate") => {
                    facts.acknowledged = true;
                    checked.scheduled += 1;
                }
                ("cancel", "Cancelled") => {
                    facts.cancelled = Some(*at);
                    checked.cancelled += 1;
                }
                ("cancel", "Absent") if repeats => {}
                ("cancel", "Running") => {
                    facts.running.push((facts.cancelling[&process], *at));
                    checked.running += 1;
                }
                ("cancel", _) => facts.may_be_cancelled -= 1,
                // Or it was carried out, and its repetition found the job taken over.
                ("begin", "Superseded" | "Absent") if !repeats => {
                    facts.may_have_begun.remove(token);
                }
                ("begin", _) => {}
                ("ack", "Done") => {
                    facts.acked.push(*token);
                    checked.acked += 1;
                }
                (_, "Superseded" | "Absent") => {
                    checked.refused += 1;
                    // Or it was accepted, and its repetition found nothing.
                    if !repeats {
                        facts.may_be_acked.remove(token);
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

/// All rules, of one key. Beginnings are in the order of occurrences, and of tokens in each.
fn judge(facts: &Facts, killed: &BTreeMap<usize, u64>) -> Result<(), String> {
    let Facts { begins, .. } = facts;
    if !begins.is_empty() && !facts.called {
        return Err("ran, and nobody scheduled it".into());
    }
    if facts.acknowledged
        && begins.is_empty()
        && facts.cancelled.is_none()
        && facts.may_be_cancelled == 0
    {
        return Err("was acknowledged, and has neither run nor been cancelled".into());
    }
    for (_, begin) in begins {
        if begin.now < begin.due {
            return Err(format!("began at {}, due at {}", begin.now, begin.due));
        }
        if facts.cancelled.is_some_and(|cancelled| begin.called > cancelled) {
            return Err("began after a cancellation was answered `Cancelled`".into());
        }
    }
    // Its process may have been killed before it wrote that the run had begun, not before it asked.
    let may_run = |(called, said): &(u64, u64)| {
        facts.may_have_begun.iter().any(|(token, begun)| {
            begun <= said && facts.ended.get(token).is_none_or(|ended| ended >= called)
        })
    };
    if !facts.running.iter().all(may_run) {
        let why = "a cancellation was answered `Running`, and nothing had begun that had not ended";
        return Err(why.into());
    }
    for pair in begins.windows(2) {
        let [(process, before), (_, after)] = pair else { continue };
        if before.token == after.token {
            return Err(format!("token {} was handed out twice", before.token));
        }
        let was_ended = facts.ends.get(&before.token).is_some_and(|at| *at < after.returned);
        // A store may free the leases of a process that is gone.
        let is_gone = killed.get(process).is_some_and(|lived| *lived < after.returned);
        if after.now < before.until && !was_ended && !is_gone {
            return Err(format!("began at {}, leased until {}", after.now, before.until));
        }
    }
    acks(facts)
}

/// All was drained: what has begun and was not cancelled was acked in the end, in its last
/// occurrence.
fn came_to_its_end(key: &str, facts: &Facts) -> Result<(), String> {
    let Some((_, last)) = facts.begins.last() else { return Ok(()) };
    if facts.cancelled.is_some() || facts.may_be_cancelled > 0 {
        return Ok(());
    }
    if !facts.may_be_acked.contains(&last.token) {
        return Err(format!("the run with token {} was the last, and was not acked", last.token));
    }
    match occurrences(key) - 1 {
        expected if last.occurrence == expected => Ok(()),
        expected => Err(format!("ended at occurrence {} of {expected}", last.occurrence)),
    }
}

fn acks(facts: &Facts) -> Result<(), String> {
    let mut accepted = BTreeMap::new();
    for token in &facts.acked {
        let found = facts.begins.iter().find(|(_, begin)| begin.token == *token);
        let Some((_, begin)) = found else {
            return Err(format!("token {token} was acked, and nobody had it"));
        };
        if accepted.insert(begin.idempotency(), *token).is_some() {
            return Err(format!("{:?} was acked twice", begin.idempotency()));
        }
        let called = facts.ends.get(token).copied().unwrap_or_default();
        let newer = |other: &Begin| {
            other.idempotency() == begin.idempotency()
                && other.token > *token
                && other.returned < called
        };
        if facts.begins.iter().any(|(_, other)| newer(other)) {
            return Err(format!("the ack of token {token} was accepted, and a newer one was out"));
        }
    }
    let tokens: Vec<u64> = accepted.into_values().collect();
    match tokens.is_sorted() {
        true => Ok(()),
        false => Err(format!("tokens of accepted acks do not grow: {tokens:?}")),
    }
}
