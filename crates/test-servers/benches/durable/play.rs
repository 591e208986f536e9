//! The experiments. Each one leaves the same pending jobs as it found.

use crate::client::{Client, GroupCommit};
use crate::contender::Opened;
use crate::late;
use crate::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

const DAY: u64 = 86_400;
const PRODUCERS: usize = 64;

/// The delay of a pending job: more than two hours, so that it is not due during the run, spread
/// over a day, and independent of the order of keys.
fn far(job: u64) -> Duration {
    Duration::from_secs(7_200 + job.wrapping_mul(7_919) % DAY)
}

/// The result of the requests of all producers.
struct Measured {
    count: u64,
    nanos: f64,
    p99: f64,
}

impl Measured {
    fn rate(&self, name: &'static str) -> Figure {
        Figure::rate(name, self.count, self.nanos)
    }
}

/// Opens the data of a contender. They must not be open twice at a time.
type Open<'a> = &'a dyn Fn() -> Result<Opened>;

impl Load {
    pub(crate) fn fill(&self, storage: &mut dyn JobStorage) -> Result<()> {
        (0..self.jobs).step_by(5_000).try_for_each(|from| {
            let some: Vec<u64> = (from..self.jobs.min(from + 5_000)).collect();
            storage.change(Request::Schedule(far(from)), &some)
        })
    }

    pub(crate) fn play(&self, which: DurableExperiment, open: Open<'_>) -> Result<Vec<Figure>> {
        match which {
            DurableExperiment::OneProducer => self.with_client(open()?, Self::with_one_producer),
            DurableExperiment::ManyProducers => {
                self.with_client(open()?, Self::with_many_producers)
            }
            DurableExperiment::WithoutWaiting => self.without_waiting_then_run(open),
            DurableExperiment::Batches => self.batches(&mut *open()?.into_storage()),
            DurableExperiment::Opening => self.opening(open),
            DurableExperiment::Late => match open()? {
                Opened::Store(store) => late::play(self, store),
                Opened::BareDatabase(_) => unreachable!("it runs no program"),
            },
            DurableExperiment::Waking => unreachable!("`wake::play` plays it"),
        }
    }

    /// Sends requests to durable timers, as in a program, or to the floor.
    fn with_client<R>(
        &self,
        opened: Opened,
        ask: impl Fn(&Self, &dyn Client) -> Result<R>,
    ) -> Result<R> {
        match opened {
            Opened::Store(store) => {
                let durable = Durable::start(store, Handlers::new())?;
                let result = ask(self, &*durable);
                durable.stop();
                result
            }
            Opened::BareDatabase(storage) => ask(self, &GroupCommit::new(storage, self.batch)),
        }
    }

    fn with_one_producer(&self, client: &dyn Client) -> Result<Vec<Figure>> {
        let far = far(self.jobs);
        let scheduled = self.wait(client, 1, Request::Schedule(far), None)?;
        let most = Some(scheduled.count);
        let moved = self.wait(client, 1, Request::Refresh(2 * far), most)?;
        let cancelled = self.wait(client, 1, Request::Cancel, most)?;
        Ok(vec![
            scheduled.rate("schedules/s"),
            moved.rate("refreshes/s"),
            cancelled.rate("cancels/s"),
        ])
    }

    fn with_many_producers(&self, client: &dyn Client) -> Result<Vec<Figure>> {
        let scheduled = self.wait(client, PRODUCERS, Request::Schedule(far(self.jobs)), None)?;
        let cancelled = self.wait(client, PRODUCERS, Request::Cancel, Some(scheduled.count))?;
        Ok(vec![
            scheduled.rate("schedules/s"),
            Figure::time("schedule p99", scheduled.p99),
            cancelled.rate("cancels/s"),
            Figure::time("cancel p99", cancelled.p99),
        ])
    }

    fn without_waiting_then_run(&self, open: Open<'_>) -> Result<Vec<Figure>> {
        let (mut figures, count) = self.with_client(open()?, Self::without_waiting)?;
        let nanos = match open()? {
            Opened::Store(store) => run_all(store, count)?,
            Opened::BareDatabase(mut storage) => fire_all(&mut *storage, count, self.batch)?,
        };
        figures.push(Figure::rate("fires/s", count, nanos));
        Ok(figures)
    }

