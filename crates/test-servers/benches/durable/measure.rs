//! Helpers that several experiments use to measure.

use anyhow::{Result, ensure};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

/// Nanoseconds since 1970.
pub(crate) fn nanos() -> u64 {
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    u64::try_from(now.as_nanos()).unwrap_or(u64::MAX)
}

/// The value that this share of the values does not exceed; 0 if there are none.
pub(crate) fn quantile(values: &mut [u64], percent: usize) -> f64 {
    values.sort_unstable();
    let at = (values.len() * percent / 100).min(values.len().saturating_sub(1));
    values.get(at).copied().unwrap_or(0) as f64
}

/// Waits until this many jobs ran.
pub(crate) fn wait_for_runs(due: u64, patience: Duration, ran: impl Fn() -> u64) -> Result<()> {
    let begun = Instant::now();
    while ran() < due {
        ensure!(begun.elapsed() < patience, "only {} of {due} jobs ran", ran());
        thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}
