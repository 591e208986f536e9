//! The facilities under load. `benches/SERVICE.md` says how each is used, and why.

mod async_io;
mod delay_queue;
mod heap;
mod machine;
mod sessions;
mod tasks;
mod timer_crate;
mod wheelhouse;

pub use async_io::AsyncIo;
pub use delay_queue::Queue;
pub use heap::HeapAndCondvar;
pub use machine::Machine;
pub use tasks::{ServiceTime, SleepSource, Tasks, TokioTime};
pub use timer_crate::TimerCrate;
pub use wheelhouse::{ByHandle, ByKey, Wheelhouse};

use crate::contender::Entry;
use crate::experiments::Experiment::{
    self, Audit, Fires, Fires300k, Idle, MillisecondJobs, PairsBeside, PairsWindow, Periodic,
    Producers, Refresh, RefreshOpened, Schedule, Server, Sessions, SlowJobs,
};
use std::time::Duration;
use wheelhouse_frame::Contender;

/// Experiments whose results depend on where jobs run, and on the structure of the timers.
const RUNS: &[Experiment] = &[PairsWindow, Fires, Audit];

/// Experiments in which it matters that one thread runs all jobs.
const ONE_THREAD: &[Experiment] = &[Fires, Fires300k, SlowJobs, Audit];

/// The main experiments for facilities without a refresh.
const NO_SESSIONS: &[Experiment] = &[PairsBeside, PairsWindow, Schedule, Fires, Audit, Idle];

/// All facilities, the one under test first.
pub fn all() -> Vec<Box<dyn Contender<Experiment>>> {
    let mut all = ours();
    all.extend(tasks());
    all.extend(others());
    all.push(Box::new(Machine::Reads));
    all.push(Box::new(Machine::Sleeps));
    all
}

/// Our service, in several configurations.
fn ours() -> Vec<Box<dyn Contender<Experiment>>> {
    vec![
        Entry::boxed(
            "wheelhouse",
            "Service::start() at a tick of 50 us: hierarchical wheels, jobs on a pool",
            Wheelhouse::<ByHandle>::start,
        ),
        Entry::of_some(
            "wheelhouse-1",
            "the same with one thread, Builder::workers(1)",
            ONE_THREAD,
            Wheelhouse::<ByHandle>::with_one_worker,
        ),
        Entry::of_some(
            "wheelhouse-keys",
            "the service with a pool; each session has a key and is refreshed by it",
            &[Refresh, RefreshOpened, Sessions],
            Wheelhouse::<ByKey>::start,
        ),
        Entry::of_some(
            "wheelhouse-1ms",
            "the service with a pool and a tick of a millisecond",
            &[Fires, Periodic],
            |_| Wheelhouse::<ByHandle>::start(Duration::from_millis(1)),
        ),
        Entry::of_some(
            "wheelhouse-1us",
            "the service with a pool, and a tick and a timer slack of a microsecond",
            &[Fires],
            |_| Wheelhouse::<ByHandle>::finest(),
        ),
        Entry::of_some(
            "wheelhouse-heap",
            "the service with a pool, on the binary heap",
            RUNS,
            Wheelhouse::<ByHandle>::on_heap,
        ),
    ]
}

/// Facilities on a tokio runtime.
fn tasks() -> Vec<Box<dyn Contender<Experiment>>> {
    vec![
        Entry::of_some(
            "wheelhouse-sleep",
            "a task for each job on tokio's usual runtime, sleeping with our service",
            &[PairsBeside, Fires],
            Tasks::on_service,
        ),
        Entry::of_all_but(
            "tokio-sleep",
            "a task for each job that sleeps, on tokio's usual runtime",
            &[Producers],
            Tasks::many_threads,
        ),
        Entry::of_some(
            "tokio-sleep-1",
            "the same on tokio's runtime of one thread",
            RUNS,
            Tasks::one_thread,
        ),
        Entry::of_all_but(
            "tokio-delay-queue",
            "tokio-util's DelayQueue, in a task fed by a channel",
            &[Producers, SlowJobs, MillisecondJobs],
            |_| Queue::start(),
        ),
    ]
}

/// Facilities of others, without tokio.
fn others() -> Vec<Box<dyn Contender<Experiment>>> {
    vec![
        Entry::of_some(
            "async-io",
            "a task for each job that waits for async-io's Timer, on one thread",
            NO_SESSIONS,
            |_| AsyncIo::start(),
        ),
        Entry::of_some(
            "timer-crate",
            "the crate timer: a heap and two threads; cancelled callbacks stay in the heap",
            NO_SESSIONS,
            |_| Ok(TimerCrate::start()),
        ),
        Entry::of_all_but(
            "heap-and-condvar",
            "a binary heap, a mutex and a condition variable",
            &[MillisecondJobs],
            |_| HeapAndCondvar::start(),
        ),
        Entry::of_some(
            "heap-lazy",
            "the same, but a refresh only writes the new time to the job",
            &[Refresh, RefreshOpened, Sessions, Server],
            |_| HeapAndCondvar::lazy(),
        ),
        Entry::of_some(
            "heap-and-pool",
            "heap-and-condvar that hands jobs to a pool of threads through a channel",
            &[SlowJobs, MillisecondJobs],
            |_| HeapAndCondvar::with_pool(),
        ),
    ]
}
