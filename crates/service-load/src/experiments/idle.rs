//! An idle facility: how often do its threads wake up although nothing is due?

use super::prelude::*;
use super::schedule::schedule_far_jobs;
use wheelhouse_frame::threads;

pub(super) const NOTES: &[&str] = &[
    "wake-ups: voluntary context switches of the threads that the facility has started, as counted \
     by the kernel. A thread makes one each time that it has woken up and waits again.",
];

const JOBS: u32 = 1_000;

/// The time that all threads have to become quiet.
const QUIET: Duration = Duration::from_millis(50);

pub(super) fn play<F: Facility>(start: &dyn Fn() -> Result<F>, load: &Load) -> Result<Played> {
    let others = threads::all();
    let facility = start()?;
    let ledger = Ledger::new(Instant::now(), JOBS as usize);
    let mut faults =
        Faults { refused: schedule_far_jobs(&facility, &ledger, load.seed), ..Faults::default() };
    facility.settle(JOBS as usize)?;
    thread::sleep(QUIET);
    let before = threads::all();
    thread::sleep(load.idle_time);
    let after = threads::all();
    faults.count(&facility, &[(&ledger, ledger.len())])?;
    facility.stop();
    faults.ran = ledger.runs();
    let own_threads = after.iter().filter(|(id, _)| !others.contains_key(*id));
    let slept_before = |id| before.get(id).map_or(0, |thread| thread.sleeps);
    let wakeups = own_threads.clone().map(|(id, thread)| thread.sleeps - slept_before(id));
    let figures = vec![
        Figure::count("wake-ups", wakeups.sum()).worst(),
        Figure::count("threads", own_threads.count() as u64),
    ];
    let is_reported = !after.is_empty();
    Ok(faults.verdict().map(|()| if is_reported { figures } else { Vec::new() }))
}
