//! Jobs that end themselves from inside a run.

use crate::common::{Log, Rig, at, ms};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use wheelhouse_service::{AsyncRun, Backoff, ChangeError, Run, Status};

/// A run that fails and ends its job.
fn fails_and_ends(log: &Log<u64>) -> impl FnMut(&Run<'_>) -> Result<(), &'static str> + use<> {
    let log = log.clone();
    move |run| {
        log.push(run.number());
        run.end();
        Err("it failed")
    }
}

#[test]
fn a_run_that_fails_and_ends_its_job_is_not_retried() {
    let (mut rig, log) = (Rig::new(), Log::default());
    let backoff = Backoff::new(ms(10));
    let jobs = [
        rig.timers.after(ms(10)).retry(backoff).try_run(fails_and_ends(&log)).unwrap(),
        rig.timers.every(ms(10)).retry(backoff).try_run(fails_and_ends(&log)).unwrap(),
    ];
    rig.play(1000);
    assert_eq!(log.take(), [1, 1]);
    for job in jobs {
        assert_eq!(
            (job.status(), job.last_error().as_deref()),
            (Status::Finished, Some("it failed"))
        );
    }
    assert!(rig.timers.is_empty());
}

/// A future cannot keep the `Run`, so it captures the handle of the job.
#[test]
fn an_async_run_that_cancels_its_job_ends_and_none_follows() {
    let runs: Log<AsyncRun> = Log::default();
    let (keep, answers) = (runs.clone(), Log::default());
    let mut rig = Rig::with(|builder| builder.spawn_on(move |run| keep.push(run)));
    let log = answers.clone();
    let job = rig.timers.every(ms(10)).run_async(move |run| {
        let (job, log) = (run.job(), log.clone());
        async move {
            log.push(job.cancel().unwrap_err());
            log.push(job.cancel().unwrap_err());
        }
    });
    let job = job.unwrap();
    rig.scheduler.play(&rig.clock, at(15));
    for run in runs.take() {
        let polled = pin!(run).poll(&mut Context::from_waker(Waker::noop()));
        assert_eq!(polled, Poll::Ready(()));
    }
    assert_eq!(answers.take(), [ChangeError::Running, ChangeError::Running]);
    rig.play(1000);
    assert!(runs.take().is_empty());
    assert_eq!((job.runs(), job.status(), rig.timers.len()), (1, Status::Cancelled, 0));
}
