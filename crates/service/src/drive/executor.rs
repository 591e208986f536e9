//! Where runs are carried out: on the leading thread, or on a custom executor.

use super::async_run::AsyncRun;
use super::due_run::DueRun;
use crate::guard::guarded;
use crate::handle::Handle;
use crate::shard::ReadyItem;

pub(super) type Executor = Box<dyn Fn(DueRun) + Send + Sync>;

pub(super) type Spawner = Box<dyn Fn(AsyncRun) + Send + Sync>;

/// Where runs that are handed out go: to the leading thread, unless there is an executor.
pub(super) struct Runner {
    pub(super) executor: Option<Executor>,
    pub(super) spawner: Option<Spawner>,
}

impl Runner {
    pub(super) fn is_on_leader(&self) -> bool {
        self.executor.is_none()
    }

    /// Hands out a run that needs no place in a group, or has one.
    pub(super) fn launch(&self, run: DueRun) {
        let is_async = run.handed_out().dispatch.is_async;
        // If an executor panics, the run is dropped and reported, and the driver continues.
        match (&self.executor, &self.spawner) {
            (_, Some(spawn)) if is_async => {
                guarded(|| spawn(AsyncRun::new(run, false))).unwrap_or_default();
            }
            (_, None) if is_async => spawn(run),
            (Some(executor), _) => guarded(|| executor(run)).unwrap_or_default(),
            (None, _) => {
                let timers = run.timers.clone();
                push_ready(&timers, run.into_ready());
            }
        }
    }
}

/// Hands a run to the leading thread, and wakes it. If the queue is closed, the run is dropped.
fn push_ready(timers: &Handle, run: ReadyItem) {
    match timers.shards().ready.push(run) {
        Ok(()) => timers.shards().signal.wake_sleeper(),
        Err(run) => drop_ready(timers, run),
    }
}

/// Closes the queue, and drops the runs in it.
pub(super) fn close_ready(timers: &Handle) {
    timers.shards().ready.close().into_iter().for_each(|run| drop_ready(timers, run));
}

/// Drops a run without a lock, since it owns values of the user. This reports it.
fn drop_ready(timers: &Handle, run: ReadyItem) {
    match run {
        ReadyItem::Run(run, permit) => drop(DueRun::new(timers.clone(), run, Some(permit))),
        ReadyItem::Poll(task) => drop(task),
    }
}

/// Gives an async run to the leading thread, which polls it whenever it is woken.
fn spawn(run: DueRun) {
    let timers = run.timers.clone();
    let schedule = move |runnable| push_ready(&timers, ReadyItem::Poll(runnable));
    let (runnable, task) = async_task::spawn(AsyncRun::new(run, true), schedule);
    task.detach();
    runnable.schedule();
}
