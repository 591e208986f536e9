//! Every experiment on every facility, and on some that are wrong on purpose.
//!
//! No assertion depends on the speed of the machine: tests check which jobs ran, not when.

use anyhow::Result;
use std::thread;
use std::time::{Duration, Instant};
use wheelhouse_frame::{Contender, Experiment as _};
use wheelhouse_service_load::contender::Entry;
use wheelhouse_service_load::experiments::Experiment;
use wheelhouse_service_load::facilities::{self, HeapAndCondvar};
use wheelhouse_service_load::facility::{Answer, Facility};
use wheelhouse_service_load::ledger::{Job, PeriodicJob};
use wheelhouse_service_load::load::Load;

/// Plays on all facilities at the same time, because they mostly wait.
fn with_every_facility(play: impl Fn(&dyn Contender<Experiment>) + Sync) {
    thread::scope(|scope| {
        for contender in facilities::all() {
            let play = &play;
            scope.spawn(move || play(&*contender));
        }
    });
}

#[test]
fn every_facility_passes_every_experiment() {
    with_every_facility(|contender| {
        for &experiment in Experiment::ALL {
            let played = contender.play(experiment, &Load::tiny()).unwrap();
            let figures = played.unwrap_or_else(|wrong| {
                panic!("{} on {}: {wrong}", experiment.name(), contender.name())
            });
            assert!(
                figures.iter().all(|figure| figure.value.is_finite() && figure.value >= 0.0),
                "{figures:?}"
            );
            let count = figures.iter().find(|figure| matches!(figure.name, "runs" | "expired"));
            let expected = match experiment {
                Experiment::Fires => 500.0,
                Experiment::Fires300k => 1_500.0,
                Experiment::SlowJobs => 499.0, // and a slow one
                Experiment::MillisecondJobs => 80.0,
                _ => 300.0,
            };
            // More if the machine stalled: a job that is cancelled too late runs, and the facility
            // reports it.
            assert!(count.is_none_or(|count| count.value >= expected), "{count:?}");
        }
    });
}

#[test]
fn more_producers_share_the_work() {
    let load = Load { producers: 5, burst: 1_003, ..Load::tiny() };
    with_every_facility(|contender| {
        for experiment in [Experiment::PairsBeside, Experiment::PairsWindow, Experiment::Audit] {
            contender.play(experiment, &load).unwrap().unwrap();
        }
    });
}

/// The facilities that play an experiment by default.
fn rows(experiment: Experiment) -> Vec<&'static str> {
    let all = facilities::all();
    let playing = all.iter().filter(|it| it.plays().contains(&experiment));
    playing.map(|it| it.name()).collect()
}

#[test]
fn each_experiment_has_its_rows_of_facilities() {
    assert_eq!(
        rows(Experiment::SlowJobs),
        ["wheelhouse", "wheelhouse-1", "tokio-sleep", "heap-and-condvar", "heap-and-pool"]
    );
    assert_eq!(rows(Experiment::MillisecondJobs), ["wheelhouse", "tokio-sleep", "heap-and-pool"]);
    assert_eq!(
        rows(Experiment::Server),
        ["wheelhouse", "tokio-sleep", "tokio-delay-queue", "heap-and-condvar", "heap-lazy"]
    );
    assert_eq!(rows(Experiment::Producers), ["wheelhouse", "heap-and-condvar"]);
    for experiment in [Experiment::Fires, Experiment::Fires300k, Experiment::Audit] {
        assert!(rows(experiment).contains(&"wheelhouse-1"), "{}", experiment.name());
    }
}

/// A figure of an experiment on a facility.
fn figure(contender: &str, experiment: Experiment, load: &Load, name: &str) -> f64 {
    let all = facilities::all();
    let contender = all.iter().find(|it| it.name() == contender).unwrap();
    let figures = contender.play(experiment, load).unwrap().unwrap();
    figures.iter().find(|figure| figure.name == name).unwrap().value
}

#[test]
fn a_job_of_a_millisecond_takes_a_millisecond_of_a_processor() {
    for contender in ["wheelhouse", "tokio-sleep", "heap-and-pool"] {
        let time = figure(contender, Experiment::MillisecondJobs, &Load::tiny(), "CPU/job");
        assert!(!cfg!(target_os = "linux") || time >= 1e6, "{contender}: {time}");
    }
}

