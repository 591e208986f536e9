//! The checker of histories.

use super::log::{Begin, Event};
use super::play::occurrences;
use std::collections::BTreeMap;

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
    /// Runs begun.
    pub begins: u64,
    /// Accepted acks.
    pub acked: u64,
    /// Refused acks and retries.
    pub refused: u64,
    /// Killed processes.
    pub killed: u64,
}

/// A call, and its answer if it got one.
struct Request<'e> {
    process: usize,
    what: &'e str,
    token: u64,
    called: u64,
    answered: Option<(u64, &'e str)>,
}

impl Request<'_> {
    /// Returns `true` if the outcome was one of these.
    fn got(&self, outcomes: &[&str]) -> bool {
        self.answered.is_some_and(|(_, outcome)| outcomes.contains(&outcome))
    }

    /// Returns `true` if it was refused, so that it has had no effect. If the store `repeats`
    /// calls, the first attempt may have had its effect, and the refusal is that of the second.
    fn had_no_effect(&self, repeats: bool) -> bool {
        !repeats && self.got(&["Superseded", "Absent"])
    }
}

/// The events of a key.
#[derive(Default)]
struct KeyEvents<'e> {
    requests: Vec<Request<'e>>,
    /// Runs, with their process.
    begins: Vec<(usize, &'e Begin)>,
}

/// Checks the logs of all processes. The store must be empty before and drained afterwards.
/// `repeats`: the store repeats a call whose answer was lost. Then a cancel that took effect may be
/// answered `Absent`.
///
/// # Errors
///
/// The first broken rule, with its key.
pub fn check(logs: &[Vec<Event>], repeats: bool) -> Result<Checked, String> {
    let mut keys = BTreeMap::<&str, KeyEvents<'_>>::new();
    // For each killed process, the last time at which it is known to have lived.
    let mut killed = BTreeMap::new();
    for (process, log) in logs.iter().enumerate() {
        if log.last() != Some(&Event::Over) {
            killed.insert(process, log.iter().map(time).max().unwrap_or_default());
        }
        for event in log {
            record(&mut keys, process, event);
        }
    }
    let mut checked = Checked { killed: killed.len() as u64, ..Checked::default() };
    for (key, events) in &mut keys {
        events.begins.sort_by_key(|(_, begin)| (begin.idempotency(), begin.token));
        events.count(&mut checked);
        let runs = events.check_runs(repeats);
        let runs = runs.and_then(|()| events.check_overlaps(&killed));
        let all = runs.and_then(|()| events.check_acks());
        let all = all.and_then(|()| events.check_end(key, repeats));
        all.map_err(|why| format!("{key}: {why}"))?;
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

fn record<'e>(keys: &mut BTreeMap<&'e str, KeyEvents<'e>>, process: usize, event: &'e Event) {
    match event {
        Event::Call(what, key, token, at) => {
            let (token, called, answered) = (*token, *at, None);
            let request = Request { process, what, token, called, answered };
            keys.entry(key).or_default().requests.push(request);
        }
        Event::Answer(what, key, token, at, outcome) => {
            let its = |request: &&mut Request<'_>| {
                (request.process, request.what, request.token) == (process, what, *token)
            };
            let requests = keys.entry(key).or_default().requests.iter_mut();
            let request = requests.rev().find(its).expect("a call comes before its answer");
            request.answered = Some((*at, outcome));
        }
        Event::Begin(begin) => {
            keys.entry(&begin.key).or_default().begins.push((process, begin));
        }
        Event::Over => {}
    }
}

