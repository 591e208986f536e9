//! Checks that each store is opened as the shard that it is.
//!
//! A program with another number or order of stores than earlier programs would look up keys in
//! wrong stores: it would find no job to cancel, and schedule a second one under the same key. So
//! each store keeps a row with its shard number and the number of shards. A store that is opened as
//! another shard is refused. A store may also be unreachable or empty when a program starts on
//! several, or lose its data later.

use crate::commit::random_key;
use crate::store::{
    Change, ClaimLimit, ClaimResult, Dead, Entry, Gauges, Key, Kind, Kinds, Outcome, Put, SHARD,
    SHARD_KEY, Store, StoreError, Timestamp, Waker, forward_reads,
};
use std::time::Duration;

/// The number of a shard, from 0, and the number of shards.
#[derive(Clone, Copy)]
pub(super) struct ShardNumber {
    pub(super) shard: usize,
    pub(super) of: usize,
}

impl ShardNumber {
    /// Refuses a store that is a different shard, or that has jobs and is no shard. Changes
    /// nothing. Returns `true` if the store is empty and will become a shard.
    fn check(self, store: &mut dyn Store) -> Result<bool, StoreError> {
        match said(store)? {
            None if self.of == 1 => Ok(false),
            None if !has_jobs(store)? => Ok(true),
            // Another program has marked it since.
            None if said(store)?.is_some() => Ok(false),
            None => Err(StoreError::Refused(format!(
                "a store that has jobs or dead letters cannot become {}: their keys may belong to \
                 other shards; use empty stores or new queues, and let these jobs finish",
                self.text()
            ))),
            Some(found) => self.compare(&found).map(|()| false),
        }
    }

    /// Returns the error for a store that is empty while other shards have jobs.
    fn lost(self) -> StoreError {
        let why = format!(
            "{} is empty, and other shards have jobs: its data were lost, or it is a different \
             store than before. It is used as a new store from now on; if it had jobs, stop and \
             restore it",
            self.text()
        );
        StoreError::Unavailable(why.into())
    }

    /// Writes the shard number to a store that has none. Returns `true` if it did.
    fn mark(self, store: &mut dyn Store) -> Result<bool, StoreError> {
        let mut is_marked = false;
        if said(store)?.is_none() {
            // If another program was first, its row stays.
            let row = Put::reserved(key(), SHARD, self.text().into_bytes());
            is_marked = store.commit(&[Change::Put(row)])? == [Outcome::Done];
        }
        let found = said(store)?.unwrap_or_else(|| "a store with a job of that key".to_owned());
        self.compare(&found).map(|()| is_marked)
    }

    fn compare(self, found: &str) -> Result<(), StoreError> {
        if found == self.text() {
            return Ok(());
        }
        Err(StoreError::Refused(format!(
            "a store that is {found} was opened as {}: start with all the stores that it belongs \
             to, each once, in the same order in every program",
            self.text()
        )))
    }

    /// The text of the shard number in messages and in the store.
    pub(super) fn text(self) -> String {
        match self.of {
            1 => "a store by itself".to_owned(),
            of => format!("shard {} of {of}", self.shard + 1),
        }
    }

    /// Returns the part of this shard if `whole` is divided among all shards: at least 1.
    pub(super) fn part(self, whole: usize) -> usize {
        let rest = usize::from(self.shard < whole % self.of);
        (whole / self.of + rest).max(1)
    }
}

fn said(store: &mut dyn Store) -> Result<Option<String>, StoreError> {
    Ok(store.find(&key())?.and_then(|row| row.shard()))
}

/// Returns `true` if a store has a job or a dead letter. Other rows are pauses, and the number of a
/// shard.
fn has_jobs(store: &mut dyn Store) -> Result<bool, StoreError> {
    let mut after = None;
    loop {
        let page = store.scan(after.as_ref(), 32)?;
        let Some(last) = page.last() else { return Ok(!store.dead(None, 1)?.is_empty()) };
        if !page.iter().all(|row| row.key.is_reserved()) {
            return Ok(true);
        }
        after = Some(last.key.clone());
    }
}

fn key() -> Key {
    Key::new(SHARD_KEY).expect("it is not too long")
}

/// A store whose shard number was read, or will be at its first call. Also the error to report if
/// the store is empty while other shards have jobs.
pub(super) type Asked = (Box<dyn Store>, Option<StoreError>);

/// Reads the shard number of each store before any store is marked, so that a refusal changes no
/// store. A store that cannot be reached is read at its first call, if another can be reached. If
/// none can be, returns the error of the last one.
pub(super) fn ask_all(mut stores: Vec<Box<dyn Store>>) -> Result<Vec<Asked>, StoreError> {
    let of = stores.len();
    let number = |shard| ShardNumber { shard, of };
    let (mut answers, mut used) = (Vec::with_capacity(of), false);
    for (shard, store) in (0..).zip(&mut stores) {
        let answer = reached(number(shard).check(store))?;
        if let Ok(false) = answer {
            used |= reached(has_jobs(store))?.unwrap_or(false);
        }
        answers.push(answer);
    }
    if answers.iter().all(Result::is_err) {
        answers.pop().transpose()?;
    }
    if of == 1 {
        return Ok(stores.into_iter().map(|store| (store, None)).collect());
    }
    refuse_twice(&mut stores, &answers)?;
    let mark = |((shard, store), answer): ((usize, &mut Box<dyn Store>), Result<bool, _>)| {
        // It may have become unreachable since.
        reached(answer.and_then(|_| number(shard).mark(store)))
    };
    let marked = (0..).zip(&mut stores).zip(answers).map(mark).collect::<Result<Vec<_>, _>>()?;
    let asked = (0..).zip(stores).zip(marked).map(|((shard, store), marked)| {
        let number = number(shard);
        let (is_asked, is_lost) = (marked.is_ok(), marked.is_ok_and(|is_new| is_new && used));
        let shard = OneOfSeveral { store, number, is_asked, has_failed: false, used };
        (Box::new(shard) as Box<dyn Store>, is_lost.then(|| number.lost()))
    });
    Ok(asked.collect())
}

