//! An order that is not paid within 30 minutes is cancelled. Orders come in bursts: a million at
//! one instant, so all unpaid ones are due at one instant too.
//!
//! On a manual clock, so it takes seconds instead of half an hour.
//!
//! ```sh
//! cargo run --release -p wheelhouse-service --example order_audit
//! ```

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use wheelhouse_service::{JobHandle, ManualClock, Moment, Reason, Scheduler};

const TIME_TO_PAY: Duration = Duration::from_secs(30 * 60);

/// The orders after half an hour.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) paid: u64,
    pub(crate) cancelled: u64,
    /// How often the scheduler was polled.
    pub(crate) polls: u64,
}

pub(crate) fn audit(orders: u64) -> Result<Outcome, Box<dyn Error>> {
    let clock = ManualClock::new();
    let mut scheduler = Scheduler::builder().clock(clock.clone()).build()?;
    let timers = scheduler.handle();
    let cancelled = Arc::new(AtomicU64::new(0));
    let audits: Vec<JobHandle> = (0..orders)
        .map(|_| {
            let cancelled = Arc::clone(&cancelled);
            timers.after(TIME_TO_PAY).run(move |_| {
                cancelled.fetch_add(1, Ordering::Relaxed);
            })
        })
        .collect::<Result<_, _>>()
        .map_err(Reason::from)?;

    // One of twenty is paid after ten minutes: its audit is cancelled, and `Ok` means that this was
    // in time.
    scheduler.play(&clock, Moment::ORIGIN.saturating_add(Duration::from_secs(10 * 60)));
    let paid = audits.iter().step_by(20).filter(|audit| audit.cancel().is_ok()).count() as u64;

    scheduler.play(&clock, Moment::ORIGIN.saturating_add(TIME_TO_PAY - Duration::from_millis(1)));
    assert_eq!(cancelled.load(Ordering::Relaxed), 0, "not a millisecond early");
    scheduler.play(&clock, Moment::ORIGIN.saturating_add(TIME_TO_PAY));
    assert!(timers.is_empty());
    Ok(Outcome {
        paid,
        cancelled: cancelled.load(Ordering::Relaxed),
        polls: timers.snapshot().counts.polls,
    })
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let orders = std::env::args().nth(1).map_or(Ok(1_000_000), |number| number.parse())?;
    let Outcome { paid, cancelled, polls } = audit(orders)?;
    println!(
        "{orders} orders: {paid} paid, {cancelled} cancelled after 30 minutes, {polls} polls in \
         all that time"
    );
    Ok(())
}
