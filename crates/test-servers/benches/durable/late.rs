//! The experiment `late`: a thousand jobs a second, and how late each begins to run.
//!
//! The jobs are scheduled while others run, so each millisecond has commits, a claim and
//! acknowledgements, which share one disk. Each is due at a whole millisecond.

use crate::prelude::*;

const PERIOD: Duration = Duration::from_millis(1);
/// Longer than a commit takes, so that no job is durable too late.
const DELAY: Duration = Duration::from_millis(200);

/// Plays the experiment for ten times as long as a figure takes.
pub(crate) fn play(load: &Load, store: Box<dyn Store>) -> Result<Vec<Figure>> {
    let late = Arc::new(Mutex::new(Vec::new()));
    let its = Arc::clone(&late);
    let handlers = Handlers::new().on_bytes(KIND, move |run: &DurableRun<'_>, _: &[u8]| {
        let lateness = nanos().saturating_sub(1_000_000 * run.due().as_millis());
        its.lock().unwrap_or_else(PoisonError::into_inner).push(lateness);
        Ok(Next::Done)
    });
    let durable = Durable::start(store, handlers)?;
    let count = (10_000.0 * load.seconds).ceil() as u32;
    let (begun, mut commits) = (Instant::now(), Vec::new());
    for number in 0..count {
        thread::sleep((PERIOD * number).saturating_sub(begun.elapsed()));
        let job = load.jobs + u64::from(number);
        commits.push(durable.after(DELAY).key(key(job)).submit_bytes(KIND, PAYLOAD));
    }
    commits.into_iter().try_for_each(|commit| commit.wait().map(drop))?;
    let all = || late.lock().unwrap_or_else(PoisonError::into_inner);
    wait_for_runs(count.into(), Duration::from_secs(10), || all().len() as u64)?;
    let snapshot = durable.snapshot();
    durable.stop();
    let mut late = all();
    ensure!(late.len() == count as usize, "{} runs of {count} jobs", late.len());
    let micros = |name, micros: u64| Figure::time(name, 1_000.0 * micros as f64);
    Ok(vec![
        Figure::time("late p50", quantile(&mut late, 50)),
        Figure::time("late p99", quantile(&mut late, 99)),
        micros("claim p50", snapshot.claim_time.p50),
        micros("claim p99", snapshot.claim_time.p99),
        micros("commit p50", snapshot.commit_time.p50),
        micros("commit p99", snapshot.commit_time.p99),
    ])
}
