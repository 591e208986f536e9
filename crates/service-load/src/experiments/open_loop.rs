//! Open loop: the time of every call is planned beforehand, and a slow facility does not change it.
//!
//! A producer that is late for an event makes the call at once, with the planned moments, and
//! records its own lateness. So a facility that delays its callers does not get fewer calls, and
//! its lateness counts from the plan. This avoids coordinated omission.

use super::prelude::*;

/// The shortest sleep; events closer together than this are handled in one go. It is far below the
/// shortest delay of any plan, and leaves the processor to the facility: waking up five times as
/// often took 0.6 us of processor time from each fire.
const NAP: Duration = Duration::from_millis(1);

/// The time between making a plan and its beginning, so that all threads are ready.
pub(super) const LEAD: Duration = Duration::from_millis(20);

/// Guides a producer from event to event.
#[derive(Debug)]
pub(super) struct Pace {
    origin: Instant,
    /// The greatest lateness of the producer.
    pub(super) latest: u64,
}

impl Pace {
    pub(super) fn new(origin: Instant) -> Self {
        Self { origin, latest: 0 }
    }

    /// Waits for this moment, in nanoseconds since the origin. Returns at once if it is past.
    pub(super) fn wait_for(&mut self, at: u64) {
        let due = self.origin + Duration::from_nanos(at);
        loop {
            let now = Instant::now();
            if now >= due {
                self.latest = self.latest.max((now - due).as_nanos() as u64);
                return;
            }
            thread::sleep((due - now).max(NAP));
        }
    }
}

/// A call of the producer, at a moment in nanoseconds since the origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) at: u64,
    pub(super) number: u32,
    pub(super) cancels: bool,
}

/// All calls of a play.
#[derive(Debug)]
pub(super) struct Plan {
    /// When each job is due: first the jobs that run, then those that are cancelled.
    pub(super) due: Vec<u64>,
    /// The number of jobs that run.
    pub(super) run: usize,
    /// When the last job that runs is due.
    pub(super) last: u64,
    /// The calls, ordered by their moments.
    pub(super) events: Vec<Event>,
}

impl Plan {
    /// A plan for jobs that are due at these moments. The first `run` of them run, the others are
    /// cancelled. `calls` returns, for the moment at which a job is due, when it is scheduled and
    /// when it is cancelled if it does not run.
    pub(super) fn new(due: Vec<u64>, run: usize, mut calls: impl FnMut(u64) -> (u64, u64)) -> Self {
        debug_assert!(run <= due.len(), "{run} of {} jobs run", due.len());
        let last = due[..run].iter().max().copied().unwrap_or_default();
        let mut events = Vec::with_capacity(due.len() + due.len() - run);
        for (number, due) in (0..).zip(&due) {
            let (scheduled, cancelled) = calls(*due);
            debug_assert!(scheduled < cancelled && cancelled < *due);
            events.push(Event { at: scheduled, number, cancels: false });
            if number as usize >= run {
                events.push(Event { at: cancelled, number, cancels: true });
            }
        }
        events.sort_by_key(|event| event.at);
        Self { due, run, last, events }
    }
}

/// The result of a producer that has made its calls.
pub(super) struct Produced<'a, H> {
    /// The jobs, with one element for `end_play`.
    pub(super) jobs: [Expectations<'a>; 1],
    /// The handles. They are freed after the play, because freeing them makes the allocator
    /// consolidate earlier frees, under a lock that the facility waits for. That takes milliseconds
    /// in the middle of the last runs.
    pub(super) _handles: Vec<Option<H>>,
    /// The lateness of the latest call.
    pub(super) late: u64,
    pub(super) faults: Faults,
}

/// Makes the calls of a plan. Before each call, passes its moment to `before`.
pub(super) fn produce<'a, F: Facility>(
    facility: &F,
    plan: &Plan,
    ledger: &'a Arc<Ledger>,
    mut before: impl FnMut(u64),
) -> Produced<'a, F::Handle> {
    let mut pace = Pace::new(ledger.moment(0));
    let mut handles: Vec<Option<F::Handle>> = Vec::new();
    handles.resize_with(plan.due.len() - plan.run, || None);
    let mut expected: Vec<_> = (0..).zip(&plan.due).map(|job| expected_end(ledger, job)).collect();
    let mut refused = 0;
    for event in &plan.events {
        let number = event.number as usize;
        pace.wait_for(event.at);
        before(event.at);
        if event.cancels {
            if let Some(handle) = handles[number - plan.run].take() {
                match facility.cancel(handle) {
                    Answer::Done => expected[number] = Expected::Never,
                    Answer::TooLate => {} // it runs at its time
                    Answer::Sent => expected[number] = Expected::MayRun,
                }
            }
            continue;
        }
        match facility.schedule(ledger.moment(plan.due[number]), ledger.job(event.number)) {
            None => refused += 1,
            Some(handle) if number >= plan.run => handles[number - plan.run] = Some(handle),
            Some(_) => {}
        }
    }
    let jobs = [Expectations { ledger, ends: expected }];
    let faults = Faults { refused, ..Faults::default() };
    Produced { jobs, _handles: handles, late: pace.latest, faults }
}

/// The expected end of a job that is not cancelled. The lateness of a job that blocks its thread is
/// not shown.
fn expected_end(ledger: &Ledger, (number, due): (u32, &u64)) -> Expected {
    if ledger.work.sleeps(number) { Expected::RunsUnmeasured(*due) } else { Expected::Runs(*due) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_ends_at_its_moment_or_at_once_if_overdue() {
        let origin = Instant::now() + Duration::from_millis(5);
        let mut pace = Pace::new(origin);
        pace.wait_for(3_000_000);
        assert!(Instant::now() >= origin + Duration::from_millis(3));
        thread::sleep(Duration::from_millis(10));
        pace.wait_for(4_000_000);
        // Ten milliseconds after three is nine after four.
        assert!(pace.latest >= 9_000_000, "{}", pace.latest);
    }
}
