//! Jobs that fire at a rate, and how late.

use super::over::{check_fates, wait_for_runs};
use crate::cpu;
use crate::distribution::Distribution;
use crate::facility::{Answer, Facility};
use crate::fate::Fate;
use crate::ledger::Ledger;
use crate::load::Load;
use crate::pace::{LEAD, Pace};
use anyhow::Result;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use wheelhouse_frame::{Figure, Played};

pub(super) const NOTES: &[&str] = &[
    "lateness: from the moment that was planned for the run until it began. One job in ten more is \
     scheduled, and cancelled at half of its delay.",
    "producer: how late it came with a call at most. Its own lateness is in the lateness of no job \
     unless it exceeds the delay. CPU/job: processor time of all threads, for each run.",
];

/// In nanoseconds.
const DELAYS: std::ops::RangeInclusive<u64> = LEAST..=MOST;
const LEAST: u64 = 10_000_000;
const MOST: u64 = 1_000_000_000;

/// One more in so many is cancelled.
const CANCELLED_EACH: usize = 10;

/// What the producer does, at a moment in nanoseconds since the origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Event {
    at: u64,
    number: u32,
    cancels: bool,
}

/// Everything that will happen.
#[derive(Debug)]
struct Plan {
    /// When each job is due: first those that run, then those that are cancelled.
    due: Vec<u64>,
    /// How many run.
    run: usize,
    /// When the last of them is due.
    last: u64,
    /// In the order of their moments.
    events: Vec<Event>,
}

impl Plan {
    fn new(load: &Load) -> Self {
        let mut random = Pcg64Mcg::seed_from_u64(load.seed);
        let run = load.fires() as usize;
        let begin =
            |slot: usize| MOST + (slot as u128 * 1_000_000_000 / u128::from(load.rate)) as u64;
        // Somewhere within its slot: at whole ones, a rate that a tick divides would be late by the
        // same share of a tick each time.
        let due_at = |slot: usize| random.random_range(begin(slot)..begin(slot + 1));
        // The cancelled ones are due about when every tenth of the others is.
        let due: Vec<_> = (0..run).chain((0..run).step_by(CANCELLED_EACH)).map(due_at).collect();
        let last = due[..run].iter().max().copied().unwrap_or_default();
        let mut events = Vec::with_capacity(due.len() + due.len() - run);
        for (number, due) in due.iter().enumerate() {
            let delay = random.random_range(DELAYS);
            let number_32 = number as u32;
            events.push(Event { at: due - delay, number: number_32, cancels: false });
            if number >= run {
                events.push(Event { at: due - delay / 2, number: number_32, cancels: true });
            }
        }
        events.sort_by_key(|event| event.at);
        Self { due, run, last, events }
    }
}

/// What the producer brings back.
struct Produced<H> {
    fates: Vec<Fate>,
    /// Where the handles were. Kept, since to free as much makes the allocator tidy up what was
    /// freed before, under a lock that the facility waits for: for milliseconds, in the middle of
    /// the last runs.
    _handles: Vec<Option<H>>,
    late: u64,
    refused: u64,
}

/// The plan without a facility: a thread that only watches the clock sees when each job is due, and
/// a producer wakes up for each call and makes none. `wait` is what the thread does between two
/// looks, with how long it still is.
pub(crate) fn play_machine(load: &Load, wait: fn(Duration)) -> Result<Played> {
    let plan = Plan::new(load);
    let mut due = plan.due[..plan.run].to_vec();
    due.sort_unstable();
    let ledger = Ledger::new(Instant::now() + LEAD, 0);
    let begin = cpu::used();
    let mut pace = Pace::new(ledger.moment(0));
    let lateness = thread::scope(|scope| {
        let ledger = &ledger;
        let watcher = scope.spawn(move || watch_the_clock(ledger, &due, wait));
        plan.events.iter().for_each(|event| pace.wait_for(event.at));
        watcher.join()
    });
    let end = cpu::used();
    let Ok(lateness) = lateness else { return Ok(Err("the thread panicked".to_owned())) };
    Ok(Ok(figures(&lateness, 0, pace.latest(), cpu::figure("CPU/job", begin, end, load.fires()))))
}

