//! The index of jobs that have a key.

use crate::record::Record;
use indexmap::IndexMap;
use std::sync::Arc;

/// The name under which a job can be found again; at most one job has it at a time.
pub type Key = Arc<str>;

/// Jobs by key.
///
/// An entry is removed by putting the last one in its place, in O(1); to keep the order, all behind it would have to move, and a
/// million sessions that expire would take a million times a million moves. The order of scheduling is in the number of each job,
/// and is restored when somebody asks for it.
#[derive(Default)]
pub(crate) struct Keys {
    jobs: IndexMap<Key, Arc<Record>>,
}

impl Keys {
    pub(crate) fn get(&self, key: &str) -> Option<&Arc<Record>> {
        self.jobs.get(key)
    }

    pub(crate) fn len(&self) -> usize {
        self.jobs.len()
    }

    /// Gives the key to a job, and returns the one that had it.
    pub(crate) fn insert(&mut self, key: Key, record: Arc<Record>) -> Option<Arc<Record>> {
        self.jobs.insert(key, record)
    }

    /// Takes the key from the job, if it is not another's by now.
    pub(crate) fn remove(&mut self, key: &str, record: &Record) {
        if let Some((index, _, holder)) = self.jobs.get_full(key)
            && std::ptr::addr_eq(Arc::as_ptr(holder), record)
        {
            self.jobs.swap_remove_index(index);
        }
    }

    /// The keys with the numbers of their jobs, in any order.
    pub(crate) fn numbered(&self) -> Vec<(u64, Key)> {
        self.jobs.iter().map(|(key, record)| (record.number, Arc::clone(key))).collect()
    }
}

/// The keys in the order in which their jobs were scheduled: O(k log k), and for that reason without the lock that every use of a key wants.
pub(crate) fn in_order(mut keys: Vec<(u64, Key)>) -> Vec<Key> {
    keys.sort_unstable_by_key(|(number, _)| *number);
    keys.into_iter().map(|(_, key)| key).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Moment;
    use crate::due::Due;
    use crate::record::Tags;
    use crate::work::CallOnce;

    fn job(number: u64, key: &str) -> Arc<Record> {
        let tags = Tags { name: None, key: Some(key.into()) };
        let work = CallOnce(Some(|_: &crate::Run<'_>| ()));
        let shared = Arc::clone(crate::Scheduler::builder().build().unwrap().shared());
        Arc::new(Record::new(shared, number, tags, Due::at(Moment::ORIGIN), None, work))
    }

    fn with_jobs(keys: &[&str]) -> (Keys, Vec<Arc<Record>>) {
        let mut index = Keys::default();
        let jobs: Vec<_> = (1..).zip(keys).map(|(number, key)| job(number, key)).collect();
        for (key, job) in keys.iter().zip(&jobs) {
            assert!(index.insert(Key::from(*key), Arc::clone(job)).is_none());
        }
        (index, jobs)
    }

    #[test]
    fn the_order_of_scheduling_survives_removals() {
        let (mut index, jobs) = with_jobs(&["d", "a", "c", "b", "e"]);
        index.remove("d", &jobs[0]);
        index.remove("c", &jobs[2]);
        index.insert("c".into(), job(6, "c"));
        assert_eq!(
            in_order(index.numbered()).iter().map(|key| &**key).collect::<Vec<_>>(),
            ["a", "b", "e", "c"]
        );
    }

    #[test]
    fn a_job_does_not_take_the_key_of_its_successor_away() {
        let (mut index, jobs) = with_jobs(&["a"]);
        let next = job(2, "a");
        let before = index.insert("a".into(), Arc::clone(&next));
        assert!(before.is_some_and(|before| Arc::ptr_eq(&before, &jobs[0])));
        index.remove("a", &jobs[0]);
        assert!(index.get("a").is_some_and(|job| Arc::ptr_eq(job, &next)));
        index.remove("a", &next);
        assert_eq!((index.len(), index.get("a").is_none()), (0, true));
    }
}
