//! Watches all calls of all programs, and reports a guarantee that a call breaks.
//!
//! It sees the effect of each call on the store, and the answer that the program received, by the
//! store's clock. For each key it keeps the promises that were made. It does not repeat the rules
//! of the store.

use super::fault::name;
use super::job::{
    BOUNDED, Broken, CANCEL, CLOCK, Checked, GrantedLease, Job, LEASE, LEAST_ONCE, LOST, Now,
    ORDER, OVERLAP, POISON, UNKNOWN, ensure,
};
use crate::JobName;
use crate::plan::Policy;
use crate::store::{Change, ClaimLimit, Key, Kinds, Leased, Next, Outcome, Put, Timestamp, Token};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

#[derive(Clone)]
pub(super) struct Run {
    pub(super) job: JobName,
    pub(super) token: Token,
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let JobName { kind, key, occurrence, attempt, .. } = &self.job;
        write!(f, "{kind} '{key}', ")?;
        if *occurrence > 0 {
            write!(f, "occurrence {occurrence}, ")?;
        }
        write!(f, "attempt {attempt}")
    }
}

#[derive(Default)]
pub(super) struct Promises {
    jobs: BTreeMap<Key, Job>,
    /// The keys of dead letters, by generation.
    dead: BTreeMap<u64, Key>,
    /// Begun, and the handler is not called yet.
    begun: BTreeSet<Token>,
    /// The suspect that each program runs.
    suspects: BTreeMap<usize, Token>,
    /// The keys, generations and occurrences whose handlers are working, each with its program.
    working: BTreeSet<(usize, (Key, u64, u64))>,
}

impl Promises {
    /// A commit took effect. Returns the jobs that were put: the key, and the number of the put
    /// among those of that key.
    pub(super) fn committed(
        &mut self,
        changes: &[Change],
        outcomes: &[Outcome],
        now: Now,
    ) -> Result<Vec<(Key, u64)>, Broken> {
        let mut taken = Vec::new();
        for (change, outcome) in changes.iter().zip(outcomes) {
            self.changed(change, *outcome, now)?;
            let is_put = matches!(outcome, Outcome::Done | Outcome::Replaced);
            if let (Change::Put(Put { key, .. }), true) = (change, is_put) {
                taken.extend(self.jobs.get(key).map(|job| (key.clone(), job.puts)));
            }
        }
        Ok(taken)
    }

    /// The caller of a commit was told its outcomes.
    pub(super) fn told(&mut self, taken: &[(Key, u64)]) {
        for (key, number) in taken {
            let job = self.jobs.entry(key.clone()).or_default();
            job.is_told |= job.puts == *number;
        }
    }

    /// A caller receives the outcome of a change to the job of a key.
    pub(super) fn answered(&mut self, key: &Key, outcome: Outcome) -> Checked {
        // `Duplicate` and `Absent` are also the answers to changes that need no commit.
        if key.is_reserved() || matches!(outcome, Outcome::Duplicate | Outcome::Absent) {
            return Ok(());
        }
        let outcomes = &mut self.jobs.entry(key.clone()).or_default().outcomes;
        let index = outcomes.iter().position(|its| *its == outcome);
        index.map(|index| outcomes.swap_remove(index));
        ensure(index.is_some(), LOST, || {
            format!("'{key}': a caller received `{outcome:?}`, but no commit has returned it")
        })
    }

    fn changed(&mut self, change: &Change, outcome: Outcome, now: Now) -> Checked {
        match (change, change.key(), change.token()) {
            (_, Some(key), None) => self.called(key, change, outcome, now),
            (_, Some(key), Some(token)) => match outcome {
                Outcome::Done | Outcome::Closed => self.by_token(change, (key, token), now),
                _ => Ok(()),
            },
            (Change::Revive { generation, .. } | Change::Forget { generation }, ..) => {
                let job = self.dead.get(generation).and_then(|key| self.jobs.get_mut(key));
                let Some(job) = job else { return Ok(()) };
                job.outcomes.push(outcome);
                if let (Change::Revive { when, .. }, Outcome::Done) = (change, outcome) {
                    job.put(*when, now);
                }
                Ok(())
            }
            _ => unreachable!("the others have a key"),
        }
    }

