//! The expected behavior of a store, implemented independently: each key has at most one job, and
//! at most one run. The model finds everything by linear search.

use std::collections::BTreeMap;
use wheelhouse_durable::store::{
    Again, Change, ClaimLimit, Key, Kind, Outcome, Put, Timestamp, Token, When,
};

/// A scheduled job. The store draws the generation, which is `None` until the model has learned it.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) number: u64,
    pub(crate) generation: Option<u64>,
    pub(crate) kind: Kind,
    pub(crate) payload: Vec<u8>,
    pub(crate) policy: String,
    pub(crate) due: u64,
    /// When it may begin, ignoring other runs of its key.
    pub(crate) begins: u64,
    pub(crate) occurrence: u64,
    pub(crate) attempt: u32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub(crate) token: Token,
    pub(crate) until: u64,
    /// `true` if it is a run of the row's job; `false` if the job has replaced that of the run.
    pub(crate) own: bool,
    /// `true` if it has begun; `false` if it is only leased.
    pub(crate) begun: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    pub(crate) job: Option<Job>,
    pub(crate) run: Option<Run>,
}

impl Row {
    pub(crate) fn visible_at(&self) -> u64 {
        match (&self.job, self.run) {
            (_, Some(Run { own: true, until, .. })) | (None, Some(Run { until, .. })) => until,
            (Some(job), Some(run)) => job.begins.max(run.until),
            (Some(job), None) => job.begins,
            (None, None) => u64::MAX,
        }
    }
}

#[derive(Default)]
pub(crate) struct Model {
    pub(crate) rows: BTreeMap<Key, Row>,
    /// Key, job and reason, in the order of generations.
    pub(crate) dead: Vec<(Key, Job, String)>,
    pub(crate) numbers: u64,
    pub(crate) now: u64,
}

impl Model {
    fn time(&self, when: When) -> u64 {
        when.from(Timestamp::from_millis(self.now)).as_millis()
    }

    pub(crate) fn apply(&mut self, change: &Change) -> Outcome {
        match change {
            Change::Put(put) => self.put(put, 0),
            Change::Revive { generation, when } => self.revive(*generation, *when),
            Change::Forget { generation } => {
                let before = self.dead.len();
                self.dead.retain(|(_, job, _)| job.generation != Some(*generation));
                if self.dead.len() < before { Outcome::Done } else { Outcome::Absent }
            }
            Change::Move { key, when } => {
                let due = self.time(*when);
                match self.rows.get_mut(key) {
                    None => Outcome::Absent,
                    Some(Row { job: Some(job), run })
                        if !run.is_some_and(|run| run.own && run.begun) =>
                    {
                        (job.due, job.begins) = (due, due);
                        *run = run.filter(|run| run.begun);
                        Outcome::Done
                    }
                    Some(_) => Outcome::Running,
                }
            }
            Change::Cancel { key } => match self.rows.get_mut(key) {
                None => Outcome::Absent,
                Some(row) if row.run.is_some_and(|run| run.begun) => {
                    row.job = None;
                    Outcome::Running
                }
                Some(_) => {
                    self.rows.remove(key);
                    Outcome::Cancelled
                }
            },
            _ => self.end(change),
        }
    }

    fn put(&mut self, put: &Put, occurrence: u64) -> Outcome {
        let (due, number) = (self.time(put.when), self.numbers);
        let row = self.rows.entry(put.key.clone()).or_default();
        if row.job.is_some() && !put.replace {
            return Outcome::Duplicate;
        }
        self.numbers += 1;
        let job = Job {
            number,
            generation: None,
            kind: put.kind.clone(),
            payload: put.payload.clone(),
            policy: put.policy.clone(),
            due,
            begins: due,
            occurrence,
            attempt: 0,
        };
        row.run = row.run.filter(|run| run.begun).map(|run| Run { own: false, ..run });
        if row.job.replace(job).is_some() { Outcome::Replaced } else { Outcome::Done }
    }

