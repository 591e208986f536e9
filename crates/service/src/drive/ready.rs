//! Hands runs to the leading thread.

use super::async_run::AsyncRun;
use super::due_run::DueRun;
use crate::handle::Handle;
use crate::shard::ReadyItem;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Hands a run to the leading thread, and wakes it. If the queue is closed, the run is dropped.
pub(crate) fn push(timers: &Handle, run: ReadyItem) {
    timers.shards().push_ready(run).unwrap_or_else(|run| discard(timers, run));
}

/// The same for a closure that has a place in its group, if it needs one.
pub(super) fn push_run(run: DueRun) {
    let timers = run.timers().clone();
    run.into_ready().into_iter().for_each(|run| push(&timers, run));
}

/// Closes the queue, and drops the runs in it.
pub(super) fn close(timers: &Handle) {
    timers.shards().ready.close().into_iter().for_each(|run| discard(timers, run));
}

/// Drops a run without a lock, since it owns values of the user. This reports it.
fn discard(timers: &Handle, run: ReadyItem) {
    match run {
        ReadyItem::Run(run, permit) => drop(DueRun::new(timers.clone(), run, permit)),
        ReadyItem::Due(run) => drop(DueRun::new(timers.clone(), run, None)),
        ReadyItem::Poll(task) => drop(task),
    }
}

/// Gives an async run to the leading thread, which polls it whenever it is woken.
pub(super) fn spawn(run: DueRun) {
    let timers = run.timers().clone();
    timers.shards().ready.add_task();
    let task = Task { run: AsyncRun::new(run), _counted: Counted(timers.clone()) };
    let schedule = move |runnable| push(&timers, ReadyItem::Poll(runnable));
    let (runnable, task) = async_task::spawn(task, schedule);
    task.detach();
    runnable.schedule();
}

/// An async run. Fields are dropped in order, so the run is dropped before it is counted as gone.
struct Task {
    run: AsyncRun,
    _counted: Counted,
}

impl Future for Task {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.run).poll(context)
    }
}

struct Counted(Handle);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.shards().ready.remove_task();
    }
}
