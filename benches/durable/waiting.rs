//! Sixty-four producers, each of which waits for its own change: one thread commits all that have
//! gathered while the last commit ran.

use crate::subject::Subject;
use anyhow::{Context, Result, bail};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Duration, Instant};

const PRODUCERS: usize = 64;

/// What the producers ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// A new job each, for as long as the figure takes; they are cancelled by `Cancel`.
    Schedule,
    /// All that `Schedule` has left.
    Cancel,
}

impl Work {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Schedule => "schedule",
            Self::Cancel => "cancel",
        }
    }
}

/// What came of it.
pub(crate) struct Waited {
    pub(crate) subject: Box<dyn Subject>,
    pub(crate) rate: f64,
    /// Of the time that a producer waits.
    pub(crate) p99: Duration,
}

/// A job, and whom to tell that it is done.
type Request = (u64, Sender<()>);

/// Lets the producers work on jobs from `first` on.
pub(crate) fn wait_together(
    mut subject: Box<dyn Subject>,
    work: Work,
    first: u64,
    seconds: f64,
) -> Result<Waited> {
    let last = match work {
        Work::Schedule => u64::MAX,
        Work::Cancel => subject.count()?,
    };
    let (requests, gathered) = mpsc::channel();
    let committer = thread::spawn(move || commit(subject, work, &gathered));
    let (next, over) = (AtomicU64::new(first), AtomicBool::new(false));
    let begun = Instant::now();
    let mut waits: Vec<Duration> = thread::scope(|scope| {
        let producer = || produce(&requests, &next, last, &over);
        let producers: Vec<_> = (0..PRODUCERS).map(|_| scope.spawn(producer)).collect();
        if work == Work::Schedule {
            thread::sleep(Duration::from_secs_f64(seconds));
            over.store(true, Ordering::Relaxed);
        }
        producers.into_iter().flat_map(|its| its.join().unwrap_or_default()).collect()
    });
    let rate = waits.len() as f64 / begun.elapsed().as_secs_f64();
    drop(requests);
    let Ok(subject) = committer.join() else { bail!("the committing thread panicked") };
    waits.sort_unstable();
    let p99 = waits.get(waits.len() * 99 / 100).copied().context("nobody waited")?;
    Ok(Waited { subject: subject?, rate, p99 })
}

/// Commits what has gathered, until nobody asks any more.
fn commit(
    mut subject: Box<dyn Subject>,
    work: Work,
    gathered: &Receiver<Request>,
) -> Result<Box<dyn Subject>> {
    while let Ok(one) = gathered.recv() {
        let all: Vec<Request> = std::iter::once(one).chain(gathered.try_iter()).collect();
        let jobs: Vec<u64> = all.iter().map(|(job, _)| *job).collect();
        match work {
            Work::Schedule => subject.schedule(&jobs, Duration::from_secs(7_200))?,
            Work::Cancel => subject.cancel(&jobs)?,
        }
        // A producer that does not wait any more is none of this figure's.
        for (_, done) in all {
            let _ = done.send(());
        }
    }
    Ok(subject)
}

/// How long each of one producer's requests took.
fn produce(
    requests: &Sender<Request>,
    next: &AtomicU64,
    last: u64,
    over: &AtomicBool,
) -> Vec<Duration> {
    let (done, answers) = mpsc::channel();
    let mut waits = Vec::new();
    while !over.load(Ordering::Relaxed) {
        let job = next.fetch_add(1, Ordering::Relaxed);
        let begun = Instant::now();
        if job >= last || requests.send((job, done.clone())).is_err() || answers.recv().is_err() {
            break;
        }
        waits.push(begun.elapsed());
    }
    waits
}
