//! An adapter for hardbyte's [benchmark of job queues on PostgreSQL][bench]: one program that
//! enqueues jobs, runs them, and prints figures as JSON lines. The benchmark kills it, restarts the
//! server, or holds a snapshot open meanwhile.
//!
//! ```sh
//! DATABASE_URL=postgres://postgres@localhost/wheelhouse_bench PRODUCER_RATE=1000 \
//!     cargo run --release -p wheelhouse-store-postgres --example queue_benchmark
//! ```
//!
//! `scripts/queue-benchmark` starts a server, runs phases of the benchmark against this program and
//! prints a table. The protocol is that of `CONTRIBUTING_ADAPTERS.md` in the benchmark: settings
//! are environment variables, figures go to standard output, and SIGTERM ends the program.
//!
//! [bench]: https://github.com/hardbyte/postgresql-job-queue-benchmarking

use hdrhistogram::Histogram;
use serde_json::json;
use std::collections::VecDeque;
use std::env;
use std::io::Write;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use wheelhouse_durable::store::Key;
use wheelhouse_durable::{Commit, Durable, Handlers, Next, Timers};
use wheelhouse_store_postgres::PostgresStore;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

const SYSTEM: &str = "wheelhouse";
const QUEUE: &str = "bench";
const KIND: &str = "job/1";

/// How many commits may be outstanding. With more, the producer waits for the oldest.
const OUTSTANDING: usize = 4_096;

/// Percentiles are of this time before the sample.
const WINDOW: Duration = Duration::from_secs(30);

/// Counts the jobs that are due and not leased.
const DEPTH: &str = "SELECT count(*) FROM wheelhouse.job WHERE queue = $1 AND kind = $2 \
    AND visible_at <= extract(epoch FROM clock_timestamp()) * 1000";

/// The quantity that the producer keeps constant.
#[derive(Clone, Copy)]
enum Load {
    /// Jobs a second.
    Rate(f64),
    /// Jobs that wait.
    Depth(u64),
}

struct Settings {
    url: String,
    load: Load,
    workers: usize,
    payload: usize,
    work: Duration,
    sample: Duration,
}

/// Reads a number from the environment, or returns the default if it is absent.
fn number<T: FromStr>(name: &str, default: T) -> Result<T> {
    let Ok(text) = env::var(name) else { return Ok(default) };
    text.parse().map_err(|_| format!("{name} is '{text}'; it must be a number").into())
}

impl Settings {
    fn read() -> Result<Self> {
        let url = env::var("DATABASE_URL").map_err(|_| "set DATABASE_URL to that of a database")?;
        let scenario = env::var("SCENARIO").unwrap_or_else(|_| "long_horizon".into());
        if scenario != "long_horizon" {
            return Err(format!("SCENARIO is '{scenario}'; only long_horizon is known").into());
        }
        let mode = env::var("PRODUCER_MODE").unwrap_or_else(|_| "fixed".into());
        let load = match mode.as_str() {
            "fixed" => Load::Rate(number("PRODUCER_RATE", 800.0)?),
            "depth-target" => Load::Depth(number("TARGET_DEPTH", 1_000)?),
            _ => return Err(format!("PRODUCER_MODE is '{mode}', not fixed or depth-target").into()),
        };
        let sample = number("SAMPLE_EVERY_S", 5)?;
        if sample == 0 {
            return Err("SAMPLE_EVERY_S is 0; it must be at least 1".into());
        }
        Ok(Self {
            url,
            load,
            workers: number("WORKER_COUNT", 32)?,
            // The time of the insertion takes the first eight bytes.
            payload: number("JOB_PAYLOAD_BYTES", 256)?.max(8),
            work: Duration::from_millis(number("JOB_WORK_MS", 1)?),
            sample: Duration::from_secs(sample),
        })
    }
}

/// Nanoseconds since 1970: an insertion and its run may be in different processes.
fn nanos_now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// An empty histogram of microseconds, up to an hour.
fn histogram() -> Histogram<u64> {
    Histogram::new_with_max(3_600_000_000, 3).expect("three digits are allowed")
}