    /// A change by token took effect.
    fn by_token(&mut self, change: &Change, (key, token): (&Key, Token), now: Now) -> Checked {
        let job = self.jobs.entry(key.clone()).or_default();
        let mut lease = job.lease(key, token, name(change))?;
        // The end of a run whose job was cancelled or replaced does not concern the newer job.
        let is_own = !lease.is_old && !job.is_cancelled;
        match change {
            Change::Begin { .. } => {
                // A repeated `Begin` counts once.
                job.attempts += u32::from(is_own && !lease.begun);
                lease.begun = true;
                self.begun.insert(token);
                job.lease = Some(lease);
                return Ok(());
            }
            Change::Extend { visibility, .. } => {
                lease.until = now.0.saturating_add(*visibility);
                job.lease = Some(lease);
                return Ok(());
            }
            Change::Ack { again, .. } => {
                ensure(!job.failed.contains(&token), LEAST_ONCE, || {
                    format!("'{key}': token {token} was acked, although its handler had failed")
                })?;
                if is_own {
                    job.acked(lease, *again, now);
                }
            }
            Change::Retry { when, .. } | Change::Release { when, .. } if is_own => {
                let is_released = lease.begun && matches!(change, Change::Release { .. });
                job.attempts -= u32::from(is_released);
                job.not_before = when.from(now.0);
            }
            Change::Bury { .. } if is_own => {
                job.is_live = false;
                self.dead.insert(lease.occurrence.0, key.clone());
            }
            _ => {}
        }
        job.lease = None;
        Ok(())
    }

    /// A caller has put, moved or cancelled a job.
    fn called(&mut self, key: &Key, change: &Change, outcome: Outcome, now: Now) -> Checked {
        if key.is_reserved() {
            return Ok(());
        }
        let job = self.jobs.entry(key.clone()).or_default();
        job.outcomes.push(outcome);
        if outcome == Outcome::Absent {
            return ensure(!(job.is_live && job.is_told), LOST, || {
                format!("'{key}' was scheduled, and the store knows no such job")
            });
        }
        let begun = job.lease.filter(|lease| lease.begun);
        match (change, outcome) {
            (Change::Put(put), Outcome::Done | Outcome::Replaced) => job.put(put.when, now),
            (Change::Move { when, .. }, Outcome::Done) => job.moved(*when, now),
            (Change::Cancel { .. }, Outcome::Cancelled) => {
                ensure(begun.is_none(), CANCEL, || {
                    format!("'{key}': the answer is `Cancelled`, but a run has begun")
                })?;
                (job.lease, job.is_cancelled) = (None, true);
                job.is_live = false;
            }
            (Change::Cancel { .. }, Outcome::Running) => {
                ensure(begun.is_some(), CANCEL, || {
                    format!("'{key}': the answer is `Running`, but no run has begun")
                })?;
                job.is_cancelled = true;
                job.is_live = false;
            }
            _ => {}
        }
        Ok(())
    }

