//! Who is put under load. How each is used, and why so: `benches/SERVICE.md`.

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
pub use tasks::{OurTime, Sleeper, Tasks, TokioTime};
pub use timer_crate::TimerCrate;
pub use wheelhouse::{ByHandle, ByKey, Wheelhouse};

use crate::contender::Entry;
use crate::experiments::Experiment::{
    self, Audit, Fires, Idle, PairsBeside, PairsWindow, Periodic, Refresh, RefreshOpened, Schedule,
    Sessions,
};
use std::time::Duration;
use wheelhouse_frame::Contender;

/// What differs by where jobs run, and by what holds the timers.
const RUNS: &[Experiment] = &[PairsWindow, Fires, Audit];

/// What decides for those that have no refresh.
const NO_SESSIONS: &[Experiment] = &[PairsBeside, PairsWindow, Schedule, Fires, Audit, Idle];

/// All facilities, the one under test first.
pub fn all() -> Vec<Box<dyn Contender<Experiment>>> {
    let mut all = ours();
    all.extend(others());
    all.push(Box::new(Machine::Reads));
    all.push(Box::new(Machine::Sleeps));
    all
}

/// Our service, in the ways in which it can be used.
fn ours() -> Vec<Box<dyn Contender<Experiment>>> {
    vec![
        Entry::boxed(
            "wheelhouse",
            "Service with Builder::inline: hierarchical wheels, jobs on the driving thread",
            |tick| Wheelhouse::<ByHandle>::start(tick, None),
        ),
        Entry::of_some(
            "wheelhouse-keys",
            "the same, sessions under a key and refreshed by it",
            &[Refresh, RefreshOpened, Sessions],
            |tick| Wheelhouse::<ByKey>::start(tick, None),
        ),
        Entry::of_some(
            "wheelhouse-1ms",
            "the same with a tick of a millisecond",
            &[Fires, Periodic],
            |_| Wheelhouse::<ByHandle>::start(Duration::from_millis(1), None),
        ),
        Entry::of_some(
            "wheelhouse-1us",
            "the same with a tick of a microsecond, and no timer slack",
            &[Fires],
            |_| Wheelhouse::<ByHandle>::finest(),
        ),
        Entry::of_some(
            "wheelhouse-workers",
            "the same, jobs on two workers, the default here",
            RUNS,
            |tick| Wheelhouse::<ByHandle>::start(tick, Some(2)),
        ),
        Entry::of_some(
            "wheelhouse-heap",
            "the same on the binary heap",
            RUNS,
            Wheelhouse::<ByHandle>::on_heap,
        ),
        Entry::of_some(
            "wheelhouse-sleep",
            "a task for each job on tokio's usual runtime, which sleeps by our service",
            &[PairsBeside, Fires],
            Tasks::on_service,
        ),
    ]
}

/// The facilities of others.
fn others() -> Vec<Box<dyn Contender<Experiment>>> {
    vec![
        Entry::boxed(
            "tokio-sleep",
            "a task for each job that sleeps, on tokio's usual runtime",
            Tasks::many_threads,
        ),
        Entry::of_some(
            "tokio-sleep-1",
            "the same on tokio's runtime of one thread",
            RUNS,
            Tasks::one_thread,
        ),
        Entry::boxed(
            "tokio-delay-queue",
            "tokio-util's DelayQueue, in a task fed by a channel",
            |_| Queue::start(),
        ),
        Entry::of_some(
            "async-io",
            "a task for each job that waits for async-io's Timer, on one thread",
            NO_SESSIONS,
            |_| AsyncIo::start(),
        ),
        Entry::of_some(
            "timer-crate",
            "the crate timer: a heap and two threads; what is cancelled stays in the heap",
            NO_SESSIONS,
            |_| Ok(TimerCrate::start()),
        ),
        Entry::boxed("heap-and-condvar", "a binary heap, a mutex and a condition variable", |_| {
            HeapAndCondvar::start()
        }),
        Entry::of_some(
            "heap-lazy",
            "the same; a refresh only writes the new time to the job",
            &[Refresh, RefreshOpened, Sessions],
            |_| HeapAndCondvar::lazy(),
        ),
    ]
}
