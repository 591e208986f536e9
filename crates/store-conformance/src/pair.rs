//! A store next to the model: each call is made to both, and the answers are compared.

use crate::Bed;
use crate::jobs::key;
use crate::model::{Model, Row, Run};
use crate::rig::Rig;
use std::collections::BTreeMap;
use wheelhouse_durable::store::{
    Change, ClaimLimit, Dead, Entry, Key, Kinds, Leased, State, Token,
};

/// In the message of a comparison that fails.
const SIDES: &str = "left is the store, right is the model";

pub(crate) struct Pair<'b> {
    rig: Rig<'b>,
    pub(crate) model: Model,
    last_token: Token,
    pub(crate) last_generation: u64,
    /// The steps so far, for the message if a comparison fails.
    pub(crate) log: Vec<String>,
}

impl<'b> Pair<'b> {
    pub(crate) fn new(bed: &'b mut Bed) -> Self {
        let mut rig = Rig::new(bed);
        let model = Model { now: rig.now().as_millis(), ..Model::default() };
        Self { rig, model, last_token: Token(0), last_generation: 0, log: Vec::new() }
    }

    fn assert_same<T: std::fmt::Debug + PartialEq>(&self, what: &str, store: T, model: T) {
        assert_eq!(store, model, "{what}: {SIDES}; after\n{}", self.last_steps(12, |_| true));
    }

    /// The same for the row of a key: the message has the last steps that name it.
    fn assert_row<T: std::fmt::Debug + PartialEq>(
        &self,
        key: &Key,
        what: &str,
        store: T,
        model: T,
    ) {
        assert_eq!(store, model, "{what} of {key:?}: {SIDES}; after\n{}", {
            let name = format!("{key:?}");
            self.last_steps(8, |step| step.contains(&name) || step.starts_with("a row after"))
        });
    }

    fn last_steps(&self, most: usize, is_shown: impl Fn(&str) -> bool) -> String {
        let steps: Vec<&str> =
            self.log.iter().map(String::as_str).filter(|step| is_shown(step)).collect();
        steps[steps.len().saturating_sub(most)..].join("\n")
    }

    pub(crate) fn advance(&mut self, by: u64) {
        self.log.push(format!("advance {by}"));
        self.rig.advance(by);
        self.model.now += by;
    }

    pub(crate) fn commit(&mut self, changes: &[Change]) {
        let outcomes = self.rig.commit(changes);
        let expected: Vec<_> = changes.iter().map(|change| self.model.apply(change)).collect();
        self.log.push(format!("commit {changes:?}: {outcomes:?}"));
        self.assert_same("outcomes", outcomes, expected);
        self.learn_generations();
    }

    /// Gives the model the generations that the store has drawn. They must grow in the order of
    /// changes.
    fn learn_generations(&mut self) {
        let mut new: Vec<_> = self.model.rows.iter_mut().collect();
        new.retain(|(_, row)| row.job.as_ref().is_some_and(|job| job.generation.is_none()));
        new.sort_by_key(|(_, row)| row.job.as_ref().map(|job| job.number));
        for (key, row) in new {
            let found = self.rig.store.find(key).expect("a lookup succeeds");
            let generation = found.unwrap_or_else(|| panic!("{key} was put")).generation;
            assert!(generation > self.last_generation, "generations grow");
            self.last_generation = generation;
            row.job.iter_mut().for_each(|job| job.generation = Some(generation));
        }
    }

    /// The generation of the job under a key.
    pub(crate) fn generation(&self, name: &str) -> u64 {
        let job = self.model.rows[&key(name)].job.as_ref();
        job.and_then(|job| job.generation).expect("it was put")
    }

