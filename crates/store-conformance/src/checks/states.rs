//! Each change, in each state of a row.

use crate::Bed;
use crate::jobs::{KIND, job, key};
use crate::pair::Pair;
use crate::rig::{NO_TOKEN, after, millis};
use wheelhouse_durable::store::{Again, Change, ClaimLimit, Put, Token};

/// The duration of a lease, in milliseconds.
const LEASE: u64 = 100;

/// A delay that is longer than a lease.
const LATER: u64 = 250;

const OTHER: &str = "other/1";

/// The changes that a row has been through, before the one that is checked.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    Put,
    PutLater,
    Replace,
    ReplaceLater,
    Cancel,
    Lease,
    /// A claim leases the job and begins its run.
    Start,
    Begin,
    /// The lease runs out, and the job is leased again.
    Lose,
    /// The lease runs out.
    Pass,
    Retry,
    Ack,
    AckAgain,
    Bury,
}

/// The steps that lead to each state.
const STATES: [&[Step]; 28] = {
    use Step::*;
    [
        &[],
        &[Put],
        &[PutLater],
        &[Put, Lease],
        &[Put, Lease, Pass],
        &[Put, Lease, Lose],
        &[Put, Lease, Begin],
        &[Put, Lease, Begin, Pass],
        &[Put, Lease, Begin, Lose],
        &[Put, Lease, Begin, Lose, Begin],
        &[Put, Lease, Begin, Retry],
        &[Put, Lease, Begin, Ack, Put, Lease],
        &[Put, Lease, Begin, AckAgain],
        &[Put, Lease, Begin, Cancel],
        &[Put, Lease, Begin, Cancel, Pass],
        &[Put, Lease, Begin, Replace],
        &[Put, Lease, Begin, ReplaceLater],
        &[Put, Lease, Begin, Replace, Lose],
        &[Put, Lease, Begin, Cancel, Put],
        &[Put, Lease, Begin, Bury],
        &[Put, Lease, Begin, Bury, Put],
        &[Put, Lease, Begin, Bury, Put, Lease, Begin, Cancel],
        &[Put, Start],
        &[Put, Start, Pass],
        &[Put, Start, Lose],
        &[Put, Start, Retry],
        &[Put, Start, Cancel],
        &[Put, Start, Replace],
    ]
};

/// Each change has the outcome and the effect of the model in each state of a row, alone in its
/// commit and in a batch, and so have the claims that follow. Those after a batch begin runs.
pub fn each_change_in_each_state(bed: &mut Bed) {
    let mut pair = Pair::new(bed);
    for steps in STATES {
        for together in [false, true] {
            pair.log.push(format!("a row after {steps:?}"));
            let changes = changes_after(steps, &mut pair);
            match together {
                true => pair.commit(&changes),
                false => {
                    changes.iter().for_each(|change| pair.commit(std::slice::from_ref(change)))
                }
            }
            pair.compare_rows();
            for time in [0, LEASE - 1, 1, LATER - LEASE - 1, 1] {
                pair.advance(time);
                claim(&mut pair, together);
                pair.compare_rows();
            }
            clear(&mut pair);
        }
    }
}

/// Brings a row for each change into a state. Returns the changes.
fn changes_after(steps: &[Step], pair: &mut Pair<'_>) -> Vec<Change> {
    let count = changes("k", [NO_TOKEN; 2], 0).len();
    let names: Vec<String> = (0..count).map(|n| n.to_string()).collect();
    // The first and the newest token of each row.
    let mut tokens = vec![[NO_TOKEN; 2]; names.len()];
    let mut dead = vec![0; names.len()];
    for step in steps {
        match step {
            Step::Lease | Step::Start | Step::Lose | Step::Pass => {
                let has_lease = matches!(step, Step::Lose | Step::Pass);
                pair.advance(if has_lease { LEASE } else { 0 });
                if *step != Step::Pass {
                    let leased = claim(pair, *step == Step::Start);
                    assert_eq!(leased.len(), names.len(), "each row is leased: {steps:?}");
                    for (tokens, token) in tokens.iter_mut().zip(leased) {
                        *tokens = [if tokens[0] == NO_TOKEN { token } else { tokens[0] }, token];
                    }
                }
            }
            step => {
                if *step == Step::Bury {
                    dead = names.iter().map(|name| pair.generation(name)).collect();
                }
                let each = names.iter().zip(&tokens);
                let batch = each.map(|(name, [_, token])| step.change(name, *token));
                pair.commit(&batch.collect::<Vec<_>>());
            }
        }
    }
    let one = |n: usize| changes(&names[n], tokens[n], dead[n]).swap_remove(n);
    (0..names.len()).map(one).collect()
}