/// The figures that the tasks of this program share.
struct Figures {
    /// Microseconds from an insertion to the begin of its run, since the last sample.
    claims: Mutex<Histogram<u64>>,
    enqueued: AtomicU64,
    /// The waiting jobs, and how often they were counted.
    depth: AtomicU64,
    counts: AtomicU64,
}

/// Starts the durable timers with the one handler.
fn start(settings: &Settings, figures: &Arc<Figures>) -> Result<Durable> {
    let (work, counted) = (settings.work, Arc::clone(figures));
    let handlers = Handlers::new().on_async_bytes(KIND, move |_, payload| {
        let then = u64::from_le_bytes(payload[..8].try_into().expect("eight bytes"));
        let micros = nanos_now().saturating_sub(then) / 1_000;
        counted.claims.lock().expect("no panic").saturating_record(micros);
        async move {
            tokio::time::sleep(work).await;
            Ok(Next::Done)
        }
    });
    let store = PostgresStore::connect(&settings.url, QUEUE)?;
    let tokio = tokio::runtime::Handle::current();
    let timers = Durable::builder(handlers)
        .async_runs(settings.workers)
        .spawn_on(move |run| drop(tokio.spawn(run)))
        .on_event(|event| eprintln!("{event:?}"));
    Ok(timers.start(store)?)
}

