//! Jobs that fire at a rate, and their lateness.

use super::Experiment;
use super::end_of_play::end_play;
use super::open_loop::{LEAD, Pace, Plan, produce};
use super::prelude::*;
use crate::ledger::JobWork;
use crate::load::processors;

pub(super) const NOTES: &[&str] = &[
    "lateness: from the planned moment of a run until it began. One job more for each ten is \
     scheduled, and cancelled at half of its delay.",
    "producer: the lateness of its latest call. It makes a job late only if it exceeds the job's \
     delay. CPU/job: processor time of all threads, for each run.",
];

/// Notes if some jobs are slow.
pub(super) const NOTES_ON_SLOW: &[&str] = &[
    "runs, lateness: of the brief jobs only, from the planned moment of a run until it began. \
     Slow jobs must run too, but their lateness is not shown. One job more for each ten is \
     scheduled, and cancelled at half of its delay.",
    NOTES[1],
];

/// Delays, in nanoseconds.
const DELAYS: std::ops::RangeInclusive<u64> = LEAST..=MOST;
const LEAST: u64 = 10_000_000;
const MOST: u64 = 1_000_000_000;

/// For this many jobs that run, one more is scheduled and cancelled.
const CANCELLED_EACH: usize = 10;

/// One job of `slow-jobs` in this many blocks its thread, for this time.
pub(super) const SLOW_EACH: u32 = 500;
pub(super) const SLOW_TIME: Duration = Duration::from_millis(10);

/// The processor time of each job of `millisecond-jobs`.
pub(super) const MILLISECOND: Duration = Duration::from_millis(1);

/// The share of all processors that `millisecond-jobs` need, in percent.
pub(super) const PERCENT: u32 = 80;

/// Jobs that fire at a rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stream {
    /// How many are due per second.
    pub(super) rate: u32,
    /// The work of each.
    work: JobWork,
}

impl Stream {
    /// The jobs of an experiment in which jobs fire at a rate.
    pub(crate) fn of(experiment: Experiment, load: &Load) -> Self {
        let blocking = JobWork::SleepsOneIn { each: SLOW_EACH, time: SLOW_TIME };
        let processor_rate = processors() as u32 * 1_000 * PERCENT / 100;
        let (rate, work) = match experiment {
            Experiment::Fires300k => (load.fast_rate, JobWork::Empty),
            Experiment::SlowJobs => (load.slow_rate, blocking),
            Experiment::MillisecondJobs => (processor_rate, JobWork::Spins(MILLISECOND)),
            _ => (load.rate, JobWork::Empty),
        };
        Self { rate, work }
    }

    /// Plans when the jobs are due, and the calls for them.
    fn plan(self, load: &Load) -> Plan {
        let mut random = Pcg64Mcg::seed_from_u64(load.seed);
        let run = load.fires_at(self.rate) as usize;
        let begin =
            |slot: usize| MOST + (slot as u128 * 1_000_000_000 / u128::from(self.rate)) as u64;
        // At a random moment of its slot. At the beginning of each slot, all jobs of some rates
        // would be late by the same share of a tick.
        let due_at = |slot: usize| random.random_range(begin(slot)..begin(slot + 1));
        // The cancelled jobs are due at about the time of every tenth of the others.
        let due = (0..run).chain((0..run).step_by(CANCELLED_EACH)).map(due_at).collect();
        Plan::new(due, run, |due| {
            let delay = random.random_range(DELAYS);
            (due - delay, due - delay / 2)
        })
    }
}

/// Plays the plan without a facility. A thread that only watches the clock notes when each job is
/// due, and a producer wakes up for each call and makes none. The thread calls `wait` between two
/// reads of the clock, with the time that is left.
pub(crate) fn play_machine(load: &Load, stream: Stream, wait: fn(Duration)) -> Result<Played> {
    let plan = stream.plan(load);
    let mut due = plan.due[..plan.run].to_vec();
    due.sort_unstable();
    let ledger = Ledger::new(Instant::now() + LEAD, 0);
    let begin = cpu_time();
    let mut pace = Pace::new(ledger.moment(0));
    let lateness = thread::scope(|scope| {
        let ledger = &ledger;
        let watcher = scope.spawn(move || watch_the_clock(ledger, &due, wait));
        plan.events.iter().for_each(|event| pace.wait_for(event.at));
        watcher.join()
    });
    let end = cpu_time();
    let Ok(lateness) = lateness else { return Ok(Err("the thread panicked".to_owned())) };
    let cpu = cpu_figure("CPU/job", [begin, end], plan.run as u64);
    Ok(Ok(figures(&lateness, 0, pace.latest, cpu)))
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

fn figures(
    lateness: &Distribution,
    ran_despite_request: u64,
    late: u64,
    cpu: Option<Figure>,
) -> Vec<Figure> {
    let mut figures = vec![Figure::count("runs", lateness.len())];
    figures.extend(lateness.figures(&[P50, P90, P99, P99_9]));
    figures.push(Figure::count("cancelled, ran", ran_despite_request).worst());
    figures.push(Figure::time("producer", late as f64).worst());
    figures.extend(cpu);
    figures
}

pub(super) fn play<F: Facility>(facility: F, load: &Load, stream: Stream) -> Result<Played> {
    let plan = stream.plan(load);
    let ledger = Ledger::with_work(Instant::now() + LEAD, plan.due.len(), stream.work);
    let begin = cpu_time();
    let produced = produce(&facility, &plan, &ledger, |_| ());
    let last = ledger.moment(plan.last);
    let ended = end_play(facility, load, last, &produced.jobs, produced.faults)?;
    Ok(ended.map(|(checked, end)| {
        let cpu = cpu_figure("CPU/job", [begin, end], ledger.runs());
        figures(&checked.lateness, checked.ran_despite_request, produced.late, cpu)
    }))
}

#[cfg(test)]
mod tests {
    use super::super::open_loop::Event;
    use super::*;

    #[test]
    fn the_plan_spreads_the_fires_evenly_and_never_depends_on_when_calls_happen() {
        let load = Load { rate: 1_000, fires_time: Duration::from_millis(500), ..Load::tiny() };
        let plan = Stream::of(Experiment::Fires, &load).plan(&load);
        assert_eq!((plan.run, plan.due.len()), (500, 550));
        let slots =
            |due: &[u64]| due.iter().map(|due| (due - MOST) / 1_000_000).collect::<Vec<_>>();
        // One in each millisecond.
        assert_eq!(slots(&plan.due[..500]), (0..500).collect::<Vec<_>>());
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
