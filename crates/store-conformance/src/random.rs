//! Random changes, applied to a store and to the model.

use crate::Bed;
use crate::jobs::{job, key};
use crate::pair::Pair;
use crate::rig::{after, millis};
use rand::{RngExt as _, SeedableRng};
use rand_pcg::Pcg64;
use std::collections::BTreeMap;
use wheelhouse_durable::store::{Again, Change, ClaimLimit, Key, Put, Token};

const KINDS: [&str; 3] = ["a/1", "b/1", "c/2"];
const KEYS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

/// The number of steps of [`random_changes`].
const STEPS: u32 = 1_500;

/// A [`random_run`] with a fixed seed, which takes a store some seconds at most.
pub fn random_changes(bed: &mut Bed) {
    random_run(bed, 18, STEPS);
}

/// Makes random batches of changes, claims and steps of time, and compares each with a model: every
/// outcome, every job handed out with its order, token and attempt, and the time of the next claim.
/// From time to time it compares all rows and dead letters. The same seed gives the same steps on
/// every store.
pub fn random_run(bed: &mut Bed, seed: u64, steps: u32) {
    let (random, tokens) = (Pcg64::seed_from_u64(seed), BTreeMap::new());
    let mut run = Run { random, tokens, pair: Pair::new(bed) };
    for step in 0..steps {
        run.pair.log.push(format!("step {step} of seed {seed}"));
        match run.random.random_range(0..10) {
            0..=4 => run.commit(),
            5..=7 => run.claim(),
            8 => run.pair.advance(run.random.random_range(0..30)),
            _ => run.pair.compare_rows(),
        }
    }
    run.pair.compare_rows();
}

struct Run<'b> {
    random: Pcg64,
    pair: Pair<'b>,
    /// The tokens that were given out for each key, the newest last.
    tokens: BTreeMap<Key, Vec<Token>>,
}

impl Run<'_> {
    fn commit(&mut self) {
        let size = self.random.random_range(1..6);
        let changes: Vec<_> = (0..size).map(|_| self.change()).collect();
        self.pair.commit(&changes);
    }

    fn claim(&mut self) {
        let random = &mut self.random;
        let kinds: Vec<_> = KINDS.into_iter().filter(|_| random.random_range(0..4) > 0).collect();
        let lease = random.random_range(1..40);
        let (jobs, bytes) = (random.random_range(0..5), random.random_range(0..25));
        let limit = ClaimLimit { jobs, bytes, begin: random.random_range(0..5) };
        for leased in self.pair.claim(&kinds, limit, lease) {
            self.tokens.entry(leased.job.key).or_default().push(leased.token);
        }
    }

    fn change(&mut self) -> Change {
        let random = &mut self.random;
        let name = KEYS[random.random_range(0..KEYS.len())];
        let (key, when) = (key(name), after(random.random_range(0..25)));
        let (token, dead) = (self.token(&key), self.dead());
        let random = &mut self.random;
        match random.random_range(0..18) {
            0..=4 => Change::Put(Put {
                kind: KINDS[random.random_range(0..KINDS.len())].into(),
                payload: random.random::<u64>().to_le_bytes()[..random.random_range(0..=8)]
                    .to_vec(),
                policy: if random.random_ratio(1, 4) { "p" } else { "" }.to_owned(),
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
            13 => Change::Bury { key, token, reason: format!("reason {}", self.pair.log.len()) },
            14 => Change::Revive { generation: dead, when },
            15 => Change::Forget { generation: dead },
            _ => Change::Begin { key, token },
        }
    }

    /// A token of a key, mostly the newest.
    fn token(&mut self, key: &Key) -> Token {
        let tokens = self.tokens.get(key).map_or(&[][..], Vec::as_slice);
        let newest = tokens.last().copied().unwrap_or(Token(0));
        match self.random.random_range(0..4) {
            0 if !tokens.is_empty() => tokens[self.random.random_range(0..tokens.len())],
            _ => newest,
        }
    }

    fn dead(&mut self) -> u64 {
        let dead = &self.pair.model.dead;
        match dead.len() {
            0 => self.pair.last_generation,
            many => dead[self.random.random_range(0..many)].1.generation.unwrap_or(0),
        }
    }
}