    pub(crate) fn claim(&mut self, kinds: &[&str], limit: ClaimLimit, lease: u64) -> Vec<Leased> {
        let (leased, next) = self.rig.claim_of(&Kinds::new(kinds.iter().copied()), limit, lease);
        let expected = self.model.claim(kinds, limit);
        let found = |leased: &Leased| (leased.job.key.clone(), leased.has_begun());
        let found: Vec<_> = leased.iter().map(found).collect();
        self.log.push(format!("claim {limit:?} of {kinds:?} for {lease}: {found:?}"));
        self.assert_same("claim", found, expected);
        let filled = leased.len() == limit.jobs;
        let has_rests = self.model.rows.values().any(|row| row.job.is_none());
        for leased in &leased {
            assert!(leased.token > self.last_token, "tokens grow");
            self.last_token = leased.token;
            let row = self.model.rows.get_mut(&leased.job.key).expect("the claims agree");
            let until = self.model.now + lease;
            let was_lost = row.run.is_some_and(|run| run.own);
            let begun = leased.has_begun();
            row.run = Some(Run { token: leased.token, until, own: true, begun });
            row.job.iter_mut().for_each(|job| job.attempt += u32::from(begun));
            self.assert_same("a lost lease", leased.was_lost, was_lost);
            let row = self.model.rows[&leased.job.key].clone();
            self.compare(&leased.job, &row);
        }
        self.assert_same("the store's clock", next.now.as_millis(), self.model.now);
        let (answer, due) = (next.visible_at.map(|at| at.as_millis()), self.model.next(kinds));
        if (!filled || limit.jobs == 0) && !has_rests {
            self.assert_same("the next claim", answer, due);
        }
        // The answer may be too early, if a row is to be removed then, but not too late.
        let early = due.is_some_and(|due| answer.is_none_or(|answer| answer > due));
        assert!(!early, "the next claim is at {answer:?}, but a job is visible at {due:?}");
        if due.is_none_or(|due| due > self.model.now) {
            let is_past = answer.is_some_and(|answer| answer <= self.model.now);
            assert!(filled || !is_past, "{answer:?} is past");
        }
        self.forget_rests();
        leased
    }

    /// Some claim removes the row of a cancelled job after its lease; the contract does not say
    /// which one. Removes such rows from the model when the store has removed them.
    fn forget_rests(&mut self) {
        let now = self.model.now;
        let store = &mut self.rig.store;
        self.model.rows.retain(|key, row| {
            let rest = row.job.is_none() && row.visible_at() <= now;
            !rest || store.find(key).expect("a lookup succeeds").is_some()
        });
    }

    fn compare(&self, entry: &Entry, row: &Row) {
        let lease = row.run.map(|run| (run.token, run.until));
        let its = entry.state.lease().map(|its| (its.token, its.until.as_millis()));
        self.assert_row(&entry.key, "lease", its, lease);
        self.assert_row(&entry.key, "visible_at", entry.visible_at.as_millis(), row.visible_at());
        let same = match entry.state {
            State::Pending => row.job.is_some() && row.run.is_none(),
            State::Leased(_) => {
                row.job.is_some() && row.run.is_some_and(|run| run.own && !run.begun)
            }
            State::Begun(_) => row.job.is_some() && row.run.is_some_and(|run| run.own && run.begun),
            State::Replaced(_) => row.job.is_some() && row.run.is_some_and(|run| !run.own),
            State::Closed(_) => row.job.is_none(),
        };
        self.assert_row(&entry.key, "state", (entry.state, same), (entry.state, true));
        let Some(job) = &row.job else { return };
        self.assert_row(&entry.key, "generation", Some(entry.generation), job.generation);
        self.assert_row(&entry.key, "kind", &*entry.kind, &*job.kind);
        self.assert_row(&entry.key, "payload", &entry.payload, &job.payload);
        self.assert_row(&entry.key, "policy", &entry.policy, &job.policy);
        self.assert_row(&entry.key, "due", entry.due.as_millis(), job.due);
        self.assert_row(&entry.key, "occurrence", entry.occurrence, job.occurrence);
        self.assert_row(&entry.key, "attempt", entry.attempt, job.attempt);
    }

    pub(crate) fn compare_rows(&mut self) {
        let mut rows: BTreeMap<Key, Entry> = BTreeMap::new();
        for row in self.rig.rows() {
            assert!(rows.insert(row.key.clone(), row).is_none(), "a scan gives each row once");
        }
        for key in rows.keys().chain(self.model.rows.keys()) {
            let (store, model) = (rows.contains_key(key), self.model.rows.contains_key(key));
            self.assert_row(key, "presence", store, model);
        }
        for (key, entry) in &rows {
            self.compare(entry, &self.model.rows[key]);
        }
        let dead = self.rig.dead();
        let its = dead.iter().map(|Dead { job, reason, .. }| {
            let numbers = (job.due.as_millis(), job.occurrence, job.attempt);
            let texts = (&job.kind, &job.payload, &job.policy);
            (&job.key, Some(job.generation), numbers, texts, reason)
        });
        let model = self.model.dead.iter().map(|(key, job, reason)| {
            let numbers = (job.due, job.occurrence, job.attempt);
            (key, job.generation, numbers, (&job.kind, &job.payload, &job.policy), reason)
        });
        self.assert_same("dead letters", its.collect::<Vec<_>>(), model.collect());
    }
}