    /// Schedules and cancels without waiting for each; then schedules as many that are due. Returns
    /// their number, too.
    fn without_waiting(&self, client: &dyn Client) -> Result<(Vec<Figure>, u64)> {
        // Several windows at a time, so that the wait at the end of each has little weight.
        let (count, scheduled) = self.schedule_new(40 * self.batch, |jobs| {
            client.request_all(Request::Schedule(far(self.jobs)), jobs)
        })?;
        let jobs: Vec<u64> = (self.jobs..self.jobs + count).collect();
        let begun = Instant::now();
        client.request_all(Request::Cancel, &jobs)?;
        let cancelled = Figure::rate("cancels/s", count, nanos_since(begun));
        client.request_all(Request::Schedule(Duration::ZERO), &jobs)?;
        Ok((vec![scheduled, cancelled], count))
    }

    /// Schedules new jobs for the time of a figure, `at_once` at a time. Returns their number.
    fn schedule_new(
        &self,
        at_once: usize,
        mut schedule: impl FnMut(&[u64]) -> Result<()>,
    ) -> Result<(u64, Figure)> {
        let (begun, mut count) = (Instant::now(), 0);
        while begun.elapsed().as_secs_f64() < self.seconds {
            let from = self.jobs + count;
            let some: Vec<u64> = (from..from + at_once as u64).collect();
            schedule(&some)?;
            count += some.len() as u64;
        }
        Ok((count, Figure::rate("schedules/s", count, nanos_since(begun))))
    }

    /// Schedules batches of due jobs for the time of a figure, then claims and acknowledges them.
    fn batches(&self, storage: &mut dyn JobStorage) -> Result<Vec<Figure>> {
        let (count, scheduled) = self.schedule_new(self.batch, |jobs| {
            storage.change(Request::Schedule(Duration::ZERO), jobs)
        })?;
        let nanos = fire_all(storage, count, self.batch)?;
        Ok(vec![scheduled, Figure::rate("fires/s", count, nanos)])
    }

    fn opening(&self, open: Open<'_>) -> Result<Vec<Figure>> {
        let begun = Instant::now();
        let mut storage = open()?.into_storage();
        let fired = storage.fire(1)?;
        let opened = Figure::time("open", nanos_since(begun));
        let left = storage.count()?;
        ensure!(fired == 0 && left == self.jobs, "{left} jobs instead of {}", self.jobs);
        Ok(vec![opened])
    }

    /// Runs `producers` threads, each of which waits for its own requests: for the time of a
    /// figure, or until `most` requests are done.
    fn wait(
        &self,
        client: &dyn Client,
        producers: usize,
        request: Request,
        most: Option<u64>,
    ) -> Result<Measured> {
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
                client.request(request, job)?;
                waits.push(begun.elapsed().as_nanos() as u64);
            }
            anyhow::Ok(waits)
        };
        let begun = Instant::now();
        let waits: Result<Vec<Vec<u64>>> = thread::scope(|scope| {
            let all: Vec<_> = (0..producers).map(|_| scope.spawn(produce)).collect();
            if most.is_none() {
                thread::sleep(Duration::from_secs_f64(self.seconds));
                over.store(true, Ordering::Relaxed);
            }
            all.into_iter().map(|its| its.join().expect("a producer does not panic")).collect()
        });
        let nanos = nanos_since(begun);
        let mut waits = waits?.concat();
        ensure!(!waits.is_empty(), "no request was made");
        Ok(Measured { count: waits.len() as u64, nanos, p99: quantile(&mut waits, 99) })
    }
}

/// Runs all due jobs with a handler that does nothing. Returns the nanoseconds from the start of
/// the program until the last acknowledgement is durable.
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
    wait_for_runs(due, Duration::from_secs(600), || ran.load(Ordering::Relaxed))?;
    durable.stop();
    let ran = ran.load(Ordering::Relaxed);
    ensure!(ran == due, "{ran} runs of {due} jobs");
    Ok(nanos_since(begun))
}

/// Claims and acknowledges all due jobs in batches. Returns the nanoseconds that it took.
fn fire_all(storage: &mut dyn JobStorage, due: u64, batch: usize) -> Result<f64> {
    thread::sleep(Duration::from_millis(2));
    let (begun, mut fired) = (Instant::now(), 0);
    while fired < due {
        let some = storage.fire(batch)? as u64;
        ensure!(some > 0, "only {fired} of {due} are due");
        fired += some;
    }
    Ok(nanos_since(begun))
}

fn nanos_since(begun: Instant) -> f64 {
    begun.elapsed().as_nanos() as f64
}

impl Opened {
    pub(crate) fn into_storage(self) -> Box<dyn JobStorage> {
        match self {
            Self::Store(store) => Box::new(DirectStore(store)),
            Self::BareDatabase(storage) => storage,
        }
    }
}