impl Step {
    fn change(self, name: &str, token: Token) -> Change {
        let (now, later) = (after(0), after(LATER));
        let key = key(name);
        match self {
            Self::Put => put(name, 0, false),
            Self::PutLater => put(name, LATER, false),
            Self::Replace => put(name, 0, true),
            Self::ReplaceLater => put(name, LATER, true),
            Self::Cancel => Change::Cancel { key },
            Self::Begin => Change::Begin { key, token },
            Self::Retry => Change::Retry { key, token, when: now },
            Self::Ack => Change::Ack { key, token, again: None },
            Self::AckAgain => {
                Change::Ack { key, token, again: Some(Again { when: later, occurrence: 7 }) }
            }
            Self::Bury => Change::Bury { key, token, reason: "failed".into() },
            Self::Lease | Self::Start | Self::Lose | Self::Pass => {
                unreachable!("it is a claim")
            }
        }
    }
}

/// A job. One that replaces another has another kind.
fn put(name: &str, delay: u64, replace: bool) -> Change {
    let (kind, payload) = if replace { (OTHER, "new") } else { (KIND, name) };
    let (kind, payload) = (kind.into(), payload.into());
    Change::Put(Put { kind, payload, replace, ..job(name, delay) })
}

/// All changes of a row with these tokens, and of a dead letter.
fn changes(name: &str, tokens: [Token; 2], dead: u64) -> Vec<Change> {
    use Step::*;
    let mut all: Vec<_> = [Step::Put, PutLater, Replace, ReplaceLater, Cancel]
        .map(|step| step.change(name, NO_TOKEN))
        .into();
    all.extend([0, LATER].map(|delay| Change::Move { key: key(name), when: after(delay) }));
    all.push(Change::Revive { generation: dead, when: after(LATER) });
    all.push(Change::Forget { generation: dead });
    for token in [NO_TOKEN, tokens[0], tokens[1]] {
        all.extend([Begin, Ack, AckAgain, Retry, Bury].map(|step| step.change(name, token)));
        all.push(Change::Retry { key: key(name), token, when: after(LATER) });
        for delay in [0, LATER] {
            let (key, when, visibility) = (key(name), after(delay), millis(delay.max(1)));
            all.push(Change::Release { key: key.clone(), token, when });
            all.push(Change::Extend { key, token, visibility });
        }
    }
    all
}

/// Leases all visible jobs. If it `begins` runs, it begins as many as it may. Returns the tokens.
fn claim(pair: &mut Pair<'_>, begins: bool) -> Vec<Token> {
    let begin = if begins { usize::MAX } else { 0 };
    let limit = ClaimLimit { begin, ..ClaimLimit::jobs(1_000) };
    let leased = pair.claim(&[KIND, OTHER], limit, LEASE);
    leased.into_iter().map(|leased| leased.token).collect()
}

/// Removes all rows and dead letters.
fn clear(pair: &mut Pair<'_>) {
    let keys = pair.model.rows.keys().cloned();
    let cancels: Vec<_> = keys.map(|key| Change::Cancel { key }).collect();
    pair.commit(&cancels);
    pair.advance(LATER);
    claim(pair, false);
    let letters = pair.model.dead.iter().filter_map(|(_, job, _)| job.generation);
    let forgets: Vec<_> = letters.map(|generation| Change::Forget { generation }).collect();
    pair.commit(&forgets);
    pair.compare_rows();
}
