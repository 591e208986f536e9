//! Moving sessions to a later time, as often as the producers can: each moves its own sessions to
//! an hour from now, in random order, round after round. If one thread has opened all of them, a
//! facility that keeps state for each thread has all sessions in one place.
//!
//! A refresh that does nothing is found, because no session may have expired after the near
//! deadline at which it was opened.

use super::end_of_play::{time_for, with_enough_time};
use super::prelude::*;
use super::schedule::{on_threads, shares};
use rand::seq::SliceRandom;
use std::ops::Range;

pub(super) const NOTES: &[&str] =
    &["refreshes/s: in random order, until the facility had processed all of them; CPU/refresh: \
     processor time of all threads."];

const HOUR: Duration = Duration::from_secs(3600);

/// The clock is read once for this many refreshes.
const AT_ONCE: usize = 16;

/// The threads that open the sessions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Opens {
    Each,
    One,
}

pub(super) struct Refresher<F: Facility> {
    pub(super) sessions: Vec<F::Session>,
    refreshes: u64,
    pub(super) too_late: u64,
}

impl<F: Facility> Refresher<F> {
    /// Opens the sessions with these numbers.
    pub(super) fn open(
        facility: &F,
        ledger: &Arc<Ledger>,
        numbers: Range<u32>,
        due: Instant,
    ) -> Self {
        let open = |number| facility.open(due, ledger.job(number));
        Self { sessions: numbers.filter_map(open).collect(), refreshes: 0, too_late: 0 }
    }

    /// Moves sessions to `ahead` from now, until `until`, and each session at least once.
    pub(super) fn refresh(mut self, facility: &F, until: Instant, ahead: Duration) -> Self {
        loop {
            for some in self.sessions.chunks(AT_ONCE) {
                let now = Instant::now();
                let is_first_round = self.refreshes < self.sessions.len() as u64;
                if now >= until && !is_first_round {
                    return self;
                }
                for session in some {
                    let answer = facility.refresh(session, now + ahead);
                    self.too_late += u64::from(answer == Answer::TooLate);
                }
                self.refreshes += some.len() as u64;
            }
            if self.sessions.is_empty() {
                return self;
            }
        }
    }
}

pub(super) fn play<F: Facility>(
    start: &dyn Fn() -> Result<F>,
    load: &Load,
    opens: Opens,
) -> Result<Played> {
    let near = time_for(load.sessions) + load.pairs_time;
    let what = format!("{} sessions could not be moved", load.sessions);
    with_enough_time(&what, near, |near| attempt(start()?, load, opens, near))
}

/// One play with sessions that are due this soon. Returns `None` if that was too soon.
fn attempt<F: Facility>(
    facility: F,
    load: &Load,
    opens: Opens,
    near: Duration,
) -> Result<Option<Played>> {
    let due = Instant::now() + near;
    // One ledger for all producers, because keys of sessions are made from job numbers.
    let ledger = Ledger::new(Instant::now(), load.sessions as usize);
    let producers = open_all(&facility, load, opens, &ledger, due);
    let all = load.sessions as usize;
    facility.settle(all)?;
    let (begin, cpu) = (Instant::now(), cpu_time());
    let until = begin + load.pairs_time;
    let refresh = |producer: Refresher<F>| producer.refresh(&facility, until, HOUR);
    let producers = on_threads(producers, refresh);
    facility.settle(all)?;
    let (settled, used) = (begin.elapsed(), [cpu, cpu_time()]);
    if Instant::now() >= due {
        facility.stop();
        return Ok(None);
    }
    thread::sleep(due - Instant::now());
    // When this returns, all jobs that are due have run.
    facility.settle(all)?;
    let sum = |of: fn(&Refresher<F>) -> u64| producers.iter().map(of).sum::<u64>();
    let mut faults = Faults {
        panicked: load.producers - producers.len(),
        refused: u64::from(load.sessions) - sum(|producer| producer.sessions.len() as u64),
        too_late: sum(|producer| producer.too_late),
        ran: ledger.runs(),
        ..Faults::default()
    };
    faults.count(&facility, &[(&ledger, all)])?;
    facility.stop();
    Ok(Some(faults.verdict().map(|()| {
        let refreshes = sum(|producer| producer.refreshes);
        let mut figures = vec![Figure::rate("refreshes/s", refreshes, settled.as_nanos() as f64)];
        figures.extend(cpu_figure("CPU/refresh", used, refreshes));
        figures
    })))
}

/// Opens the sessions of all producers. They are shuffled, so that refreshes do not follow the
/// order in memory.
fn open_all<F: Facility>(
    facility: &F,
    load: &Load,
    opens: Opens,
    ledger: &Arc<Ledger>,
    due: Instant,
) -> Vec<Refresher<F>> {
    let open = |numbers| Refresher::open(facility, ledger, numbers, due);
    let shares = shares(load.sessions, load.producers);
    let mut producers: Vec<Refresher<F>> = match opens {
        Opens::Each => on_threads(shares, open),
        Opens::One => shares.map(open).collect(),
    };
    let mut random = Pcg64Mcg::seed_from_u64(load.seed);
    producers.iter_mut().for_each(|producer| producer.sessions.shuffle(&mut random));
    producers
}
