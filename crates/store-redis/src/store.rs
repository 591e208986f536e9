//! The store.

use crate::commit::{self, AT_ONCE, millis};
use crate::connection::{CLAIM, COMMIT, Connection, KINDS, ROWS};
use crate::error::Result;
use crate::listen::{Listener, listen};
use crate::row;
use crate::scan::Scans;
use crate::settings::Builder;
use std::fmt;
use std::io::ErrorKind;
use std::time::Duration;
use wheelhouse_durable::store::{
    Change, ClaimLimit, ClaimResult, Dead, Entry, Key, Kind, Kinds, Leased, Next, Outcome, State,
    Store, StoreError, Timestamp, Waker,
};

/// A store on a Redis or Valkey server. See the [crate](crate) for its data and the server
/// settings.
pub struct RedisStore {
    connection: Connection,
    listener: Option<Listener>,
    scans: Scans,
}

/// The answer of `claim.lua`: the present, when the next job is visible, the number of removed
/// rows, the bodies that are not in the rows; and for each job its key, its row, and whether its
/// earlier lease was lost.
type Claimed = (u64, Option<u64>, usize, Vec<Vec<u8>>, Vec<(Vec<u8>, Vec<u8>, bool)>);

impl RedisStore {
    /// Connects to a queue of a server, and creates the queue if there is none. Examples of URLs:
    /// `redis://user:password@127.0.0.1:6379/0`, `unix:///run/redis.sock`.
    ///
    /// # Errors
    ///
    /// [`Refused`](StoreError::Refused) if the server may lose what it has acknowledged, unless
    /// [`unchecked`](Builder::unchecked); [`Unavailable`](StoreError::Unavailable);
    /// [`Format`](StoreError::Format).
    pub fn connect(url: &str, queue: &str) -> Result<Self, StoreError> {
        Self::builder(url, queue).connect()
    }

    /// Returns a builder, to change settings before connecting.
    pub fn builder(url: &str, queue: &str) -> Builder {
        Builder::new(url, queue)
    }

    /// The format of the queue.
    pub fn format(&self) -> u32 {
        self.connection.format
    }

    pub(crate) fn new(connection: Connection) -> Self {
        Self { connection, listener: None, scans: Scans::default() }
    }

    /// One step of a claim, of at most [`AT_ONCE`] jobs, after earlier steps have leased some.
    /// Returns `true` if more may be visible, and when to claim next.
    fn claim_some(
        &mut self,
        kinds: &Kinds,
        limit: ClaimLimit,
        visibility: Duration,
        into: &mut Vec<Leased>,
    ) -> Result<(bool, Next)> {
        let most = (limit.jobs - into.len()).min(AT_ONCE);
        let bytes = into.iter().map(|leased| leased.job.payload.len()).sum();
        let signed = |bytes: usize| i64::try_from(bytes).unwrap_or(i64::MAX);
        // Negative if the only job so far is longer than the limit.
        let left = signed(limit.bytes) - signed(bytes);
        let (now, next, removed, long_bodies, jobs): Claimed =
            self.connection.change(&CLAIM, Some(kinds), |command| {
                command.arg(0).arg(millis(visibility)).arg(most).arg(left);
                // The first job is leased however long it is.
                command.arg(u8::from(into.is_empty())).arg(limit.begin_after(into));
                for kind in kinds.iter() {
                    command.arg(&**kind);
                }
                Ok(())
            })?;
        let now = Timestamp::from_millis(now);
        // Fewer rows: no more are visible, or the next one exceeds the limit of bytes.
        let has_more = removed + jobs.len() >= most;
        let mut long_bodies = long_bodies.into_iter();
        for (key, row, was_lost) in jobs {
            let body = if row::has_body_apart(&row) { long_bodies.next() } else { None };
            let job = row::entry(&key, &row, &body.unwrap_or_default())?;
            let (State::Leased(lease) | State::Begun(lease)) = job.state else {
                return Err(StoreError::Damaged(format!("the claim script leased {job:?}")));
            };
            debug_assert!(lease.until > now, "the lease has a length: {job:?}");
            let newest = into.last().map(|before| before.token);
            debug_assert!(newest < Some(lease.token), "tokens grow: {job:?}");
            into.push(Leased { job, token: lease.token, until: lease.until, was_lost });
        }
        Ok((has_more, Next { now, visible_at: next.map(Timestamp::from_millis) }))
    }