#[test]
fn a_server_has_as_many_timeouts_as_requests_without_an_answer() {
    for contender in ["wheelhouse", "heap-lazy"] {
        let timeouts = figure(contender, Experiment::Server, &Load::tiny(), "timeouts");
        // More if the machine stalled: an answer after the timeout cancels nothing.
        assert!(timeouts >= 5.0, "{contender}: {timeouts}");
    }
}

/// A fault of a facility.
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

impl Faulty {
    fn boxed(
        name: &'static str,
        start: fn(Duration) -> Result<Self>,
    ) -> Box<dyn Contender<Experiment>> {
        Entry::boxed(name, "wrong on purpose", start)
    }

    fn with(fault: Fault) -> Result<Self> {
        Ok(Self { inner: HeapAndCondvar::start()?, fault })
    }
}

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

fn load() -> Load {
    Load { patience: Duration::from_millis(300), producers: 1, ..Load::tiny() }
}

/// The fault that was reported.
fn wrong(contender: &dyn Contender<Experiment>, experiment: Experiment) -> String {
    contender.play(experiment, &load()).unwrap().expect_err(experiment.name())
}

#[test]
fn a_facility_that_loses_a_job_is_detected() {
    let lossy = Faulty::boxed("lossy", |_| Faulty::with(Fault::Loses));
    let run = [Experiment::Fires, Experiment::SlowJobs, Experiment::Sessions, Experiment::Audit];
    for experiment in run {
        assert!(wrong(&*lossy, experiment).contains("1 did not run"), "{}", experiment.name());
    }
    assert!(wrong(&*lossy, Experiment::Server).contains("too late"), "a connection is gone");
    for experiment in [Experiment::PairsBeside, Experiment::PairsWindow] {
        let wrong = wrong(&*lossy, experiment);
        assert!(
            wrong.contains("jobs were gone though pending") && wrong.contains("own count"),
            "{wrong}"
        );
    }
}

#[test]
fn a_facility_that_runs_a_job_early_is_detected() {
    let hasty = Faulty::boxed("hasty", |_| Faulty::with(Fault::RunsEarly));
    for experiment in
        [Experiment::Fires, Experiment::MillisecondJobs, Experiment::Sessions, Experiment::Audit]
    {
        assert!(wrong(&*hasty, experiment).contains("began early"), "{}", experiment.name());
    }
    // A connection that is moved before its early run shows no fault; a request does.
    let wrong = wrong(&*hasty, Experiment::Server);
    let is_found = wrong.contains("long before their time") || wrong.contains("began early");
    assert!(is_found, "{wrong}");
}

#[test]
fn a_facility_that_runs_a_job_twice_is_detected() {
    let eager = Faulty::boxed("eager", |_| Faulty::with(Fault::RunsTwice));
    for experiment in [Experiment::Fires, Experiment::SlowJobs, Experiment::Audit] {
        assert!(
            wrong(&*eager, experiment).contains("1 ran more than once"),
            "{}",
            experiment.name()
        );
    }
}

#[test]
fn a_facility_that_refuses_cancels_nothing_or_refreshes_nothing_is_detected() {
    let refusing = Faulty::boxed("refusing", |_| Faulty::with(Fault::Refuses));
    for experiment in
        [Experiment::Fires, Experiment::Sessions, Experiment::Server, Experiment::Audit]
    {
        assert!(wrong(&*refusing, experiment).contains("refused"), "{}", experiment.name());
    }
    let deaf = Faulty::boxed("deaf", |_| Faulty::with(Fault::CancelsNothing));
    assert!(wrong(&*deaf, Experiment::Fires).contains("50 ran though cancelled"));
    assert!(wrong(&*deaf, Experiment::Server).contains("495 ran though cancelled"));
    for experiment in [
        Experiment::PairsAlone,
        Experiment::PairsBeside,
        Experiment::PairsWindow,
        Experiment::Producers,
    ] {
        let wrong = wrong(&*deaf, experiment);
        assert!(
            wrong.contains("cancelled jobs were still there") && wrong.contains("own count"),
            "{wrong}"
        );
    }
    let forgetful = Faulty::boxed("forgetful", |_| Faulty::with(Fault::RefreshesNothing));
    assert!(wrong(&*forgetful, Experiment::Sessions).contains("began early"));
    assert!(wrong(&*forgetful, Experiment::Server).contains("jobs ran long before their time"));
    let silent = Faulty::boxed("silent", |_| Faulty::with(Fault::SendsNothing));
    assert!(
        wrong(&*silent, Experiment::Sessions)
            .contains("200 sessions that were refreshed, none was kept")
    );
}