/// Submits jobs. A job counts as enqueued once it is durable, which another task waits for.
async fn produce(
    timers: Timers,
    settings: Arc<Settings>,
    figures: Arc<Figures>,
    commits: mpsc::Sender<Commit<Key>>,
) {
    let mut payload = vec![0; settings.payload];
    let (began, mut submitted) = (Instant::now(), 0_u64);
    // The number of the last count of waiting jobs, and how many had been submitted before it.
    let (mut counted, mut before) = (0, 0);
    loop {
        let wanted = match settings.load {
            Load::Rate(rate) => (began.elapsed().as_secs_f64() * rate) as u64,
            Load::Depth(target) => {
                let counts = figures.counts.load(Ordering::Relaxed);
                if counts != counted {
                    (counted, before) = (counts, submitted);
                }
                before + target.saturating_sub(figures.depth.load(Ordering::Relaxed))
            }
        };
        while submitted < wanted {
            payload[..8].copy_from_slice(&nanos_now().to_le_bytes());
            let commit = timers.after(Duration::ZERO).submit_bytes(KIND, payload.clone());
            if commits.send(commit).await.is_err() {
                return;
            }
            submitted += 1;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Waits for the commits in the order of their submission, and counts them.
async fn count_commits(mut commits: mpsc::Receiver<Commit<Key>>, figures: Arc<Figures>) {
    while let Some(commit) = commits.recv().await {
        match commit.await {
            Ok(_) => _ = figures.enqueued.fetch_add(1, Ordering::Relaxed),
            Err(error) => eprintln!("not enqueued: {error}"),
        }
    }
}

/// Counts the waiting jobs twice a second. It connects again after an error, because the benchmark
/// restarts the server and ends connections.
async fn watch_depth(url: String, figures: Arc<Figures>) {
    let pause = Duration::from_millis(500);
    loop {
        match tokio_postgres::connect(&url, tokio_postgres::NoTls).await {
            Ok((client, connection)) => {
                let connection = tokio::spawn(connection);
                while let Ok(row) = client.query_one(DEPTH, &[&QUEUE, &KIND]).await {
                    let depth = u64::try_from(row.get::<_, i64>(0)).unwrap_or_default();
                    figures.depth.store(depth, Ordering::Relaxed);
                    figures.counts.fetch_add(1, Ordering::Relaxed);
                    tokio::time::sleep(pause).await;
                }
                connection.abort();
            }
            Err(error) => eprintln!("the depth is not known: {error}"),
        }
        tokio::time::sleep(pause).await;
    }
}

fn print(line: &serde_json::Value) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")?;
    Ok(out.flush()?)
}

struct Sampler {
    every: Duration,
    timers: Timers,
    figures: Arc<Figures>,
    /// A histogram for each sample of the window.
    window: VecDeque<Histogram<u64>>,
    enqueued: u64,
    acked: u64,
}

impl Sampler {
    fn sample(&mut self) -> Result<()> {
        let claims =
            std::mem::replace(&mut *self.figures.claims.lock().expect("no panic"), histogram());
        self.window.push_back(claims);
        while self.window.len() > 1 && self.every * self.window.len() as u32 > WINDOW {
            self.window.pop_front();
        }
        let mut claims = histogram();
        for part in &self.window {
            claims.add(part)?;
        }
        let millis = |share| claims.value_at_quantile(share) as f64 / 1_000.0;
        let enqueued = self.figures.enqueued.load(Ordering::Relaxed);
        let acked = self.timers.snapshot().counts.acked;
        let rate = |now: u64, then: u64| (now - then) as f64 / self.every.as_secs_f64();
        let depth = self.figures.depth.load(Ordering::Relaxed) as f64;
        let (every, window) = (self.every.as_secs(), WINDOW.as_secs());
        let t = jiff::Timestamp::now().to_string();
        for (metric, value, window) in [
            ("claim_p50_ms", millis(0.5), window),
            ("claim_p95_ms", millis(0.95), window),
            ("claim_p99_ms", millis(0.99), window),
            ("enqueue_rate", rate(enqueued, self.enqueued), every),
            ("completion_rate", rate(acked, self.acked), every),
            ("queue_depth", depth, 0),
        ] {
            print(&json!({
                "t": t, "system": SYSTEM, "kind": "adapter", "subject_kind": "adapter",
                "subject": "", "metric": metric, "value": value, "window_s": window,
            }))?;
        }
        (self.enqueued, self.acked) = (enqueued, acked);
        Ok(())
    }

    /// Prints samples until SIGTERM, at whole multiples of the interval, so that the samples of
    /// several programs line up.
    async fn run(mut self) -> Result<()> {
        let mut terminate = signal(SignalKind::terminate())?;
        let every = u64::try_from(self.every.as_nanos())?;
        let first = Duration::from_nanos(every - nanos_now() % every);
        let first = tokio::time::Instant::now() + first;
        let mut ticks = tokio::time::interval_at(first, self.every);
        loop {
            tokio::select! {
                _ = ticks.tick() => self.sample()?,
                _ = terminate.recv() => return self.sample(),
            }
        }
    }
}

#[tokio::main]
async fn main() -> Result<()> {
    let settings = Arc::new(Settings::read()?);
    let figures = Arc::new(Figures {
        claims: Mutex::new(histogram()),
        enqueued: AtomicU64::new(0),
        depth: AtomicU64::new(0),
        counts: AtomicU64::new(0),
    });
    let durable = start(&settings, &figures)?;
    print(&json!({
        "kind": "descriptor", "system": SYSTEM, "event_tables": ["wheelhouse.job"],
        "extensions": [], "version": env!("CARGO_PKG_VERSION"), "schema_version": "1",
        "db_name": "wheelhouse_bench", "started_at": jiff::Timestamp::now().to_string(),
    }))?;
    let timers = durable.timers();
    let (commits, outstanding) = mpsc::channel(OUTSTANDING);
    tokio::spawn(count_commits(outstanding, Arc::clone(&figures)));
    tokio::spawn(watch_depth(settings.url.clone(), Arc::clone(&figures)));
    let load = produce(timers.clone(), Arc::clone(&settings), Arc::clone(&figures), commits);
    let load = tokio::spawn(load);

    let (window, every) = (VecDeque::new(), settings.sample);
    Sampler { every, timers, figures, window, enqueued: 0, acked: 0 }.run().await?;
    load.abort();
    // The benchmark waits for five seconds.
    durable.stop_within_async(Duration::from_secs(4)).await;
    Ok(())
}
