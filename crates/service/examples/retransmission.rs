//! Retransmission as in TCP: a segment that is not acknowledged in time is sent again, with a
//! timeout that doubles (RFC 6298), and given up after a number of attempts. Each connection has
//! one job. An acknowledgement postpones it, and the job moves itself after a timeout.
//!
//! ```sh
//! cargo run -p wheelhouse-service --example retransmission
//! ```

use std::error::Error;
use std::time::Duration;
use wheelhouse_service::crossbeam_channel::{Receiver, unbounded};
use wheelhouse_service::{ChangeError, Handle, JobHandle, ManualClock, Moment, Scheduler};

/// The first timeout, as in Linux.
const FIRST: Duration = Duration::from_millis(200);
/// No timeout is longer.
const LONGEST: Duration = Duration::from_secs(120);
const TRIES: u64 = 6;

/// An action of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    Retransmit { at: Duration },
    GiveUp { at: Duration },
}

pub(crate) struct Connection {
    timer: JobHandle,
    pub(crate) acts: Receiver<Act>,
}

impl Connection {
    /// Sends a segment, and starts the timeout.
    pub(crate) fn send(timers: &Handle) -> Result<Self, Box<dyn Error>> {
        let (sender, acts) = unbounded();
        let mut timeout = FIRST;
        let timer = timers.every(FIRST).times(TRIES + 1).run(move |run| {
            let at = run.started().since_origin();
            let act = if run.is_last() { Act::GiveUp { at } } else { Act::Retransmit { at } };
            // If the receiver is gone, there is nothing to do.
            sender.send(act).unwrap_or_default();
            timeout = (timeout * 2).min(LONGEST);
            // In the last run this is an error: no run follows that could be moved.
            run.job().refresh(timeout).unwrap_or_default();
        })?;
        Ok(Self { timer, acts })
    }

    /// An acknowledgement restarts the timeout. An error if the connection was dropped.
    pub(crate) fn acknowledged(&self) -> Result<(), ChangeError> {
        self.timer.refresh(FIRST)
    }
}

/// The actions of a connection whose peer acknowledges for a second and then falls silent.
pub(crate) fn silent_peer() -> Result<Vec<Act>, Box<dyn Error>> {
    let clock = ManualClock::new();
    let mut scheduler = Scheduler::builder().clock(clock.clone()).build()?;
    let connection = Connection::send(&scheduler.handle())?;
    for n in 1..=10 {
        scheduler.play(&clock, Moment::ORIGIN.saturating_add(Duration::from_millis(100 * n)));
        connection.acknowledged()?;
    }
    scheduler.play(&clock, Moment::ORIGIN.saturating_add(Duration::from_secs(3600)));
    assert_eq!(connection.acknowledged(), Err(ChangeError::Finished), "it is too late");
    Ok(connection.acts.try_iter().collect())
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    for act in silent_peer()? {
        println!("{act:?}");
    }
    Ok(())
}
