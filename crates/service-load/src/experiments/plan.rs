//! The calls of an open loop, planned beforehand: when each job is scheduled and cancelled.

use super::prelude::*;

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
