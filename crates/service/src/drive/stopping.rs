//! Stops a service: it refuses new jobs, waits, returns the remaining jobs, and ends its threads.

use super::{Service, Stop, Stopped, give_back, in_order};
use crate::Job;
use crate::guard::discard;
use crate::shard::StopStage;
use crate::sync::thread;
use async_task::{Runnable, Task};
use std::fmt;
use std::pin::Pin;
use std::sync::mpsc::channel;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

impl Service {
    /// Stops the service, and returns the jobs that did not run. Handles refuse new jobs as soon as
    /// the call begins.
    ///
    /// A one-shot job that was not cancelled has either begun its run or is returned, never both. A
    /// job with a run still to come, of its schedule or as a retry, is returned, whether or not it
    /// ran before.
    ///
    /// A job of the service may call this, and so may an observer of its events: the stop then
    /// neither waits for that run nor returns its job. If they call it on the only thread of the
    /// service, nothing else can come due: then a drain returns the other jobs, as
    /// [`WaitFor`](Stop::WaitFor) does, and no stop waits for async jobs that this thread polls.
    pub fn stop(self, mut how: Stop) -> Stopped {
        let shards = self.timers.shards();
        let own = shards.excuse_own_runs();
        let here = thread::current().id();
        if own && matches!(&self.threads[..], [its] if its.thread().id() == here) {
            shards.excuse_polled_runs();
            if let Stop::Drain(longest) = how {
                how = Stop::WaitFor(longest);
            }
        }
        let jobs = self.begin_stop(how, own);
        self.end_stop(how, own, true, jobs)
    }

    /// Stops without blocking: the future is ready when the service has stopped. The stop begins
    /// with the call, whether or not the future is awaited, and continues if the future is dropped.
    /// It uses a thread while it waits.
    ///
    /// If an async job awaits this, the stop does not wait for that job. A [recipe](crate#recipes)
    /// shows it with tokio.
    #[must_use = "the service has stopped when the future is ready"]
    pub fn stop_async(self, how: Stop) -> Stopping {
        let own = self.timers.shards().excuse_own_runs();
        let jobs = self.begin_stop(how, own);
        // Without joining the threads if a job called this: a thread of the pool may wait for the
        // result.
        let stop = move || self.end_stop(how, own, !own, jobs);
        // One by one: if two destructors of a vector panic, the process aborts.
        Stopping::begin(stop, |stopped| stopped.jobs.into_iter().for_each(discard))
    }

    /// Refuses new jobs, and takes back the jobs that will not run.
    fn begin_stop(&self, how: Stop, own: bool) -> Vec<Job> {
        match how {
            Stop::Drain(_) => give_back(&self.timers, false, StopStage::Draining),
            Stop::Now => give_back(&self.timers, true, StopStage::Ending),
            // If a job stops the service, runs that were handed out may wait for its thread: they
            // are taken back too.
            Stop::Wait | Stop::WaitFor(_) => give_back(&self.timers, own, StopStage::Closed),
        }
    }

    /// Waits, and takes back the rest. Joins the threads too, if `join` is set.
    fn end_stop(mut self, how: Stop, own: bool, join: bool, mut jobs: Vec<Job>) -> Stopped {
        let shards = self.timers.shards();
        let ended = match how {
            Stop::Now => false,
            Stop::Wait => shards.wait_for_runs(Duration::MAX, own),
            Stop::WaitFor(longest) => shards.wait_for_runs(longest, own),
            Stop::Drain(longest) => {
                let begin = Instant::now();
                shards.wait_for_drain(longest);
                jobs.extend(give_back(&self.timers, own, StopStage::Closed));
                shards.wait_for_runs(longest.saturating_sub(begin.elapsed()), own)
            }
        };
        if how != Stop::Now {
            // Runs that were handed out and have not begun, jobs that were moved to a later time in
            // the meantime, and jobs that wait for their next run.
            jobs.extend(give_back(&self.timers, true, StopStage::Ending));
        }
        let running = shards.sum(|state| state.runs.begun);
        self.end_threads(ended && join);
        Stopped { jobs: in_order(jobs), running }
    }

    /// Ends the threads, and joins them if `wait` is set. A thread of the service never joins: a
    /// job may stop the service that runs it, and other threads may wait for that job.
    pub(super) fn end_threads(&mut self, wait: bool) {
        self.pool.end();
        let threads = std::mem::take(&mut self.threads);
        let own = thread::current().id();
        if wait && threads.iter().all(|thread| thread.thread().id() != own) {
            for thread in threads {
                let joined = thread.join();
                // The user's code runs guarded.
                debug_assert!(
                    joined.is_ok() || std::thread::panicking(),
                    "a thread of the service has panicked"
                );
            }
        }
    }
}

/// A service that is being stopped: returned by [`Service::stop_async`]. Ready when the service has
/// stopped, with the result of the stop.
#[must_use = "the service has stopped when this is ready"]
pub struct Stopping<T = Stopped> {
    /// `None` when this is dropped.
    stop: Option<Task<Answer<T>>>,
}

/// The result of a stop. If its future was dropped, the task drops this, and a destructor that
/// panics there would abort the process.
struct Answer<T> {
    /// `None` once the future has returned it.
    value: Option<T>,
    /// Drops the value, and catches panics.
    discard: fn(T),
}

impl<T> Drop for Answer<T> {
    fn drop(&mut self) {
        self.value.take().into_iter().for_each(self.discard);
    }
}

impl<T: Send + 'static> Stopping<T> {
    /// Calls `stop` on a new thread, or on this one if no thread can be started. If this is
    /// dropped, `discard` drops the result. It must not panic. For durable timers too.
    #[doc(hidden)]
    pub fn begin(stop: impl FnOnce() -> T + Send + 'static, discard: fn(T)) -> Self {
        let never = |_: Runnable| panic!("it waits for nothing, so it is not woken");
        let answer = async move { Answer { value: Some(stop()), discard } };
        let (runnable, task) = async_task::spawn(answer, never);
        // Through a channel: if no thread can be started, this thread still has it.
        let (sender, stops) = channel::<Runnable>();
        let run = move || stops.into_iter().for_each(|stop| _ = stop.run());
        match thread::Builder::new().name("wheelhouse-stop".to_owned()).spawn(run) {
            Ok(_) => sender.send(runnable).expect("the thread waits for it"),
            Err(_no_thread) => _ = runnable.run(),
        }
        Self { stop: Some(task) }
    }
}

impl<T> Future for Stopping<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let stop = self.stop.as_mut().expect("it is not dropped yet");
        let answer = Pin::new(stop).poll(context);
        answer.map(|mut answer| answer.value.take().expect("it is returned once"))
    }
}

/// The stop continues.
impl<T> Drop for Stopping<T> {
    fn drop(&mut self) {
        self.stop.take().into_iter().for_each(Task::detach);
    }
}

impl<T> fmt::Debug for Stopping<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stopped = self.stop.as_ref().is_some_and(Task::is_finished);
        f.debug_struct("Stopping").field("stopped", &stopped).finish()
    }
}