/// Refuses a store that is named twice and would become a shard, before any store is marked. A mark
/// cannot be removed later, because another program may have read it.
///
/// If a row was written to one of them, the other has it too. The row pauses a kind that has no
/// jobs, so it does no harm if it stays after a crash.
fn refuse_twice(
    stores: &mut [Box<dyn Store>],
    answers: &[Result<bool, StoreError>],
) -> Result<(), StoreError> {
    let new = answers.iter().map(|answer| matches!(answer, Ok(true)));
    let mut new: Vec<_> = stores.iter_mut().zip(new).filter(|its| its.1).map(|its| its.0).collect();
    if new.len() < 2 {
        return Ok(());
    }
    let name = random_key().to_string();
    let [put, cancel] = [Change::pause(Some(&name)), Change::resume(Some(&name))];
    let (put, cancel) = (put.expect("a short name"), cancel.expect("a short name"));
    // If a store fails, its mark fails as well, or is refused.
    let mut is_twice = |store: &mut &mut Box<dyn Store>| {
        let outcomes = store.commit(std::slice::from_ref(&put));
        outcomes.is_ok_and(|outcomes| outcomes == [Outcome::Duplicate])
    };
    let found = new.iter_mut().any(&mut is_twice);
    for store in new {
        store.commit(std::slice::from_ref(&cancel)).map(drop).unwrap_or_default();
    }
    match found {
        false => Ok(()),
        true => Err(StoreError::Refused(
            "a store is named twice: start with all the stores, each once, in the same order in \
             every program"
                .into(),
        )),
    }
}

/// Separates transient errors of a store, after which it may be called again.
fn reached<T>(answer: Result<T, StoreError>) -> Result<Result<T, StoreError>, StoreError> {
    match answer {
        Err(error) if !error.is_transient() => Err(error),
        answer => Ok(answer),
    }
}

/// One of several stores. If it was unreachable at the start, its shard number is read before its
/// first call. If a server loses its data while programs run, the next call fails. After that the
/// shard number is written again before any job: otherwise no program could start on the store.
struct OneOfSeveral {
    store: Box<dyn Store>,
    number: ShardNumber,
    is_asked: bool,
    /// `true` if the last commit or claim has failed.
    has_failed: bool,
    /// `true` if other shards have jobs.
    used: bool,
}

impl OneOfSeveral {
    fn ask(&mut self) -> Result<&mut dyn Store, StoreError> {
        if !self.is_asked {
            self.number.check(&mut self.store)?;
            let is_new = self.number.mark(&mut self.store)?;
            self.is_asked = true;
            if is_new && self.used {
                // Returned once: the next call is carried out.
                return Err(self.number.lost());
            }
        }
        Ok(&mut *self.store)
    }

    /// Makes a call that may change jobs.
    fn change<T>(
        &mut self,
        call: impl FnOnce(&mut dyn Store) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.ask()?;
        if self.has_failed {
            self.number.mark(&mut self.store)?;
        }
        let answer = call(&mut self.store);
        self.has_failed = matches!(answer, Err(StoreError::Unavailable(_)));
        answer
    }
}

impl Store for OneOfSeveral {
    fn commit(&mut self, changes: &[Change]) -> Result<Vec<Outcome>, StoreError> {
        self.change(|store| store.commit(changes))
    }

    fn claim(&mut self, kinds: &Kinds, limit: ClaimLimit, visibility: Duration) -> ClaimResult {
        self.change(|store| store.claim(kinds, limit, visibility))
    }

    fn wake_by(&mut self, waker: Waker) {
        self.store.wake_by(waker);
    }

    forward_reads!(self => self.ask()?);

    /// If the store was unreachable at the start, and no second connection can be opened yet,
    /// claims and commits share this one.
    fn beside(&mut self) -> Result<Option<Box<dyn Store>>, StoreError> {
        let Self { number, is_asked, used, .. } = *self;
        let second = match self.store.beside() {
            Err(_) if !is_asked => None,
            second => second?,
        };
        Ok(second.map(|store| -> Box<dyn Store> {
            Box::new(Self { store, number, is_asked, has_failed: false, used })
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_divided_is_neither_more_nor_less() {
        let parts =
            |whole, of| (0..of).map(|shard| ShardNumber { shard, of }.part(whole)).collect();
        let three: [Vec<usize>; 3] = [parts(256, 3), parts(3, 3), parts(1, 3)];
        assert_eq!(three, [vec![86, 85, 85], vec![1; 3], vec![1; 3]]);
    }
}