    fn revive(&mut self, generation: u64, when: When) -> Outcome {
        let found = self.dead.iter().position(|(_, job, _)| job.generation == Some(generation));
        let Some(place) = found else { return Outcome::Absent };
        let (key, job, _) = self.dead[place].clone();
        let (kind, payload, policy) = (job.kind, job.payload, job.policy);
        let put = Put { key, kind, payload, policy, when, replace: false };
        let outcome = self.put(&put, job.occurrence);
        if outcome == Outcome::Done {
            self.dead.remove(place);
        }
        outcome
    }

    /// Applies a change by token, with which a worker begins, extends or ends its run.
    fn end(&mut self, change: &Change) -> Outcome {
        let (Some(key), Some(token)) = (change.key(), change.token()) else {
            panic!("a change the model does not know: {change:?}")
        };
        let present = Timestamp::from_millis(self.now);
        let Some(row) = self.rows.get_mut(key) else { return Outcome::Absent };
        let Some(run) = row.run.filter(|run| run.token == token) else {
            return Outcome::Superseded;
        };
        let alive = run.own && row.job.is_some();
        if let Change::Extend { visibility, .. } = change {
            let until = present.saturating_add(*visibility).as_millis();
            row.run = Some(Run { until, ..run });
            return if alive { Outcome::Done } else { Outcome::Closed };
        }
        if let Change::Begin { .. } = change {
            let counted = row.job.iter_mut().filter(|_| alive && !run.begun);
            counted.for_each(|job| job.attempt += 1);
            row.run = Some(Run { begun: true, ..run });
            return if alive { Outcome::Done } else { Outcome::Closed };
        }
        row.run = None;
        match (change, &mut row.job) {
            (Change::Ack { again: Some(Again { when, occurrence }), .. }, Some(job)) if alive => {
                job.due = when.from(present).as_millis();
                (job.begins, job.occurrence, job.attempt) = (job.due, *occurrence, 0);
            }
            (Change::Ack { .. }, job) if alive => *job = None,
            (Change::Retry { when, .. }, Some(job)) if alive => {
                job.begins = when.from(present).as_millis();
            }
            (Change::Release { when, .. }, Some(job)) if alive => {
                job.begins = when.from(present).as_millis();
                job.attempt -= u32::from(run.begun);
            }
            (Change::Bury { reason, .. }, job) if alive => {
                let died = job.take().map(|job| (key.clone(), job, reason.clone()));
                self.dead.extend(died);
                self.dead.sort_by_key(|(_, job, _)| job.generation);
            }
            _ => {}
        }
        if row.job.is_none() {
            self.rows.remove(key);
        }
        let counts = alive || matches!(change, Change::Ack { .. });
        if counts { Outcome::Done } else { Outcome::Closed }
    }

    /// The keys of the jobs that a claim hands out, in order, each with `true` if its run begins.
    pub(crate) fn claim(&mut self, kinds: &[&str], limit: ClaimLimit) -> Vec<(Key, bool)> {
        let visible = |(key, row): (&Key, &Row)| {
            let job = row.job.as_ref().filter(|job| kinds.contains(&&*job.kind))?;
            let at = row.visible_at();
            (at <= self.now).then(|| (at, job.number, key.clone(), job.payload.len()))
        };
        let mut visible: Vec<_> = self.rows.iter().filter_map(visible).collect();
        visible.sort();
        let (mut handed_out, mut sum) = (Vec::new(), 0);
        for (.., key, bytes) in visible.into_iter().take(limit.jobs) {
            sum += bytes;
            if sum > limit.bytes && !handed_out.is_empty() {
                break;
            }
            let all_begin = handed_out.iter().all(|(_, begins)| *begins);
            let begins = all_begin && handed_out.len() < limit.begin && self.is_plain(&key);
            handed_out.push((key, begins));
        }
        handed_out
    }

    /// Returns `true` if a claim may begin the job of this key.
    fn is_plain(&self, key: &Key) -> bool {
        let Row { job, run } = &self.rows[key];
        let is_first = |job: &Job| job.attempt == 0 && job.policy.is_empty();
        run.is_none() && job.as_ref().is_some_and(is_first)
    }

    /// When the next job is visible.
    pub(crate) fn next(&self, kinds: &[&str]) -> Option<u64> {
        let of_kinds = |row: &&Row| row.job.as_ref().is_some_and(|job| kinds.contains(&&*job.kind));
        self.rows.values().filter(of_kinds).map(Row::visible_at).min()
    }
}
