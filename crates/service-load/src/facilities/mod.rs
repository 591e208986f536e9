//! The facilities under load. `benches/SERVICE.md` says how each is used, and why.

mod async_io;
mod delay_queue;
mod heap;
mod tasks;
mod wheelhouse;

pub use heap::HeapAndCondvar;

use async_io::AsyncIo;
use delay_queue::Queue;
use wheelhouse::{by_handle, by_key};

use crate::experiments::Experiment::{
    self, Audit, Fires, Fires300k, Idle, MillisecondJobs, PairsBeside, PairsWindow, Periodic,
    Producers, Refresh, RefreshOpened, Schedule, Server, Sessions, SlowJobs,
};
use crate::experiments::{Stream, play_machine};
use crate::facility::Facility;
use crate::load::Load;
use crate::targets::SLEEPER;
use anyhow::Result;
use std::hint::spin_loop;
use std::thread;
use std::time::Duration;
use wheelhouse_binary_heap::BinaryHeap;
use wheelhouse_frame::Contender;

/// Experiments whose results depend on where jobs run, and on the structure of the timers.
fn depends_on_threads(it: Experiment) -> bool {
    matches!(it, PairsWindow | Fires | Audit)
}

/// The row of a facility, with a name, a description, the experiments that it plays, and a function
/// that starts it.
pub fn row<F: Facility + 'static>(
    name: &'static str,
    about: &'static str,
    plays: impl Fn(Experiment) -> bool,
    start: impl Fn() -> Result<F> + Send + Sync + 'static,
) -> Contender<Experiment> {
    Contender::new(name, about, move |experiment: Experiment, load| experiment.play(&start, load))
        .only(plays)
}

/// All facilities, the one under test first.
pub fn all() -> Vec<Contender<Experiment>> {
    ours().into_iter().chain(of_tokio()).chain(others()).chain(without_facility()).collect()
}

/// Our service, in several configurations.
fn ours() -> Vec<Contender<Experiment>> {
    vec![
        row(
            "wheelhouse",
            "Service::start() at a tick of 50 us: hierarchical wheels, jobs on a pool",
            |_| true,
            || by_handle(|builder| builder),
        ),
        row(
            "wheelhouse-1",
            "the same with one thread, Builder::workers(1)",
            |it| matches!(it, Fires | Fires300k | SlowJobs | Audit),
            || by_handle(|builder| builder.workers(1)),
        ),
        row(
            "wheelhouse-keys",
            "the service with a pool; each session has a key and is refreshed by it",
            |it| matches!(it, Refresh | RefreshOpened | Sessions),
            || by_key(|builder| builder),
        ),
        row(
            "wheelhouse-1ms",
            "the service with a pool and a tick of a millisecond",
            |it| matches!(it, Fires | Periodic),
            || by_handle(|its| its.tick(Duration::from_millis(1))),
        ),
        row(
            "wheelhouse-1us",
            "the service with a pool, and a tick and a timer slack of a microsecond",
            |it| it == Fires,
            // At this tick the service also reduces the timer slack of Linux.
            || by_handle(|its| its.tick(Duration::from_micros(1))),
        ),
        row(
            "wheelhouse-heap",
            "the service with a pool, on the binary heap",
            depends_on_threads,
            || by_handle(|its| its.backend(BinaryHeap::new())),
        ),
    ]
}

fn of_tokio() -> Vec<Contender<Experiment>> {
    vec![
        row(
            "wheelhouse-sleep",
            "a task for each job on tokio's usual runtime, sleeping with our service",
            |it| matches!(it, PairsBeside | Fires),
            tasks::on_service,
        ),
        row(
            "tokio-sleep",
            "a task for each job that sleeps, on tokio's usual runtime",
            |it| it != Producers,
            tasks::many_threads,
        ),
        row(
            "tokio-sleep-1",
            "the same on tokio's runtime of one thread",
            depends_on_threads,
            tasks::one_thread,
        ),
        row(
            "tokio-delay-queue",
            "tokio-util's DelayQueue, in a task fed by a channel",
            |it| !matches!(it, Producers | SlowJobs | MillisecondJobs),
            Queue::start,
        ),
    ]
}

/// Facilities of others, without tokio.
fn others() -> Vec<Contender<Experiment>> {
    vec![
        row(
            "async-io",
            "a task for each job that waits for async-io's Timer, on one thread",
            |it| matches!(it, PairsBeside | PairsWindow | Schedule | Fires | Audit | Idle),
            AsyncIo::start,
        ),
        row(
            "heap-and-condvar",
            "a binary heap, a mutex and a condition variable",
            |it| it != MillisecondJobs,
            HeapAndCondvar::start,
        ),
        row(
            "heap-lazy",
            "the same, but a refresh only writes the new time to the job",
            |it| matches!(it, Refresh | RefreshOpened | Sessions | Server),
            || HeapAndCondvar::on_one_thread(true),
        ),
        row(
            "heap-and-pool",
            "heap-and-condvar that hands jobs to a pool of threads through a channel",
            |it| matches!(it, SlowJobs | MillisecondJobs),
            HeapAndCondvar::with_pool,
        ),
    ]
}

/// Two rows without a facility: how long the machine itself keeps a thread from running. A thread
/// only notes when each job would be due, while a producer makes no calls.
fn without_facility() -> [Contender<Experiment>; 2] {
    [
        // This shows stalls of a running thread. No facility can be better.
        machine_row(
            "the-machine",
            "no facility: a thread that only reads the clock sees when each job is due",
            |_| spin_loop(),
        ),
        // As a facility does. This also shows how late the system wakes a thread, with the default
        // timer slack of Linux.
        machine_row(
            SLEEPER,
            "no facility: a thread that only sleeps until each job is due",
            thread::sleep,
        ),
    ]
}

fn machine_row(
    name: &'static str,
    about: &'static str,
    wait: fn(Duration),
) -> Contender<Experiment> {
    let is_played = |it| matches!(it, Fires | Fires300k);
    let play =
        move |experiment, load: &Load| play_machine(load, Stream::of(experiment, load), wait);
    Contender::new(name, about, play).only(is_played).limited()
}
