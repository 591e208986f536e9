//! Where runs that are handed out are carried out: on the leading thread, or async ones elsewhere.

use super::async_run::AsyncRun;
use crate::guard::guarded;
use crate::handle::Handle;
use crate::shard::{ReadyTask, TaskKind};

/// Carries out runs that were handed out.
pub(super) struct Spawner {
    /// Spawns async runs on the user's runtime. Without it, the leading thread polls them.
    pub(super) elsewhere: Option<Box<dyn Fn(AsyncRun) + Send + Sync>>,
}

impl Spawner {
    /// Spawns a run that needs no place in a group, or has one.
    pub(super) fn spawn(&self, run: AsyncRun) {
        match (&self.elsewhere, run.kind()) {
            // If it panics, the run is dropped and reported, and the driver continues.
            (Some(spawn), TaskKind::Future) => guarded(|| spawn(run)).unwrap_or_default(),
            (_, kind) => spawn_here(run, kind),
        }
    }
}

/// Makes a run a task of the leading thread, which polls it whenever it is woken.
fn spawn_here(mut run: AsyncRun, kind: TaskKind) {
    let timers = run.timers().clone();
    let schedule = move |task: ReadyTask| match timers.shards().ready.push(task) {
        Ok(()) => timers.shards().signal.wake_sleeper(),
        // The queue is closed. Dropped without a lock, since it owns values of the user.
        Err(task) => drop(task),
    };
    if matches!(kind, TaskKind::Future) {
        run.count();
    }
    let (runnable, task) = async_task::Builder::new().metadata(kind).spawn(|_| run, schedule);
    task.detach();
    runnable.schedule();
}

/// Closes the queue, and drops the runs in it, which are reported.
pub(super) fn close_ready(timers: &Handle) {
    timers.shards().ready.close().into_iter().for_each(drop);
}
