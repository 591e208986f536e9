//! Random changes, applied to a store and to the model.

use crate::Bed;
use crate::model::{Model, Row, Run};
use crate::rig::{Rig, after, job, key, millis};
use rand::{RngExt as _, SeedableRng};
use rand_pcg::Pcg64;
use std::collections::BTreeMap;
use wheelhouse_durable::store::{
    Again, Change, ClaimLimit, Dead, Entry, Key, Kinds, Put, State, Token,
};

const KINDS: [&str; 3] = ["a/1", "b/1", "c/2"];
const KEYS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

/// The number of steps of [`random_changes`].
const STEPS: u32 = 1_500;

/// A [`random_run`] with a fixed seed, which takes a store some seconds at most.
pub fn random_changes(bed: &mut dyn Bed) {
    random_run(bed, 18, STEPS);
}

/// Makes random batches of changes, claims and steps of time, and compares each with a model: every
/// outcome, every job handed out with its order, token and attempt, and the time of the next claim.
/// From time to time it compares all rows and dead letters. The same seed gives the same steps on
/// every store.
pub fn random_run(bed: &mut dyn Bed, seed: u64, steps: u32) {
    let mut random = Pcg64::seed_from_u64(seed);
    let mut pair = Pair::new(bed);
    for step in 0..steps {
        pair.log.push(format!("step {step} of seed {seed}"));
        match random.random_range(0..10) {
            0..=4 => pair.commit(&mut random),
            5..=7 => pair.claim(&mut random),
            8 => pair.advance(random.random_range(0..30)),
            _ => pair.compare_rows(),
        }
    }
    pair.compare_rows();
}

struct Pair<'b> {
    rig: Rig<'b>,
    model: Model,
    /// The tokens that were given out for each key, the newest last.
    tokens: BTreeMap<Key, Vec<Token>>,
    last_token: Token,
    last_generation: u64,
    /// The steps so far, for the message if a comparison fails.
    log: Vec<String>,
}

impl<'b> Pair<'b> {
    fn new(bed: &'b mut dyn Bed) -> Self {
        let mut rig = Rig::new(bed);
        let model = Model { now: rig.now().as_millis(), ..Model::default() };
        let (tokens, log) = (BTreeMap::new(), Vec::new());
        Self { rig, model, tokens, last_token: Token(0), last_generation: 0, log }
    }

    fn assert_same<T: std::fmt::Debug + PartialEq>(&self, what: &str, store: T, model: T) {
        let last = self.log.len().saturating_sub(12);
        let log = self.log[last..].join("\n");
        assert_eq!(store, model, "{what}: left is the store, right is the model; after\n{log}");
    }

    fn advance(&mut self, by: u64) {
        self.log.push(format!("advance {by}"));
        self.rig.advance(by);
        self.model.now += by;
    }