    /// Learns the kinds of new jobs, and of dead letters to be revived, so that the call names
    /// their orders. The kinds of stored jobs are in the queue's set of kinds.
    fn learn_kinds(&mut self, changes: &[Change]) -> Result<()> {
        let mut revived = redis::cmd("HMGET");
        revived.arg(&self.connection.keys.dead);
        let mut letters = Vec::new();
        for change in changes {
            match change {
                Change::Put(put) if !self.connection.kinds.contains(&*put.kind) => {
                    self.connection.kinds.insert(put.kind.to_string());
                }
                Change::Revive { generation, .. } => letters.push(*generation),
                _ => {}
            }
        }
        if letters.is_empty() {
            return Ok(());
        }
        let letters: Vec<Option<Vec<u8>>> = self.connection.query(revived.arg(letters))?;
        for letter in letters.into_iter().flatten() {
            self.connection.kinds.insert(row::dead(&letter)?.job.kind.to_string());
        }
        Ok(())
    }

    /// The rows of these keys. Keys without a row are left out.
    fn rows(&mut self, keys: &[Key]) -> Result<Vec<Entry>> {
        type Parts = Vec<Option<Vec<u8>>>;
        let mut rows = Vec::with_capacity(keys.len());
        for keys in keys.chunks(AT_ONCE) {
            let (found, bodies): (Parts, Parts) =
                self.connection.read(&ROWS, Some(&Kinds::default()), |command| {
                    command.arg(keys.len());
                    for key in keys {
                        command.arg(key.as_bytes());
                    }
                    Ok(())
                })?;
            for (key, (row, body)) in keys.iter().zip(found.into_iter().zip(bodies)) {
                if let Some(row) = row {
                    rows.push(row::entry(key.as_bytes(), &row, &body.unwrap_or_default())?);
                }
            }
        }
        Ok(rows)
    }
}

/// Ways to connect.
impl Builder {
    /// Connects.
    ///
    /// # Errors
    ///
    /// As [`RedisStore::connect`].
    pub fn connect(self) -> Result<RedisStore, StoreError> {
        Ok(RedisStore::new(Connection::open(self.checked()?)?))
    }

    /// Connects at the first call. So a program can start on several stores
    /// ([`start_shards`](wheelhouse_durable::Builder::start_shards)) while this one is unreachable.
    /// The first call that reaches the server checks it like [`connect`](Self::connect).
    ///
    /// # Errors
    ///
    /// [`Refused`](StoreError::Refused) if a setting or the URL is wrong.
    pub fn connect_later(self) -> Result<RedisStore, StoreError> {
        Ok(RedisStore::new(Connection::later(self.checked()?)?))
    }

    /// Connects to an existing queue to read it: the queue is not created, calls that change
    /// something are refused, and the settings of the server are not checked. A claim of 0
    /// jobs works. (`kinds` still removes names of kinds that have no job.)
    ///
    /// # Errors
    ///
    /// As [`connect`](Self::connect); [`Refused`](StoreError::Refused) if there is no such queue.
    pub fn connect_to_read(self) -> Result<RedisStore, StoreError> {
        Self { only_reads: true, unchecked: true, ..self }.connect()
    }
}

impl Store for RedisStore {
    /// In steps of 512 changes. Each step is carried out completely or not at all. If a later step
    /// fails, the earlier ones stay. A full server refuses the first step if the batch has a new
    /// job.
    fn commit(&mut self, changes: &[Change]) -> Result<Vec<Outcome>, StoreError> {
        self.connection.settings.may_write()?;
        let mut outcomes = Vec::with_capacity(changes.len());
        let new = changes.iter().filter(|change| is_new(change)).count();
        for some in changes.chunks(AT_ONCE) {
            self.learn_kinds(some)?;
            let answer = self.connection.change(&COMMIT, None, |command| {
                command.arg(some.len());
                some.iter().for_each(|change| commit::add_key(command, change));
                let has_letters = some.iter().any(|change| change.key().is_none());
                command.arg(if new == 0 { 0 } else { 1 + u8::from(has_letters) });
                some.iter().try_for_each(|change| commit::add_to(command, change))
            });
            let can_be_divided = outcomes.is_empty() && (1..changes.len()).contains(&new);
            let answer: Vec<u8> = answer.map_err(|error| full(error, can_be_divided))?;
            debug_assert_eq!(answer.len(), some.len(), "the script answers each change");
            for letter in answer {
                outcomes.push(commit::outcome(letter)?);
            }
        }
        Ok(outcomes)
    }

