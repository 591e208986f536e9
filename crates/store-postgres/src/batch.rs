//! The rows of a commit, in memory. They are read at once, changed one by one, and written at once.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::convert::Infallible;
use wheelhouse_durable::store::rules::{Row, Table, apply};
use wheelhouse_durable::store::{Change, Entry, Key, Kind, Outcome, Put, Timestamp};

/// The rows of a commit: as they were read, and as the changes have left them.
#[derive(Default)]
pub(crate) struct Batch {
    /// The server's present in microseconds.
    pub(crate) micros: u64,
    /// `true` if the encoding of the database has all characters.
    pub(crate) has_all_characters: bool,
    rows: HashMap<Key, CachedRow>,
    puts: usize,
    /// Keys, attempts and reasons of new dead letters. The other columns are copied from the table,
    /// where the batch has not changed them.
    pub(crate) burials: Vec<(Key, u32, String)>,
    /// Dead letters that the changes name.
    pub(crate) dead: HashMap<u64, Entry>,
    pub(crate) forgotten: Vec<u64>,
    /// Rows that other transactions have locked, of a batch of renewals.
    pub(crate) locked: HashSet<Key>,
}

/// A row, if there is one.
#[derive(Default)]
struct CachedRow {
    /// The kind of the server's row; `None` if the server has no row of this key.
    stored: Option<Kind>,
    row: Option<Row>,
    /// When the server's row is visible, which waiting programs know.
    known: Option<Timestamp>,
    /// A job that was put, and its number among the puts.
    job: Option<(usize, Put)>,
    changed: bool,
}

/// The writes of a commit.
#[derive(Default)]
pub(crate) struct Writes {
    pub(crate) removed: Vec<Key>,
    pub(crate) set: Vec<(Key, Row)>,
    /// In the order of the puts. The rows have no generation yet.
    pub(crate) put: Vec<(Put, Row)>,
    /// When the first row of each kind is visible, among new rows and rows with a new `visible_at`.
    pub(crate) first: BTreeMap<Kind, Timestamp>,
}

impl Batch {
    /// Adds a row that was read from the server.
    pub(crate) fn add_stored(&mut self, key: Key, kind: Kind, row: Row) {
        let known = Some(row.visible_at);
        let row = CachedRow { stored: Some(kind), row: Some(row), known, ..CachedRow::default() };
        let before = self.rows.insert(key, row);
        debug_assert!(before.is_none(), "each key is read once");
    }

    /// The present in milliseconds, rounded down.
    pub(crate) fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.micros / 1000)
    }

    pub(crate) fn apply(&mut self, change: &Change) -> Outcome {
        if change.key().is_some_and(|key| self.locked.contains(key)) {
            return Outcome::Running;
        }
        let now_up = Timestamp::from_millis(self.micros.div_ceil(1000));
        let Ok(outcome) = apply(self, change, (self.now(), now_up));
        outcome
    }

    pub(crate) fn take_writes(&mut self) -> Writes {
        let mut writes = Writes::default();
        let mut put = Vec::new();
        for (key, cached) in self.rows.drain().filter(|(_, cached)| cached.changed) {
            let CachedRow { stored, row, job, known, .. } = cached;
            let kind = job.as_ref().map(|(_, job)| job.kind.clone()).or_else(|| stored.clone());
            let moved = row.filter(|row| job.is_some() || known != Some(row.visible_at));
            if let Some((row, kind)) = moved.zip(kind) {
                let first = writes.first.entry(kind).or_insert(row.visible_at);
                *first = row.visible_at.min(*first);
            }
            match (row, job) {
                (Some(row), None) => writes.set.push((key, row)),
                (row, job) => {
                    writes.removed.extend(stored.map(|_| key));
                    put.extend(row.zip(job).map(|(row, (order, job))| (order, (job, row))));
                }
            }
        }
        put.sort_unstable_by_key(|(order, _)| *order);
        writes.put = put.into_iter().map(|(_, put)| put).collect();
        writes
    }

    fn changed(&mut self, key: &Key) -> &mut CachedRow {
        let cached = self.rows.entry(key.clone()).or_default();
        cached.changed = true;
        cached
    }
}

impl Table for Batch {
    type Error = Infallible;

    fn row(&mut self, key: &Key) -> Result<Option<Row>, Infallible> {
        Ok(self.rows.get(key).and_then(|cached| cached.row))
    }

    fn draw(&mut self) -> u64 {
        // The server draws the generation when the row is written.
        0
    }

    fn put(&mut self, row: &Row, job: &Put) -> Result<(), Infallible> {
        self.puts += 1;
        let order = self.puts;
        let cached = self.changed(&job.key);
        (cached.row, cached.job) = (Some(*row), Some((order, job.clone())));
        Ok(())
    }

    fn set(&mut self, key: &Key, row: &Row) -> Result<(), Infallible> {
        self.changed(key).row = Some(*row);
        Ok(())
    }

    fn remove(&mut self, key: &Key, _: &Row) -> Result<(), Infallible> {
        let cached = self.changed(key);
        (cached.row, cached.job) = (None, None);
        Ok(())
    }

    fn bury(&mut self, key: &Key, row: &Row, reason: &str) -> Result<(), Infallible> {
        let cached = self.changed(key);
        debug_assert!(
            cached.stored.is_some() && cached.job.is_none(),
            "only a row of the server can be buried: {key}"
        );
        // The run may have begun in this batch.
        self.burials.push((key.clone(), row.attempt, reason.to_owned()));
        self.remove(key, row)
    }

    fn dead(&mut self, generation: u64) -> Result<Option<Entry>, Infallible> {
        Ok(self.dead.get(&generation).cloned())
    }

    fn forget(&mut self, generation: u64) -> Result<bool, Infallible> {
        self.forgotten.push(generation);
        Ok(self.dead.remove(&generation).is_some())
    }
}
