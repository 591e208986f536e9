//! When a play is over, and whether all has happened by then; and what to do if the time was too
//! short for it.

use crate::fate::{self, Checked, Fate};
use crate::ledger::Ledger;
use anyhow::Result;
use std::thread;
use std::time::{Duration, Instant};
use wheelhouse_frame::Played;

/// Compares fates with what happened, when all is over and the facility has so many jobs left by
/// its own count.
///
/// # Errors
///
/// What is wrong, in a sentence.
pub(super) fn check_fates(books: &[(&Ledger, &[Fate])], left: usize) -> Result<Checked, String> {
    let checked = fate::check(books.iter().copied())?;
    if left > 0 { Err(format!("{left} jobs are left though all are over")) } else { Ok(checked) }
}

/// While runs are so far apart, or closer, it is left alone who is measured.
const QUIET: Duration = Duration::from_millis(20);

/// Waits until every job has run that is to run, the last of them being due at `last`; or until
/// none has run for too long: what is missing is found out by who compares.
///
/// To look at each job of a million takes milliseconds, on a processor that the facility may want.
/// That is not done before all are due and no more run, or what is measured would be the looking.
pub(super) fn wait_for_runs(books: &[(&Ledger, &[Fate])], last: Instant, patience: Duration) {
    thread::sleep(last.saturating_duration_since(Instant::now()));
    let runs = || books.iter().map(|(ledger, _)| ledger.runs()).sum::<u64>();
    let have_run = || books.iter().all(|(ledger, fates)| fate::all_ran(ledger, fates));
    let (mut before, mut since) = (runs(), Instant::now());
    loop {
        thread::sleep(QUIET);
        let now = runs();
        if now > before {
            (before, since) = (now, Instant::now());
        } else if have_run() || since.elapsed() > patience {
            return;
        }
    }
}

/// How often a play is attempted.
const ATTEMPTS: u32 = 7;

/// Plays with deadlines this far ahead. If they were too close (`None`), plays again with twice the
/// time, and so on. `what` says in a report what took too long.
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
