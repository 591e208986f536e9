//! An iterator over all jobs.

use crate::handle::Handle;
use crate::job_handle::JobHandle;
use std::fmt;
use std::vec::IntoIter;

/// All jobs that are scheduled and not over: from [`Handle::jobs`].
///
/// Jobs are collected in portions, each under the lock of one shard, so that listing a million jobs
/// blocks no other thread for long. A job that exists from the first step to the last is listed
/// once. A job that is scheduled or ends during the iteration may be listed or not.
pub struct Jobs {
    timers: Handle,
    shard: u32,
    /// The index in the shard at which the next portion begins.
    next: u32,
    found: IntoIter<JobHandle>,
}

impl Handle {
    /// Iterates over the handles of all jobs that are scheduled and not over, in any order. A
    /// handle returns name, key, next time, runs and last error of its job. Futures of the
    /// [`future`](crate::future) module are not listed.
    ///
    /// O(n) in total. Each step takes the lock of a shard at most once, and each question to a
    /// handle takes it again.
    ///
    /// ```
    /// use std::time::Duration;
    /// use wheelhouse_service::Scheduler;
    ///
    /// fn main() -> Result<(), Box<dyn std::error::Error>> {
    ///     let scheduler = Scheduler::builder().build()?;
    ///     let timers = scheduler.handle();
    ///     timers.every(Duration::from_secs(60)).named("report").run(|_| ())?;
    ///     timers.after(Duration::from_secs(5)).key("session 1").run(|_| ())?;
    ///     for job in timers.jobs() {
    ///         let (next, runs, error) = (job.remaining(), job.runs(), job.last_error());
    ///         println!("{job}: {:?}, next in {next:?}, {runs} runs, {error:?}", job.status());
    ///     }
    ///     assert_eq!(timers.jobs().filter(|job| job.key().is_some()).count(), 1);
    ///     Ok(())
    /// }
    /// ```
    pub fn jobs(&self) -> Jobs {
        Jobs { timers: self.clone(), shard: 0, next: 0, found: Vec::new().into_iter() }
    }
}

impl Iterator for Jobs {
    type Item = JobHandle;

    fn next(&mut self) -> Option<JobHandle> {
        loop {
            if let Some(job) = self.found.next() {
                return Some(job);
            }
            let shards = self.timers.shards();
            if self.shard as usize == shards.count() {
                return None;
            }
            let (found, next) = shards.with(self.shard, |state| state.list(self.next));
            self.next = next.unwrap_or(0);
            let handle = |(id, info)| self.timers.job_handle(id, info);
            self.found = found.into_iter().map(handle).collect::<Vec<_>>().into_iter();
            self.shard += u32::from(next.is_none());
        }
    }
}

impl fmt::Debug for Jobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Jobs").field("shard", &self.shard).finish_non_exhaustive()
    }
}
