//! An idle facility: how often do its threads wake up although nothing is due?

use super::schedule::schedule_far_jobs;
use crate::check::Faults;
use crate::facility::Facility;
use crate::ledger::Ledger;
use crate::load::Load;
use anyhow::Result;
use std::collections::HashMap;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};
use wheelhouse_frame::{Figure, Played};

pub(super) const NOTES: &[&str] = &[
    "wake-ups: voluntary context switches of the threads that the facility has started, as counted \
     by the kernel. A thread makes one each time that it has woken up and waits again.",
];

/// The number of pending jobs.
const JOBS: u32 = 1_000;

/// The time that all threads have to become quiet.
const QUIET: Duration = Duration::from_millis(50);

/// The threads of this program, and how often each has gone to sleep so far. Empty if the system
/// does not report it.
fn threads() -> HashMap<String, u64> {
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let sleeps = |task: fs::DirEntry| {
        let status = fs::read_to_string(task.path().join("status")).ok()?;
        Some((task.file_name().into_string().ok()?, sleeps(&status)?))
    };
    tasks.filter_map(sleeps).collect()
}

fn sleeps(status: &str) -> Option<u64> {
    status
        .lines()
        .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?
        .trim()
        .parse()
        .ok()
}

pub(super) fn play<F: Facility>(start: &dyn Fn() -> Result<F>, load: &Load) -> Result<Played> {
    let others = threads();
    let facility = start()?;
    let ledger = Ledger::new(Instant::now(), JOBS as usize);
    let mut faults =
        Faults { refused: schedule_far_jobs(&facility, &ledger, load.seed), ..Faults::default() };
    facility.settle(JOBS as usize)?;
    thread::sleep(QUIET);
    let before = threads();
    thread::sleep(load.idle_time);
    let after = threads();
    faults.count(&facility, &[(&ledger, ledger.len())])?;
    facility.stop();
    faults.ran = ledger.runs();
    let own_threads = after.iter().filter(|(thread, _)| !others.contains_key(*thread));
    let wakeups =
        own_threads.clone().map(|(thread, now)| now - before.get(thread).copied().unwrap_or(0));
    let figures = vec![
        Figure::count("wake-ups", wakeups.sum()).worst(),
        Figure::count("threads", own_threads.count() as u64),
    ];
    let is_reported = !after.is_empty();
    Ok(faults.verdict().map(|()| if is_reported { figures } else { Vec::new() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_found_among_the_other_lines() {
        let status = "Name:\tx\nvoluntary_ctxt_switches:\t150\nnonvoluntary_ctxt_switches:\t545\n";
        assert_eq!((sleeps(status), sleeps("Name:\tx\n")), (Some(150), None));
    }

    #[test]
    fn a_thread_that_wakes_up_is_counted() {
        let mine = || threads().values().sum::<u64>();
        let before = mine();
        (0..20).for_each(|_| thread::sleep(Duration::from_millis(1)));
        assert!(threads().is_empty() || mine() >= before + 20);
    }
}
