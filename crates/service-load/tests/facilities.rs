//! Every experiment on every facility, and on some that are wrong on purpose.
//!
//! No assertion depends on the speed of the machine: tests check which jobs ran, not when.

use anyhow::Result;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};
use wheelhouse_frame::run::{Row, Run};
use wheelhouse_frame::{Contender, Experiment as _, Figure, bound};
use wheelhouse_machine::provenance;
use wheelhouse_service_load::experiments::Experiment::{
    self, Audit, Fires, MillisecondJobs, PairsAlone, PairsBeside, PairsWindow, Producers, Server,
    Sessions, SlowJobs,
};
use wheelhouse_service_load::facilities::{self, HeapAndCondvar, row};
use wheelhouse_service_load::facility::{Answer, Facility};
use wheelhouse_service_load::ledger::{Job, PeriodicJob};
use wheelhouse_service_load::load::Load;

#[test]
fn every_facility_passes_every_experiment() {
    const COUNTS: [&str; 3] = ["runs", "expired", "timeouts"];
    let rows = Mutex::new(Vec::new());
    let play_all = |contender: &Contender<Experiment>| {
        for &experiment in Experiment::ALL {
            let played = contender.play(experiment, &Load::tiny()).unwrap();
            let figures = played.unwrap_or_else(|wrong| {
                panic!("{} on {}: {wrong}", experiment.name(), contender.name())
            });
            let is_sound = |figure: &Figure| figure.value.is_finite() && figure.value >= 0.0;
            assert!(figures.iter().all(is_sound), "{figures:?}");
            let count = figures.iter().find(|figure| COUNTS.contains(&figure.name));
            let expected = match experiment {
                Experiment::Fires => 500.0,
                Experiment::Fires300k => 1_500.0,
                Experiment::SlowJobs => 499.0, // and a slow one
                Experiment::MillisecondJobs => 80.0,
                Experiment::Server => 5.0, // requests without an answer
                _ => 300.0,
            };
            // More if the machine stalled: a job that is cancelled too late runs, and the facility
            // reports it.
            assert!(count.is_none_or(|count| count.value >= expected), "{count:?}");
            let (contender, played) = (contender.name(), Ok(figures));
            rows.lock().unwrap().push(Row { experiment, contender, round: 1, played });
        }
    };
    // At the same time, because they mostly wait.
    let all = facilities::all();
    thread::scope(|scope| {
        for contender in &all {
            let play_all = &play_all;
            scope.spawn(move || play_all(contender));
        }
    });
    let run = Run {
        provenance: provenance::gather(1),
        load: Load::whole(),
        contenders: vec![("wheelhouse", "ours")],
        rows: rows.into_inner().unwrap(),
        interrupted: false,
    };
    let glance = Experiment::at_a_glance(&run).expect("all its experiments were played");
    assert!(glance.rows[0].iter().all(|cell| cell.shown != "-"), "{}", glance.markdown());
    let judged = bound::table(&run).unwrap();
    assert_eq!(judged.rows.len(), Experiment::TARGETS.len(), "{}", judged.markdown());
}

