//! The facilities under load. `benches/SERVICE.md` says how each is used, and why.

mod async_io;
mod delay_queue;
mod heap;
mod machine;
mod sessions;
mod tasks;
mod wheelhouse;

pub use heap::HeapAndCondvar;
pub(crate) use machine::Machine;

use async_io::AsyncIo;
use delay_queue::Queue;
use tasks::Tasks;
use wheelhouse::{ByHandle, ByKey, Wheelhouse};

use crate::contender::Entry;
use crate::experiments::Experiment::{
    self, Audit, Fires, Fires300k, Idle, MillisecondJobs, PairsBeside, PairsWindow, Periodic,
    Producers, Refresh, RefreshOpened, Schedule, Server, Sessions, SlowJobs,
};
use std::time::Duration;
use wheelhouse_binary_heap::BinaryHeap;
use wheelhouse_frame::Contender;

/// Experiments whose results depend on where jobs run, and on the structure of the timers.
fn depends_on_threads(it: Experiment) -> bool {
    matches!(it, PairsWindow | Fires | Audit)
}

/// All facilities, the one under test first.
pub fn all() -> Vec<Box<dyn Contender<Experiment>>> {
    let mut all = ours();
    all.extend(tasks());
    all.extend(others());
    all.push(Box::new(Machine::READS));
    all.push(Box::new(Machine::SLEEPS));
    all
}

/// Our service, in several configurations.
fn ours() -> Vec<Box<dyn Contender<Experiment>>> {
    vec![
        Entry::boxed(
            "wheelhouse",
            "Service::start() at a tick of 50 us: hierarchical wheels, jobs on a pool",
            |_| true,
            |tick| Wheelhouse::<ByHandle>::start(tick, |builder| builder),
        ),
        Entry::boxed(
            "wheelhouse-1",
            "the same with one thread, Builder::workers(1)",
            |it| matches!(it, Fires | Fires300k | SlowJobs | Audit),
            |tick| Wheelhouse::<ByHandle>::start(tick, |builder| builder.workers(1)),
        ),
        Entry::boxed(
            "wheelhouse-keys",
            "the service with a pool; each session has a key and is refreshed by it",
            |it| matches!(it, Refresh | RefreshOpened | Sessions),
            |tick| Wheelhouse::<ByKey>::start(tick, |builder| builder),
        ),
        Entry::boxed(
            "wheelhouse-1ms",
            "the service with a pool and a tick of a millisecond",
            |it| matches!(it, Fires | Periodic),
            |_| Wheelhouse::<ByHandle>::start(Duration::from_millis(1), |builder| builder),
        ),
        Entry::boxed(
            "wheelhouse-1us",
            "the service with a pool, and a tick and a timer slack of a microsecond",
            |it| it == Fires,
            // At this tick the service also reduces the timer slack of Linux.
            |_| Wheelhouse::<ByHandle>::start(Duration::from_micros(1), |builder| builder),
        ),
        Entry::boxed(
            "wheelhouse-heap",
            "the service with a pool, on the binary heap",
            depends_on_threads,
            |tick| Wheelhouse::<ByHandle>::start(tick, |its| its.backend(BinaryHeap::new())),
        ),
    ]
}

/// Facilities on a tokio runtime.
fn tasks() -> Vec<Box<dyn Contender<Experiment>>> {
    vec![
        Entry::boxed(
            "wheelhouse-sleep",
            "a task for each job on tokio's usual runtime, sleeping with our service",
            |it| matches!(it, PairsBeside | Fires),
            Tasks::on_service,
        ),
        Entry::boxed(
            "tokio-sleep",
            "a task for each job that sleeps, on tokio's usual runtime",
            |it| it != Producers,
            Tasks::many_threads,
        ),
        Entry::boxed(
            "tokio-sleep-1",
            "the same on tokio's runtime of one thread",
            depends_on_threads,
            Tasks::one_thread,
        ),
        Entry::boxed(
            "tokio-delay-queue",
            "tokio-util's DelayQueue, in a task fed by a channel",
            |it| !matches!(it, Producers | SlowJobs | MillisecondJobs),
            |_| Queue::start(),
        ),
    ]
}

/// Facilities of others, without tokio.
fn others() -> Vec<Box<dyn Contender<Experiment>>> {
    vec![
        Entry::boxed(
            "async-io",
            "a task for each job that waits for async-io's Timer, on one thread",
            |it| matches!(it, PairsBeside | PairsWindow | Schedule | Fires | Audit | Idle),
            |_| AsyncIo::start(),
        ),
        Entry::boxed(
            "heap-and-condvar",
            "a binary heap, a mutex and a condition variable",
            |it| it != MillisecondJobs,
            |_| HeapAndCondvar::start(),
        ),
        Entry::boxed(
            "heap-lazy",
            "the same, but a refresh only writes the new time to the job",
            |it| matches!(it, Refresh | RefreshOpened | Sessions | Server),
            |_| HeapAndCondvar::lazy(),
        ),
        Entry::boxed(
            "heap-and-pool",
            "heap-and-condvar that hands jobs to a pool of threads through a channel",
            |it| matches!(it, SlowJobs | MillisecondJobs),
            |_| HeapAndCondvar::with_pool(),
        ),
    ]
}