    fn commit(&mut self, random: &mut Pcg64) {
        let size = random.random_range(1..6);
        let changes: Vec<_> = (0..size).map(|_| self.change(random)).collect();
        let outcomes = self.rig.commit(&changes);
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

    fn change(&mut self, random: &mut Pcg64) -> Change {
        let name = KEYS[random.random_range(0..KEYS.len())];
        let (key, when) = (key(name), after(random.random_range(0..25)));
        let token = self.token(&key, random);
        match random.random_range(0..18) {
            0..=4 => Change::Put(Put {
                kind: KINDS[random.random_range(0..KINDS.len())].into(),
                payload: random.random::<u64>().to_le_bytes()[..random.random_range(0..=8)]
                    .to_vec(),
                when,
                replace: random.random(),
                ..job(name, 0)
            }),
            5 => Change::Move { key, when },
            6 => Change::Cancel { key },
            7..=8 => Change::Ack { key, token, again: None },
            9 => Change::Ack {
                key,
                token,
                again: Some(Again { when, occurrence: random.random_range(0..9) }),
            },
            10 => Change::Retry { key, token, when },
            11 => Change::Release { key, token, when },
            12 => Change::Extend { key, token, visibility: millis(random.random_range(0..40)) },
            13 => Change::Bury { key, token, reason: format!("reason {}", self.log.len()) },
            14 => Change::Revive { generation: self.dead(random), when },
            15 => Change::Forget { generation: self.dead(random) },
            _ => Change::Begin { key, token },
        }
    }

    /// A token of a key, mostly the newest.
    fn token(&self, key: &Key, random: &mut Pcg64) -> Token {
        let tokens = self.tokens.get(key).map_or(&[][..], Vec::as_slice);
        let newest = tokens.last().copied().unwrap_or(Token(0));
        match random.random_range(0..4) {
            0 if !tokens.is_empty() => tokens[random.random_range(0..tokens.len())],
            _ => newest,
        }
    }

    fn dead(&self, random: &mut Pcg64) -> u64 {
        match self.model.dead.len() {
            0 => self.last_generation,
            many => self.model.dead[random.random_range(0..many)].1.generation.unwrap_or(0),
        }
    }

    fn claim(&mut self, random: &mut Pcg64) {
        let kinds: Vec<_> = KINDS.into_iter().filter(|_| random.random_range(0..4) > 0).collect();
        let lease = random.random_range(1..40);
        let limit =
            ClaimLimit { jobs: random.random_range(0..5), bytes: random.random_range(0..25) };
        let (leased, next) = self.rig.claim_of(&Kinds::new(kinds.iter().copied()), limit, lease);
        let expected = self.model.claim(&kinds, limit);
        let keys: Vec<_> = leased.iter().map(|leased| leased.job.key.clone()).collect();
        self.log.push(format!("claim {limit:?} of {kinds:?} for {lease}: {keys:?}"));
        self.assert_same("claim", keys, expected);
        let filled = leased.len() == limit.jobs;
        for leased in leased {
            assert!(leased.token > self.last_token, "tokens grow");
            self.last_token = leased.token;
            self.tokens.entry(leased.job.key.clone()).or_default().push(leased.token);
            let row = self.model.rows.get_mut(&leased.job.key).expect("the claims agree");
            let until = self.model.now + lease;
            let was_lost = row.run.is_some_and(|run| run.own);
            row.run = Some(Run { token: leased.token, until, own: true, begun: false });
            self.assert_same("a lost lease", leased.was_lost, was_lost);
            let row = self.model.rows[&leased.job.key].clone();
            self.compare(&leased.job, &row);
        }
        self.assert_same("the store's clock", next.now.as_millis(), self.model.now);
        let (answer, due) = (next.visible_at.map(|at| at.as_millis()), self.model.next(&kinds));
        // The answer may be too early, if a row is to be removed then, but not too late.
        let early = due.is_some_and(|due| answer.is_none_or(|answer| answer > due));
        assert!(!early, "the next claim is at {answer:?}, but a job is visible at {due:?}");
        if due.is_none_or(|due| due > self.model.now) {
            assert!(
                filled || answer.is_none_or(|answer| answer > self.model.now),
                "{answer:?} is past"
            );
        }
        self.forget_rests();
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
        self.assert_same("lease", its, lease);
        self.assert_same("visible_at", entry.visible_at.as_millis(), row.visible_at());
        let same = match entry.state {
            State::Pending => row.job.is_some() && row.run.is_none(),
            State::Leased(_) => {
                row.job.is_some() && row.run.is_some_and(|run| run.own && !run.begun)
            }
            State::Begun(_) => row.job.is_some() && row.run.is_some_and(|run| run.own && run.begun),
            State::Replaced(_) => row.job.is_some() && row.run.is_some_and(|run| !run.own),
            State::Closed(_) => row.job.is_none(),
        };
        self.assert_same("state", (entry.state, same), (entry.state, true));
        let Some(job) = &row.job else { return };
        self.assert_same("generation", Some(entry.generation), job.generation);
        self.assert_same("kind", &*entry.kind, &*job.kind);
        self.assert_same("payload", &entry.payload, &job.payload);
        self.assert_same("due", entry.due.as_millis(), job.due);
        self.assert_same("occurrence", entry.occurrence, job.occurrence);
        self.assert_same("attempt", entry.attempt, job.attempt);
    }

    fn compare_rows(&mut self) {
        let mut rows: BTreeMap<Key, Entry> = BTreeMap::new();
        for row in self.rig.rows() {
            assert!(rows.insert(row.key.clone(), row).is_none(), "a scan gives each row once");
        }
        self.assert_same("keys", rows.keys().collect::<Vec<_>>(), self.model.rows.keys().collect());
        for (key, entry) in &rows {
            self.compare(entry, &self.model.rows[key]);
        }
        let dead = self.rig.dead();
        let its = dead.iter().map(|Dead { job, reason, .. }| {
            let numbers = (job.due.as_millis(), job.occurrence, job.attempt);
            (&job.key, Some(job.generation), numbers, &job.payload, reason)
        });
        let model = self.model.dead.iter().map(|(key, job, reason)| {
            let numbers = (job.due, job.occurrence, job.attempt);
            (key, job.generation, numbers, &job.payload, reason)
        });
        self.assert_same("dead letters", its.collect::<Vec<_>>(), model.collect());
    }
}
