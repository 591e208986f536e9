//! Who is put under load. How each is used, and why so: `benches/SERVICE.md`.

mod delay_queue;
mod heap;
mod tokio_sleep;
mod wheelhouse;

pub use delay_queue::Queue;
pub use heap::HeapAndCondvar;
pub use tokio_sleep::TokioSleep;
pub use wheelhouse::{ByHandle, ByKey, Wheelhouse};

use crate::contender::{Contender, Entry};

/// All facilities, the one under test first.
pub fn all() -> Vec<Box<dyn Contender>> {
    vec![
        Entry::boxed(
            "wheelhouse",
            "Service as it is: hierarchical wheel, jobs on the driving thread",
            |tick| Wheelhouse::<ByHandle>::start(tick, None),
        ),
        Entry::boxed(
            "wheelhouse-keys",
            "the same, sessions under a key and refreshed by it",
            |tick| Wheelhouse::<ByKey>::start(tick, None),
        ),
        Entry::boxed("wheelhouse-workers", "the same, jobs on two workers", |tick| {
            Wheelhouse::<ByHandle>::start(tick, Some(2))
        }),
        Entry::boxed(
            "wheelhouse-heap",
            "the same on the binary heap",
            Wheelhouse::<ByHandle>::on_heap,
        ),
        Entry::boxed(
            "tokio-sleep",
            "a task for each job that sleeps, on tokio's usual runtime",
            TokioSleep::many_threads,
        ),
        Entry::boxed(
            "tokio-sleep-1",
            "the same on tokio's runtime of one thread",
            TokioSleep::one_thread,
        ),
        Entry::boxed(
            "tokio-delay-queue",
            "tokio-util's DelayQueue, in a task fed by a channel",
            |_| Queue::start(),
        ),
        Entry::boxed("heap-and-condvar", "a binary heap, a mutex and a condition variable", |_| {
            HeapAndCondvar::start()
        }),
    ]
}
