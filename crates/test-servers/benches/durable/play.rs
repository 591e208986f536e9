//! What is asked of each contender.

use crate::contender::Opened;
use crate::desk::{Bare, Desk, Work};
use crate::subject::{KIND, Stored, Subject};
use anyhow::{Context, Result, ensure};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use wheelhouse_durable::store::Store;
use wheelhouse_durable::{Durable, DurableRun, Handlers, Next};

/// The columns, in the order of the figures: operations a second, and milliseconds where it is
/// said.
pub(crate) const COLUMNS: [&str; 13] = [
    "schedule\none",
    "refresh\none",
    "cancel\none",
    "schedule\n64",
    "schedule 64\np99 ms",
    "cancel\n64",
    "cancel 64\np99 ms",
    "schedule\nflow",
    "cancel\nflow",
    "fire\nrun, ack",
    "schedule\nbatch",
    "fire\nbatch",
    "open\nms",
];

/// A figure for each column.
pub(crate) type Figures = [f64; COLUMNS.len()];

/// How much is asked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Play {
    /// Jobs that are pending.
    pub(crate) jobs: u64,
    /// Seconds for each figure.
    pub(crate) seconds: f64,
    /// Changes in a batch.
    pub(crate) batch: usize,
}

const DAY: u64 = 86_400;
const PRODUCERS: usize = 64;

/// Pending jobs are due within a day, in no order of their keys, and not while this runs.
fn far(job: u64) -> Duration {
    Duration::from_secs(7_200 + job.wrapping_mul(7_919) % DAY)
}

/// What came of asking.
struct Asked {
    count: u64,
    rate: f64,
    p99: Duration,
}

impl Asked {
    fn p99_ms(&self) -> f64 {
        self.p99.as_secs_f64() * 1e3
    }
}

impl Play {
    /// Loads the jobs that are pending.
    pub(crate) fn load(&self, subject: &mut dyn Subject) -> Result<()> {
        (0..self.jobs).step_by(5_000).try_for_each(|from| {
            let some: Vec<u64> = (from..self.jobs.min(from + 5_000)).collect();
            subject.schedule(&some, far(from))
        })
    }

    /// All figures. `open` opens the same data each time; nobody else has it open.
    pub(crate) fn all(&self, open: &dyn Fn() -> Result<Opened>) -> Result<Figures> {
        let (asked, fire) = match open()? {
            Opened::Store(store) => {
                let durable = Durable::start(store, Handlers::new())?;
                let asked = self.ask(&*durable)?;
                let due = self.due(&*durable, &asked)?;
                durable.stop();
                (asked, run_all(open()?.into_store()?, due)?)
            }
            Opened::Bare(subject) => {
                let bare = Bare::new(subject, self.batch);
                let asked = self.ask(&bare)?;
                let due = self.due(&bare, &asked)?;
                (asked, fire_all(&mut *bare.into_subject(), due, self.batch)?)
            }
        };
        let mut subject = open()?.into_subject();
        let (schedule, scheduled) = self.schedule_batches(&mut *subject)?;
        let fire_batch = fire_all(&mut *subject, scheduled, self.batch)?;
        drop(subject);
        let begun = Instant::now();
        let mut subject = open()?.into_subject();
        let fired = subject.fire(1)?;
        let opened = begun.elapsed().as_secs_f64() * 1e3;
        let left = subject.count()?;
        ensure!(fired == 0 && left == self.jobs, "{left} jobs instead of {}", self.jobs);
        let [one, moved, gone, many, many_gone, flow, flow_gone] = &asked;
        Ok([
            one.rate,
            moved.rate,
            gone.rate,
            many.rate,
            many.p99_ms(),
            many_gone.rate,
            many_gone.p99_ms(),
            flow.rate,
            flow_gone.rate,
            fire,
            schedule,
            fire_batch,
            opened,
        ])
    }

    /// What producers ask for; at the end only those jobs are left that were there before.
    fn ask(&self, desk: &dyn Desk) -> Result<[Asked; 7]> {
        let far = far(self.jobs);
        let (schedule, refresh) = (Work::Schedule(far), Work::Refresh(2 * far));
        let one = self.wait(desk, 1, schedule, None)?;
        let moved = self.wait(desk, 1, refresh, Some(one.count))?;
        let gone = self.wait(desk, 1, Work::Cancel, Some(one.count))?;
        let many = self.wait(desk, PRODUCERS, schedule, None)?;
        let many_gone = self.wait(desk, PRODUCERS, Work::Cancel, Some(many.count))?;
        let flow = self.flow(desk, schedule)?;
        let jobs: Vec<u64> = (self.jobs..self.jobs + flow.count).collect();
        let begun = Instant::now();
        desk.ask_all(Work::Cancel, &jobs)?;
        let rate = flow.count as f64 / begun.elapsed().as_secs_f64();
        let flow_gone = Asked { rate, ..flow };
        Ok([one, moved, gone, many, many_gone, flow, flow_gone])
    }