fn watch_the_clock(ledger: &Ledger, due: &[u64], wait: fn(Duration)) -> Distribution {
    let mut lateness = Distribution::fine();
    for due in due {
        let mut now = ledger.now();
        while now < *due {
            wait(Duration::from_nanos(due - now));
            now = ledger.now();
        }
        lateness.record(now - due);
    }
    lateness
}

/// What is shown of a play.
fn figures(lateness: &Distribution, in_spite: u64, late: u64, cpu: Option<Figure>) -> Vec<Figure> {
    let figures = [
        Figure::count("runs", lateness.len()),
        Figure::time("p50", lateness.quantile(0.5)),
        Figure::time("p90", lateness.quantile(0.9)),
        Figure::time("p99", lateness.quantile(0.99)),
        Figure::time("p99.9", lateness.quantile(0.999)),
        Figure::time("max", lateness.longest()).worst(),
        Figure::count("cancelled, ran", in_spite).worst(),
        Figure::time("producer", late as f64).worst(),
    ];
    figures.into_iter().chain(cpu).collect()
}

pub(super) fn play<F: Facility>(facility: F, load: &Load) -> Result<Played> {
    let plan = Plan::new(load);
    let ledger = Ledger::new(Instant::now() + LEAD, plan.due.len());
    let begin = cpu::used();
    let produced = produce(&facility, &plan, &ledger);
    let books: [(&Ledger, &[Fate]); 1] = [(&ledger, &produced.fates)];
    wait_for_runs(&books, ledger.moment(plan.last), load.patience);
    facility.settle(0)?;
    let end = cpu::used();
    let left = facility.count()?;
    facility.stop();
    if produced.refused > 0 {
        return Ok(Err(format!("{} jobs were refused", produced.refused)));
    }
    let checked = match check_fates(&books, left) {
        Ok(checked) => checked,
        Err(wrong) => return Ok(Err(wrong)),
    };
    let cpu = cpu::figure("CPU/job", begin, end, checked.lateness.len());
    Ok(Ok(figures(&checked.lateness, checked.in_spite, produced.late, cpu)))
}

fn produce<F: Facility>(facility: &F, plan: &Plan, ledger: &Arc<Ledger>) -> Produced<F::Handle> {
    let mut pace = Pace::new(ledger.moment(0));
    let mut handles: Vec<Option<F::Handle>> = Vec::new();
    handles.resize_with(plan.due.len() - plan.run, || None);
    let mut fates: Vec<_> = plan.due.iter().map(|due| Fate::Runs(*due)).collect();
    let mut refused = 0;
    for event in &plan.events {
        let number = event.number as usize;
        pace.wait_for(event.at);
        if event.cancels {
            if let Some(handle) = handles[number - plan.run].take() {
                fates[number] = match facility.cancel(handle) {
                    Answer::Done => Fate::Never,
                    Answer::TooLate => Fate::Runs(plan.due[number]),
                    Answer::Sent => Fate::Either,
                };
            }
            continue;
        }
        match facility.schedule(ledger.moment(plan.due[number]), ledger.job(event.number)) {
            None => refused += 1,
            Some(handle) if number >= plan.run => handles[number - plan.run] = Some(handle),
            Some(_) => {}
        }
    }
    Produced { fates, _handles: handles, late: pace.latest(), refused }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plan_spreads_the_fires_evenly_and_never_depends_on_when_calls_happen() {
        let load = Load { rate: 1_000, fires_time: Duration::from_millis(500), ..Load::tiny() };
        let plan = Plan::new(&load);
        assert_eq!((plan.run, plan.due.len()), (500, 550));
        let slots =
            |due: &[u64]| due.iter().map(|due| (due - MOST) / 1_000_000).collect::<Vec<_>>();
        assert_eq!(
            slots(&plan.due[..500]),
            (0..500).collect::<Vec<_>>(),
            "one in each millisecond"
        );
        assert_eq!(slots(&plan.due[500..]), (0..500).step_by(10).collect::<Vec<_>>());
        assert!(plan.events.is_sorted_by_key(|event| event.at));
        let (cancels, schedules): (Vec<Event>, Vec<Event>) =
            plan.events.iter().partition(|event| event.cancels);
        assert_eq!((schedules.len(), cancels.len()), (550, 50));
        for event in schedules {
            assert!(DELAYS.contains(&(plan.due[event.number as usize] - event.at)));
        }
        for event in cancels {
            assert!(event.number >= 500 && plan.due[event.number as usize] - event.at >= LEAST / 2);
        }
    }
}