#[test]
fn a_job_of_a_millisecond_takes_a_millisecond_of_a_processor() {
    let all = facilities::all();
    let is_played = |name: &str| ["wheelhouse", "tokio-sleep", "heap-and-pool"].contains(&name);
    for contender in all.iter().filter(|it| is_played(it.name())) {
        let figures = contender.play(MillisecondJobs, &Load::tiny()).unwrap().unwrap();
        let time = figures.iter().find(|figure| figure.name == "CPU/job").unwrap().value;
        assert!(!cfg!(target_os = "linux") || time >= 1e6, "{}: {time}", contender.name());
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    /// The job with this number is dropped.
    Loses,
    /// Each job runs at once. (A single one might still be late on a machine that stalls.)
    RunsEarly,
    RunsTwice,
    Refuses,
    /// Cancelled jobs still run.
    CancelsNothing,
    RefreshesNothing,
    /// The same, and it does not report the result either.
    SendsNothing,
}

/// A facility with a fault in one of its jobs.
struct Faulty {
    inner: HeapAndCondvar,
    fault: Fault,
}

const VICTIM: u32 = 7;

impl Facility for Faulty {
    type Handle = <HeapAndCondvar as Facility>::Handle;
    type Session = <HeapAndCondvar as Facility>::Session;

    fn schedule(&self, due: Instant, job: Job) -> Option<Self::Handle> {
        let hit = job.number() == VICTIM;
        match self.fault {
            Fault::Refuses if hit => return None,
            Fault::Loses if hit => {
                let handle = self.inner.schedule(due, job)?;
                self.inner.cancel(handle.clone());
                return Some(handle);
            }
            Fault::RunsEarly => return self.inner.schedule(Instant::now(), job),
            Fault::RunsTwice if hit => drop(self.inner.schedule(due, job.clone())),
            _ => {}
        }
        self.inner.schedule(due, job)
    }

    fn cancel(&self, handle: Self::Handle) -> Answer {
        if self.fault == Fault::CancelsNothing { Answer::Done } else { self.inner.cancel(handle) }
    }

    fn open(&self, due: Instant, job: Job) -> Option<Self::Session> {
        self.schedule(due, job)
    }

    fn refresh(&self, session: &Self::Session, due: Instant) -> Answer {
        match self.fault {
            Fault::RefreshesNothing => Answer::Done,
            Fault::SendsNothing => Answer::Sent,
            _ => self.inner.refresh(session, due),
        }
    }

    fn every(&self, first: Instant, period: Duration, job: PeriodicJob) -> bool {
        let victim = job.left() > 0 && self.fault != Fault::Refuses;
        let first = if self.fault == Fault::RunsEarly { Instant::now() } else { first };
        victim && self.inner.every(first, period, job)
    }

    fn settle(&self, pending: usize) -> Result<()> {
        self.inner.settle(pending)
    }

    fn count(&self) -> Result<usize> {
        self.inner.count()
    }

    fn stop(self) {
        self.inner.stop();
    }
}

/// Plays experiments on a faulty facility. All these parts must be in what is reported.
fn is_found(fault: Fault, experiments: &[Experiment], parts: &[&str]) {
    let load = Load { patience: Duration::from_millis(300), producers: 1, ..Load::tiny() };
    let start = move || Ok(Faulty { inner: HeapAndCondvar::start()?, fault });
    let faulty = row("faulty", "wrong on purpose", |_| true, start);
    for &experiment in experiments {
        let wrong = faulty.play(experiment, &load).unwrap().expect_err(experiment.name());
        assert!(parts.iter().all(|part| wrong.contains(part)), "{}: {wrong}", experiment.name());
    }
}

#[test]
fn a_facility_that_loses_a_job_is_detected() {
    is_found(Fault::Loses, &[Fires, SlowJobs, Sessions, Audit], &["1 did not run"]);
    is_found(Fault::Loses, &[Server], &["too late"]); // a connection is gone
    let parts = ["jobs were gone though pending", "own count"];
    is_found(Fault::Loses, &[PairsBeside, PairsWindow], &parts);
}

#[test]
fn a_facility_that_runs_a_job_early_or_twice_is_detected() {
    is_found(Fault::RunsEarly, &[Fires, MillisecondJobs, Sessions, Audit], &["began early"]);
    // A request, or a connection that ran before it was moved.
    is_found(Fault::RunsEarly, &[Server], &[]);
    is_found(Fault::RunsTwice, &[Fires, SlowJobs, Audit], &["1 ran more than once"]);
}

#[test]
fn a_facility_that_refuses_cancels_nothing_or_refreshes_nothing_is_detected() {
    is_found(Fault::Refuses, &[Fires, Sessions, Server, Audit], &["refused"]);
    is_found(Fault::CancelsNothing, &[Fires], &["50 ran though cancelled"]);
    is_found(Fault::CancelsNothing, &[Server], &["495 ran though cancelled"]);
    let parts = ["cancelled jobs were still there", "own count"];
    let pairs = [PairsAlone, PairsBeside, PairsWindow, Producers];
    is_found(Fault::CancelsNothing, &pairs, &parts);
    is_found(Fault::RefreshesNothing, &[Sessions], &["began early"]);
    is_found(Fault::RefreshesNothing, &[Server], &["jobs ran long before their time"]);
    let none = "200 sessions that were refreshed, none was kept";
    is_found(Fault::SendsNothing, &[Sessions], &[none]);
}
