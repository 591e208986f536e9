//! The experiment `wake`: a second process commits jobs, and this one is woken to run them.
//!
//! The second process is this program again. It uses the store itself, and prints when each of its
//! commits has returned. Both processes read the clock of the machine.

use crate::contender::open_store;
use crate::prelude::*;
use anyhow::Context;
use std::collections::HashMap;
use std::process::{Command, Stdio};
use wheelhouse_frame::threads;

/// The number of the first job: higher than those of all pending jobs.
const FIRST: u64 = 1 << 40;

/// Runs of jobs: the nanosecond at which each began.
type Runs = Arc<Mutex<HashMap<u64, u64>>>;

/// The second process: commits due jobs one by one, and prints for each its number, when its commit
/// had returned, and how long that took.
pub(crate) fn commit_jobs(name: &str, location: &str, count: u64) -> Result<()> {
    let mut store = DirectStore(open_store(name, location)?);
    for job in FIRST..FIRST + count {
        // The pauses spread the commits over all parts of a millisecond.
        thread::sleep(Duration::from_micros(2_000 + job * 37 % 1_000));
        let begun = Instant::now();
        store.change(Request::Schedule(Duration::ZERO), &[job])?;
        println!("{job} {} {}", nanos(), begun.elapsed().as_nanos());
    }
    Ok(())
}

/// Plays the experiment. The store is polled once an hour, so only wake-ups find the jobs. Leases
/// last as long, so that no thread wakes to renew them.
pub(crate) fn play(
    load: &Load,
    (name, location): (&str, &str),
    store: Box<dyn Store>,
) -> Result<Vec<Figure>> {
    let runs = Runs::default();
    let its = Arc::clone(&runs);
    let handlers = Handlers::new().on_bytes(KIND, move |run: &DurableRun<'_>, _: &[u8]| {
        let now = nanos();
        let job = run.key().as_bytes().last_chunk().map_or(0, |job| u64::from_be_bytes(*job));
        its.lock().unwrap_or_else(PoisonError::into_inner).insert(job, now);
        Ok(Next::Done)
    });
    let hour = Duration::from_secs(3_600);
    let durable = Durable::builder(handlers).poll(hour).visibility_timeout(hour).start(store)?;
    // The first claim, and what it does once.
    thread::sleep(Duration::from_millis(50));
    let count = (load.seconds * 1_000.0).ceil() as u64;
    let (mut waits, mut commits) = latencies((name, location), count, &runs)?;
    let mut figures = vec![
        Figure::time("woken p50", quantile(&mut waits, 50)),
        Figure::time("woken p99", quantile(&mut waits, 99)),
        Figure::time("woken max", quantile(&mut waits, 100)).worst(),
        Figure::time("commit p50", quantile(&mut commits, 50)),
    ];
    let claim = durable.snapshot().claim_time.p50;
    figures.push(Figure::time("claim p50", 1_000.0 * claim as f64));
    let claims = || durable.snapshot().counts.claims;
    // The last acknowledgements. A file is also watched for about a second for the transaction of a
    // user's connection, after another process has opened it.
    thread::sleep(Duration::from_millis(1_500));
    let (claims_before, switches_before) = (claims(), switches());
    let idle = 10.0 * load.seconds;
    thread::sleep(Duration::from_secs_f64(idle));
    let in_ten_seconds = |count: u64| count as f64 * 10.0 / idle;
    figures.push(Figure::number("idle claims", in_ten_seconds(claims() - claims_before)));
    let switches = switches().zip(switches_before).map(|(after, before)| after - before);
    figures.extend(switches.map(|its| Figure::number("idle wake-ups", in_ten_seconds(its))));
    durable.stop();
    Ok(figures)
}

/// Starts the second process. Returns the nanoseconds from each commit to the run, and those of
/// each commit.
fn latencies(
    (name, location): (&str, &str),
    count: u64,
    runs: &Runs,
) -> Result<(Vec<u64>, Vec<u64>)> {
    let program = std::env::current_exe().context("cannot find this program")?;
    let arguments = ["--commit-jobs", name, location, &count.to_string()];
    let child = Command::new(program).args(arguments).stdout(Stdio::piped()).spawn()?;
    let output = child.wait_with_output()?;
    ensure!(output.status.success(), "the second process failed: {}", output.status);
    let all = || runs.lock().unwrap_or_else(PoisonError::into_inner);
    wait_for_runs(count, Duration::from_secs(5), || all().len() as u64)?;
    let (runs, output) = (all().clone(), String::from_utf8(output.stdout)?);
    let (mut waits, mut commits) = (Vec::new(), Vec::new());
    for line in output.lines() {
        let numbers: Vec<u64> = line.split(' ').map(str::parse).collect::<Result<_, _>>()?;
        let [job, at, took] = numbers[..] else { anyhow::bail!("unreadable line: {line}") };
        // A run may begin before the committing process has continued.
        waits.push(runs[&job].saturating_sub(at));
        commits.push(took);
    }
    Ok((waits, commits))
}

/// How often threads of durable timers were woken so far. `None` where the system does not say.
fn switches() -> Option<u64> {
    let threads = threads::all();
    let ours = threads.values().filter(|it| it.name.starts_with("wheelhouse"));
    (!threads.is_empty()).then(|| ours.map(|it| it.sleeps).sum())
}