    /// So many producers, each of which waits for its own: for the time of a figure, or until so
    /// many are done.
    fn wait(
        &self,
        desk: &dyn Desk,
        producers: usize,
        work: Work,
        most: Option<u64>,
    ) -> Result<Asked> {
        let (next, over) = (AtomicU64::new(self.jobs), AtomicBool::new(false));
        let last = most.map_or(u64::MAX, |most| self.jobs + most);
        let produce = || {
            let mut waits = Vec::new();
            while !over.load(Ordering::Relaxed) {
                let job = next.fetch_add(1, Ordering::Relaxed);
                if job >= last {
                    break;
                }
                let begun = Instant::now();
                desk.ask(work, job)?;
                waits.push(begun.elapsed());
            }
            anyhow::Ok(waits)
        };
        let begun = Instant::now();
        let waits: Result<Vec<Vec<Duration>>> = thread::scope(|scope| {
            let all: Vec<_> = (0..producers).map(|_| scope.spawn(produce)).collect();
            if most.is_none() {
                thread::sleep(Duration::from_secs_f64(self.seconds));
                over.store(true, Ordering::Relaxed);
            }
            all.into_iter().map(|its| its.join().expect("a producer does not panic")).collect()
        });
        let took = begun.elapsed().as_secs_f64();
        let mut waits = waits?.concat();
        waits.sort_unstable();
        let p99 = waits.get(waits.len() * 99 / 100).copied().context("nobody waited")?;
        Ok(Asked { count: waits.len() as u64, rate: waits.len() as f64 / took, p99 })
    }

    /// One producer that does not wait for each.
    fn flow(&self, desk: &dyn Desk, work: Work) -> Result<Asked> {
        let (begun, mut count) = (Instant::now(), 0);
        while begun.elapsed().as_secs_f64() < self.seconds {
            let from = self.jobs + count;
            // Several windows at a time, so that the wait at the end of each weighs little.
            let some: Vec<u64> = (from..from + 40 * self.batch as u64).collect();
            desk.ask_all(work, &some)?;
            count += some.len() as u64;
        }
        let rate = count as f64 / begun.elapsed().as_secs_f64();
        Ok(Asked { count, rate, p99: Duration::ZERO })
    }

    /// Makes as many jobs due as the flow has scheduled; how many.
    fn due(&self, desk: &dyn Desk, [.., flow, _]: &[Asked; 7]) -> Result<u64> {
        let jobs: Vec<u64> = (self.jobs..self.jobs + flow.count).collect();
        desk.ask_all(Work::Schedule(Duration::ZERO), &jobs)?;
        Ok(flow.count)
    }

    /// Schedules batches of due jobs for the time of a figure: the rate, and how many.
    fn schedule_batches(&self, subject: &mut dyn Subject) -> Result<(f64, u64)> {
        let (begun, mut done) = (Instant::now(), 0);
        while begun.elapsed().as_secs_f64() < self.seconds {
            let from = self.jobs + done;
            let some: Vec<u64> = (from..from + self.batch as u64).collect();
            subject.schedule(&some, Duration::ZERO)?;
            done += some.len() as u64;
        }
        Ok((done as f64 / begun.elapsed().as_secs_f64(), done))
    }
}

/// How many a second a program runs, with a handler that has nothing to do, from its start until
/// the last acknowledgement is durable.
fn run_all(store: Box<dyn Store>, due: u64) -> Result<f64> {
    let ran = Arc::new(AtomicU64::new(0));
    let counts = Arc::clone(&ran);
    let handlers = Handlers::new().on_bytes(KIND, move |_: &DurableRun<'_>, _: &[u8]| {
        counts.fetch_add(1, Ordering::Relaxed);
        Ok(Next::Done)
    });
    // A delay is rounded up to the next millisecond.
    thread::sleep(Duration::from_millis(2));
    let begun = Instant::now();
    let durable = Durable::start(store, handlers)?;
    while ran.load(Ordering::Relaxed) < due {
        thread::sleep(Duration::from_millis(1));
        ensure!(begun.elapsed() < Duration::from_secs(600), "only {ran:?} of {due} jobs ran");
    }
    durable.stop();
    let ran = ran.load(Ordering::Relaxed);
    ensure!(ran == due, "{ran} runs of {due} jobs");
    Ok(due as f64 / begun.elapsed().as_secs_f64())
}

/// How many a second are taken and ended in batches.
fn fire_all(subject: &mut dyn Subject, due: u64, batch: usize) -> Result<f64> {
    thread::sleep(Duration::from_millis(2));
    let (begun, mut fired) = (Instant::now(), 0);
    while fired < due {
        let some = subject.fire(batch)? as u64;
        ensure!(some > 0, "only {fired} of {due} are due");
        fired += some;
    }
    Ok(fired as f64 / begun.elapsed().as_secs_f64())
}

impl Opened {
    fn into_store(self) -> Result<Box<dyn Store>> {
        match self {
            Self::Store(store) => Ok(store),
            Self::Bare(_) => anyhow::bail!("a bare database is no store"),
        }
    }

    pub(crate) fn into_subject(self) -> Box<dyn Subject> {
        match self {
            Self::Store(store) => Box::new(Stored(store)),
            Self::Bare(subject) => subject,
        }
    }
}
