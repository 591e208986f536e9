//! Stores that are unreachable or empty when a program starts on several, or lose their data later.

use super::shard::Place;
use crate::error::StartError;
use crate::store::{
    Change, ClaimLimit, ClaimResult, Dead, Entry, Gauges, Key, Kind, Kinds, Outcome, Store,
    StoreError, Timestamp, Waker,
};
use std::time::Duration;

/// A store whose shard number was read, or will be at its first call. Also the error to report if
/// the store is empty while other shards have jobs.
pub(super) type Asked = (Box<dyn Store>, Option<StoreError>);

/// Reads the shard number of each store before any store is marked, so that a refusal changes no
/// store. A store that cannot be reached is read at its first call, if another can be reached.
///
/// # Errors
///
/// If a store is a different shard; if none can be reached, the error of the last store.
pub(super) fn ask_all(mut stores: Vec<Box<dyn Store>>) -> Result<Vec<Asked>, StartError> {
    let of = stores.len();
    let place = |shard| Place { shard, of };
    let (mut answers, mut used) = (Vec::with_capacity(of), false);
    for (shard, store) in (0..).zip(&mut stores) {
        let place = place(shard);
        answers.push(reached(place.check(store))?);
        if let Some(Ok(false)) = answers.last() {
            used |= reached(place.has_jobs(store))?.unwrap_or(false);
        }
    }
    if answers.iter().all(Result::is_err) {
        answers.pop().transpose().map_err(StartError::Store)?;
    }
    let asked = (0..).zip(stores).zip(answers).map(|((shard, mut store), answer)| {
        let place = place(shard);
        // It may have become unreachable since.
        let marked = match answer {
            Ok(is_new) => reached(place.mark(&mut store))?.map(|()| is_new),
            Err(error) => Err(error),
        };
        let (is_asked, is_lost) = match marked {
            Ok(_) if of == 1 => return Ok((store, None)),
            Err(error) if of == 1 => return Err(error.into()),
            Ok(is_new) => (true, is_new && used),
            Err(_) => (false, false),
        };
        let shard = OneOfSeveral { store, place, is_asked, has_failed: false, used };
        Ok((Box::new(shard) as Box<dyn Store>, is_lost.then(|| place.lost())))
    });
    asked.collect()
}

/// Separates transient errors of a store, after which it may be called again.
fn reached<T>(answer: Result<T, StartError>) -> Result<Result<T, StoreError>, StartError> {
    match answer {
        Err(StartError::Store(error)) if error.is_transient() => Ok(Err(error)),
        answer => answer.map(Ok),
    }
}

/// One of several stores. If it was unreachable at the start, its shard number is read before its
/// first call. If a server loses its data while programs run, the next call fails. After that the
/// shard number is written again before any job: otherwise no program could start on the store.
struct OneOfSeveral {
    store: Box<dyn Store>,
    place: Place,
    is_asked: bool,
    /// `true` if the last commit or claim has failed.
    has_failed: bool,
    /// `true` if other shards have jobs.
    used: bool,
}

impl OneOfSeveral {
    fn ask(&mut self) -> Result<&mut dyn Store, StoreError> {
        if !self.is_asked {
            let is_new = self.place.check(&mut self.store).map_err(of_store)?;
            self.place.mark(&mut self.store).map_err(of_store)?;
            self.is_asked = true;
            if is_new && self.used {
                // Returned once: the next call is carried out.
                return Err(self.place.lost());
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
            self.place.mark(&mut self.store).map_err(of_store)?;
        }
        let answer = call(&mut self.store);
        self.has_failed = matches!(answer, Err(StoreError::Unavailable(_)));
        answer
    }
}

/// Converts an error of the start to an error of a call.
fn of_store(error: StartError) -> StoreError {
    match error {
        StartError::Store(error) => error,
        other => StoreError::Refused(other.to_string()),
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

    fn find(&mut self, key: &Key) -> Result<Option<Entry>, StoreError> {
        self.ask()?.find(key)
    }

    fn scan(&mut self, after: Option<&Key>, max: usize) -> Result<Vec<Entry>, StoreError> {
        self.ask()?.scan(after, max)
    }

    fn dead(&mut self, after: Option<u64>, max: usize) -> Result<Vec<Dead>, StoreError> {
        self.ask()?.dead(after, max)
    }

    fn kinds(&mut self) -> Result<Vec<(Kind, Timestamp)>, StoreError> {
        self.ask()?.kinds()
    }

    fn gauges(&mut self) -> Result<Gauges, StoreError> {
        self.ask()?.gauges()
    }

    /// If the store was unreachable at the start, and no second connection can be opened yet,
    /// claims and commits share this one.
    fn beside(&mut self) -> Result<Option<Box<dyn Store>>, StoreError> {
        let Self { place, is_asked, used, .. } = *self;
        let second = match self.store.beside() {
            Err(_) if !is_asked => None,
            second => second?,
        };
        Ok(second.map(|store| -> Box<dyn Store> {
            Box::new(Self { store, place, is_asked, has_failed: false, used })
        }))
    }
}