    /// In steps of 512 jobs.
    fn claim(&mut self, kinds: &Kinds, limit: ClaimLimit, visibility: Duration) -> ClaimResult {
        if limit.jobs > 0 {
            self.connection.settings.may_write()?;
        }
        let mut leased = Vec::new();
        loop {
            let (has_more, next) = self.claim_some(kinds, limit, visibility, &mut leased)?;
            if !has_more || leased.len() == limit.jobs {
                return Ok((leased, next));
            }
        }
    }

    fn wake_by(&mut self, waker: Waker) {
        self.listener = Some(listen(&self.connection, waker));
    }

    fn find(&mut self, key: &Key) -> Result<Option<Entry>, StoreError> {
        Ok(self.rows(std::slice::from_ref(key))?.pop())
    }

    /// In the order of the server's hash table. Over all pages, each row that stays is seen once;
    /// while the table grows or shrinks, possibly more often. O(page) if `after` is the last row of
    /// a page of the last 16 listings, otherwise O(n). Another server, or the same after a restart,
    /// has another order: a listing that was begun before fails.
    fn scan(&mut self, after: Option<&Key>, max: usize) -> Result<Vec<Entry>, StoreError> {
        let mut rows = Vec::new();
        let mut scan = self.scans.begin_after(&mut self.connection, after)?;
        while rows.len() < max {
            let keys = scan.page(&mut self.connection, max - rows.len())?;
            if keys.is_empty() {
                break;
            }
            rows.extend(self.rows(&keys)?);
        }
        if let Some(row) = rows.last() {
            scan.last = Some(row.key.clone());
            self.scans.remember(scan, after);
        }
        Ok(rows)
    }

    fn dead(&mut self, after: Option<u64>, max: usize) -> Result<Vec<Dead>, StoreError> {
        let from = after.map_or_else(|| "-inf".to_owned(), |after| format!("({after}"));
        let mut command = redis::cmd("ZRANGEBYSCORE");
        command.arg(&self.connection.keys.dead_order).arg(from).arg("+inf");
        command.arg("LIMIT").arg(0).arg(max);
        let generations: Vec<u64> = self.connection.query(&command)?;
        if generations.is_empty() {
            return Ok(Vec::new());
        }
        let mut command = redis::cmd("HMGET");
        command.arg(&self.connection.keys.dead).arg(generations);
        let letters: Vec<Option<Vec<u8>>> = self.connection.query(&command)?;
        letters.into_iter().flatten().map(|letter| row::dead(&letter)).collect()
    }

    fn kinds(&mut self) -> Result<Vec<(Kind, Timestamp)>, StoreError> {
        let kinds: Vec<(String, u64)> = self.connection.read(&KINDS, None, |command| {
            command.arg(0);
            Ok(())
        })?;
        let kinds = kinds.into_iter();
        Ok(kinds.map(|(kind, first)| (kind.into(), Timestamp::from_millis(first))).collect())
    }

    fn beside(&mut self) -> Result<Option<Box<dyn Store>>, StoreError> {
        let settings = self.connection.settings.clone();
        let connect = if self.connection.is_new() { Connection::later } else { Connection::open };
        let second = connect(settings)?;
        Ok(Some(Box::new(Self::new(second))))
    }
}

/// Returns `true` for a change that a full server refuses.
fn is_new(change: &Change) -> bool {
    matches!(change, Change::Put(_) | Change::Revive { .. })
}

/// The error of a commit. If the server is full and the batch also has changes that it accepts, the
/// error is final (`Refused`): then the caller divides the batch.
fn full(error: StoreError, can_be_divided: bool) -> StoreError {
    match error {
        StoreError::Io(error) if can_be_divided && error.kind() == ErrorKind::StorageFull => {
            StoreError::Refused(error.to_string())
        }
        error => error,
    }
}

impl fmt::Debug for RedisStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The URL may have a password.
        let queue = &self.connection.settings.queue;
        f.debug_struct("RedisStore").field("queue", queue).finish_non_exhaustive()
    }
}