    /// A claim has leased jobs for `program`, at a time of the store.
    pub(super) fn claimed(
        &mut self,
        leased: &[Leased],
        (next, now): (Next, Timestamp),
        (kinds, limit): (&Kinds, ClaimLimit),
        max_attempts: u32,
    ) -> Checked {
        let bytes = leased.iter().map(|leased| leased.job.payload.len()).sum();
        ensure(leased.is_empty() || limit.allows(leased.len(), bytes), BOUNDED, || {
            format!("a claim of {limit:?} returned {} jobs with {bytes} bytes", leased.len())
        })?;
        ensure(next.now <= now, CLOCK, || {
            format!("the store says that it is {:?}, but it is {now:?}", next.now)
        })?;
        let (mut before, mut may_begin) = (None, limit.begin);
        for (index, leased) in leased.iter().enumerate() {
            let begun = leased.has_begun();
            let Leased { job: row, token, until, was_lost } = leased;
            // Only the first rows of a claim have begun.
            may_begin = if begun { may_begin } else { index };
            let is_first = row.attempt == 1 && !was_lost && row.policy.is_empty();
            ensure(!begun || index < may_begin && is_first, POISON, || {
                format!("a claim of {limit:?} has begun its job {index}: {leased:?}")
            })?;
            let (key, occurrence) = (&row.key, (row.generation, row.occurrence));
            ensure(kinds.contains(&row.kind), UNKNOWN, || {
                let kind = &row.kind;
                format!(
                    "'{key}' of the kind '{kind}' was handed out, but only {kinds:?} are asked for"
                )
            })?;
            let job = self.jobs.entry(key.clone()).or_default();
            job.may_be_leased(leased, now)?;
            if job.is_fresh {
                let order = (row.due, row.generation);
                ensure(before.is_none_or(|before| before <= order), ORDER, || {
                    format!("'{key}', due at {:?}, was handed out after a later job", row.due)
                })?;
                before = Some(order);
            }
            let most = Policy::from_text(&row.policy).and_then(|policy| policy.max_attempts);
            let most = most.unwrap_or(max_attempts);
            let is_suspect = *was_lost && row.attempt >= most.div_ceil(2);
            let (token, until) = (*token, *until);
            if begun {
                self.begun.insert(token);
                job.attempts += 1;
            }
            let lease =
                GrantedLease { token, until, occurrence, most, begun, is_old: false, is_suspect };
            (job.lease, job.newest, job.is_fresh) = (Some(lease), (token.0, occurrence), false);
        }
        Ok(())
    }

    /// `program` calls a handler. `is_lost`: it knows that the lease has run out.
    pub(super) fn enters(&mut self, program: usize, run: &Run, is_lost: bool) -> Checked {
        let Run { job: JobName { key, generation, occurrence, attempt, .. }, token } = run;
        ensure(!is_lost, LEASE, || {
            format!("{run}: the handler is called, but the lease has run out")
        })?;
        ensure(self.begun.remove(token), POISON, || {
            format!("{run}: the handler is called, but no attempt of token {token} was counted")
        })?;
        let call = (program, (key.clone(), *generation, *occurrence));
        ensure(self.working.insert(call), OVERLAP, || {
            format!(
                "{run}: the handler is called, but an earlier run has not ended in this program"
            )
        })?;
        let job = self.jobs.entry(key.clone()).or_default();
        ensure(job.called.insert(((*generation, *occurrence), *attempt)), POISON, || {
            format!("{run}: the handler was called for this attempt before")
        })?;
        let Some(lease) = job.lease.filter(|lease| lease.token == *token) else { return Ok(()) };
        ensure(*attempt <= lease.most, POISON, || {
            format!("{run}: the handler is called, but {} attempts are the most", lease.most)
        })?;
        if lease.is_suspect {
            let other = self.suspects.insert(program, *token);
            ensure(other.is_none(), POISON, || format!("{run}: another suspect is running"))?;
        }
        Ok(())
    }

    pub(super) fn leaves(&mut self, program: usize, run: &Run, succeeded: bool) {
        if self.suspects.get(&program) == Some(&run.token) {
            self.suspects.remove(&program);
        }
        let JobName { key, generation, occurrence, .. } = &run.job;
        self.working.remove(&(program, (key.clone(), *generation, *occurrence)));
        let job = self.jobs.entry(key.clone()).or_default();
        let most = job.lease.filter(|lease| lease.token == run.token).map_or(0, |lease| lease.most);
        if !succeeded && run.job.attempt < most {
            job.failed.insert(run.token);
        }
    }

    pub(super) fn killed(&mut self, program: usize) {
        self.suspects.remove(&program);
        self.working.retain(|(its, _)| *its != program);
    }

    /// At the end: each job that was scheduled is in the store, in `rows`, or has ended. `overdue`
    /// jobs were never handed out.
    pub(super) fn finish(&self, rows: &BTreeSet<Key>, overdue: &[Key]) -> Checked {
        for key in overdue {
            let is_live = self.jobs.get(key).is_some_and(|job| job.is_live);
            ensure(!is_live, LEAST_ONCE, || format!("'{key}' is due, and no program runs it"))?;
        }
        for (key, job) in &self.jobs {
            let is_lost = job.is_live && job.is_told && !rows.contains(key);
            ensure(!is_lost, LOST, || {
                format!("'{key}' was scheduled, and is gone: it neither ran nor was cancelled")
            })?;
        }
        Ok(())
    }
}