impl KeyEvents<'_> {
    fn of(&self, what: &str) -> impl Iterator<Item = &Request<'_>> {
        self.requests.iter().filter(move |request| request.what == what)
    }

    /// The call that ended the run with this token, if there is one.
    fn end_of(&self, token: u64) -> Option<&Request<'_>> {
        let ends = self.of("ack").chain(self.of("retry"));
        ends.filter(|end| end.token == token).last()
    }

    fn count(&self, checked: &mut Checked) {
        let count = |is: &dyn Fn(&Request<'_>) -> bool| {
            self.requests.iter().filter(|request| is(request)).count() as u64
        };
        let got = |what: &str, outcomes: &[&str]| {
            count(&|request| request.what == what && request.got(outcomes))
        };
        checked.calls += count(&|_| true);
        checked.unanswered += count(&|request| request.answered.is_none());
        // No other call schedules this key, so a duplicate is this call, repeated.
        checked.scheduled += got("schedule", &["Done", "Duplicate"]);
        checked.cancelled += got("cancel", &["Cancelled"]);
        checked.acked += got("ack", &["Done"]);
        let refusals = ["Superseded", "Absent"];
        checked.refused += got("ack", &refusals) + got("retry", &refusals);
        checked.begins += self.begins.len() as u64;
    }

    /// Returns `true` if a cancel may have taken effect, whatever was answered.
    fn may_be_cancelled(&self, repeats: bool) -> bool {
        self.of("cancel").any(|cancel| !cancel.had_no_effect(repeats))
    }

    fn check_runs(&self, repeats: bool) -> Result<(), String> {
        let Self { begins, .. } = self;
        if !begins.is_empty() && self.of("schedule").next().is_none() {
            return Err("ran, but was never scheduled".into());
        }
        let acknowledged = self.of("schedule").any(|its| its.got(&["Done", "Duplicate"]));
        if acknowledged && begins.is_empty() && !self.may_be_cancelled(repeats) {
            return Err("was acknowledged, but neither ran nor was cancelled".into());
        }
        let cancelled = self.of("cancel").filter(|cancel| cancel.got(&["Cancelled"]));
        let cancelled = cancelled.filter_map(|cancel| cancel.answered).map(|(at, _)| at).max();
        for (_, begin) in begins {
            if begin.now < begin.due {
                return Err(format!("began at {}, due at {}", begin.now, begin.due));
            }
            if cancelled.is_some_and(|cancelled| begin.called > cancelled) {
                return Err("began after a cancel was answered `Cancelled`".into());
            }
        }
        if self
            .of("cancel")
            .any(|cancel| cancel.got(&["Running"]) && !self.may_run(cancel, repeats))
        {
            let why = "a cancel was answered `Running`, but no run was in progress";
            return Err(why.into());
        }
        Ok(())
    }

    /// Checks that no run begins during another one.
    fn check_overlaps(&self, killed: &BTreeMap<usize, u64>) -> Result<(), String> {
        for pair in self.begins.windows(2) {
            let [(process, before), (_, after)] = pair else { continue };
            if before.token == after.token {
                return Err(format!("token {} was handed out twice", before.token));
            }
            let was_ended =
                self.end_of(before.token).is_some_and(|end| end.called < after.returned);
            // A store may free the leases of a dead process.
            let is_gone = killed.get(process).is_some_and(|lived| *lived < after.returned);
            if after.now < before.until && !was_ended && !is_gone {
                return Err(format!("began at {}, leased until {}", after.now, before.until));
            }
        }
        Ok(())
    }

    /// Returns `true` if a run may have been in progress during a cancel. If a process was killed
    /// before it logged that a run had begun, its log still has the call.
    fn may_run(&self, cancel: &Request<'_>, repeats: bool) -> bool {
        let Some((answered, _)) = cancel.answered else { return true };
        self.of("begin").filter(|begin| !begin.had_no_effect(repeats)).any(|begin| {
            // Once its end was answered, the run has ended, whatever the answer.
            let ended = self.end_of(begin.token).and_then(|end| end.answered);
            begin.called <= answered && ended.is_none_or(|(ended, _)| ended >= cancel.called)
        })
    }

    /// Checks that the key ended, because the store was drained: if it has begun and was not
    /// cancelled, its last run was acked, in its last occurrence.
    fn check_end(&self, key: &str, repeats: bool) -> Result<(), String> {
        let Some((_, last)) = self.begins.last() else { return Ok(()) };
        if self.may_be_cancelled(repeats) {
            return Ok(());
        }
        let acks = |ack: &Request<'_>| ack.token == last.token && !ack.had_no_effect(repeats);
        if !self.of("ack").any(acks) {
            return Err(format!("the last run, with token {}, was not acked", last.token));
        }
        match occurrences(key) - 1 {
            expected if last.occurrence == expected => Ok(()),
            expected => Err(format!("ended at occurrence {} of {expected}", last.occurrence)),
        }
    }

    fn check_acks(&self) -> Result<(), String> {
        let mut accepted = BTreeMap::new();
        for ack in self.of("ack").filter(|ack| ack.got(&["Done"])) {
            let token = ack.token;
            let found = self.begins.iter().find(|(_, begin)| begin.token == token);
            let Some((_, begin)) = found else {
                return Err(format!("token {token} was acked, but never handed out"));
            };
            if accepted.insert(begin.idempotency(), token).is_some() {
                return Err(format!("{:?} was acked twice", begin.idempotency()));
            }
            let newer = |(_, other): &(usize, &Begin)| {
                other.idempotency() == begin.idempotency()
                    && other.token > token
                    && other.returned < ack.called
            };
            if self.begins.iter().any(newer) {
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
}
