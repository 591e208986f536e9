//! A graceful shutdown: no new work is taken, what has begun is finished, and what was still to be
//! done is written down.
//!
//! Mails are to be sent at their times, on two workers. The program is told to end while one is
//! being sent and others wait: for a worker, or for a time that is hours away.
//!
//! ```sh
//! cargo run -p wheelhouse-service --example graceful_shutdown
//! ```

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use wheelhouse_service::crossbeam_channel::bounded;
use wheelhouse_service::{Handle, Reason, Rejected, Run, Service, Stop};

/// What became of the mails.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) sent: usize,
    /// Written down to be sent after the next start, in the order of their times.
    pub(crate) kept: Vec<String>,
    /// Refused, and handed back to whoever wanted to send it.
    pub(crate) refused: bool,
}

/// The last mail comes too late: the closure that would have sent it is in the error.
fn refused(timers: &Handle, mail: impl FnOnce(&Run<'_>) + Send + 'static) -> bool {
    match timers.after(Duration::ZERO).named("too late").run(mail) {
        Err(Rejected { reason: Reason::Stopped, job }) => {
            drop(job);
            true
        }
        _ => false,
    }
}

pub(crate) fn send_mails() -> Result<Outcome, Box<dyn Error>> {
    let service = Service::builder().workers(2).start()?;
    let timers = service.handle();
    let sent = Arc::new(AtomicUsize::new(0));
    let mail = || {
        let sent = Arc::clone(&sent);
        move |_: &Run<'_>| {
            sent.fetch_add(1, Ordering::SeqCst);
        }
    };

    // A mail that takes as long as the program likes: it is being sent when the end comes.
    let (began, has_begun) = bounded(1);
    let (finish, may_finish) = bounded(1);
    let count = mail();
    timers.after(Duration::ZERO).named("long").run(move |run| {
        began.send(()).unwrap_or_default();
        may_finish.recv().unwrap_or_default();
        count(run);
    })?;
    for hour in [3, 1, 2] {
        timers.after(Duration::from_secs(3600 * hour)).named(format!("in {hour} h")).run(mail())?;
    }
    has_begun.recv()?;

    // The end comes, and soon after it the long mail is through.
    let stopping = std::thread::spawn(move || service.stop(Stop::Wait));
    while !timers.is_stopped() {
        std::thread::yield_now();
    }
    let refused = refused(&timers, mail());
    finish.send(())?;

    let stopped = stopping.join().map_err(|_| "stopping does not panic")?;
    let kept =
        stopped.jobs.iter().filter_map(|job| job.handle().name().map(str::to_owned)).collect();
    Ok(Outcome { sent: sent.load(Ordering::SeqCst), kept, refused })
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let outcome = send_mails()?;
    println!(
        "sent: {}, kept for the next start: {:?}, refused: {}",
        outcome.sent, outcome.kept, outcome.refused
    );
    Ok(())
}
