//! The end of a play: waiting for the last runs, checking them, and repeating a play that had too
//! little time.

use super::prelude::*;

/// The checked runs, and the processor time that the program had used at the end of the play. If
/// something is wrong, a sentence about it.
pub(super) type Ended = Result<(Checked, Option<Duration>), String>;

/// Waits for the last runs, which are due at `last`, stops the facility, and checks all jobs. Fails
/// if the facility hangs.
pub(super) fn end_play<F: Facility>(
    facility: F,
    load: &Load,
    last: Instant,
    jobs: &[Expectations<'_>],
    faults: Faults,
) -> Result<Ended> {
    wait_for_runs(jobs, last, load.patience);
    facility.settle(0)?;
    let used = cpu_time();
    let checked = stop_and_check(facility, jobs, faults)?;
    Ok(checked.map(|checked| (checked, used)))
}

/// Stops a facility that has settled, and checks all jobs. Fails if the facility hangs.
pub(super) fn stop_and_check<F: Facility>(
    facility: F,
    jobs: &[Expectations<'_>],
    mut faults: Faults,
) -> Result<Result<Checked, String>> {
    faults.count(&facility, &[])?;
    facility.stop();
    Ok(faults.check(jobs))
}

/// The interval between looks at the number of runs. The facility is left alone in between.
const QUIET: Duration = Duration::from_millis(20);

/// Waits until every job that must run has run (the last is due at `last`), or until none has run
/// for `patience`; the check then finds what is missing.
///
/// Looking at each of a million jobs takes milliseconds on a processor that the facility may need.
/// So that is not done before all jobs are due and the number of runs stands still.
pub(super) fn wait_for_runs(jobs: &[Expectations<'_>], last: Instant, patience: Duration) {
    thread::sleep(last.saturating_duration_since(Instant::now()));
    let runs = || jobs.iter().map(|its| its.ledger.runs()).sum::<u64>();
    let (mut before, mut since) = (runs(), Instant::now());
    loop {
        thread::sleep(QUIET);
        let now = runs();
        if now > before {
            (before, since) = (now, Instant::now());
        } else if jobs.iter().all(Expectations::have_run) || since.elapsed() > patience {
            return;
        }
    }
}

/// The time allowed at first to schedule this many jobs, and to move each once.
pub(super) fn time_for(jobs: u32) -> Duration {
    (Duration::from_micros(2) * jobs).max(Duration::from_millis(100))
}

/// The most plays with more and more time.
const ATTEMPTS: u32 = 7;

/// Plays with deadlines this far ahead. If that was too close (`None`), plays again with twice the
/// time, and so on. `what` says in the error what took too long.
pub(super) fn with_enough_time(
    what: &str,
    mut ahead: Duration,
    mut attempt: impl FnMut(Duration) -> Result<Option<Played>>,
) -> Result<Played> {
    for _ in 0..ATTEMPTS {
        if let Some(played) = attempt(ahead)? {
            return Ok(played);
        }
        ahead *= 2;
    }
    Ok(Err(format!("{what} within {:?}", ahead / 2)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_play_gets_twice_the_time_until_it_suffices() {
        let second = Duration::from_secs(1);
        let enough = |ahead| Ok((ahead == second * 8).then(|| Ok(Vec::new())));
        assert_eq!(with_enough_time("x", second, enough).unwrap(), Ok(Vec::new()));
        let never = with_enough_time("jobs were not scheduled", second, |_| Ok(None)).unwrap();
        assert_eq!(never, Err("jobs were not scheduled within 64s".to_owned()));
    }
}
