//! A graceful shutdown: new work is refused, runs in progress finish, and jobs that did not run are
//! written down.
//!
//! Mails are sent at their times. The program ends while one is being sent and others wait for a
//! time that is hours away. The stop has a limit: a mail server that never answers keeps a run in
//! progress for ever, and `Stop::Wait` would wait for it.
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

/// The mails after the stop.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) sent: usize,
    /// Written down to be sent after the next start, in the order of their times.
    pub(crate) kept: Vec<String>,
    /// Refused, and returned to the caller.
    pub(crate) refused: bool,
    /// Still being sent.
    pub(crate) hanging: usize,
}

/// Schedules a mail after the stop has begun: the closure that would have sent it is in the error.
fn refused(timers: &Handle, mail: impl FnOnce(&Run<'_>) + Send + 'static) -> bool {
    match timers.after(Duration::ZERO).named("too late").run(mail) {
        Err(Rejected { reason: Reason::Stopped, job }) => {
            drop(job);
            true
        }
        _ => false,
    }
}

/// The program, with a mail server that answers or does not. The stop waits for `limit` at most.
pub(crate) fn send_mails(server_answers: bool, limit: Duration) -> Result<Outcome, Box<dyn Error>> {
    let service = Service::builder().workers(2).start()?;
    let timers = service.handle();
    let sent = Arc::new(AtomicUsize::new(0));
    let mail = || {
        let sent = Arc::clone(&sent);
        move |_: &Run<'_>| {
            sent.fetch_add(1, Ordering::SeqCst);
        }
    };

    // A mail that takes as long as the mail server wants. It is being sent when the end comes.
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

    // The end comes, and soon after it the answer of the mail server.
    let stopping = std::thread::spawn(move || service.stop(Stop::WaitFor(limit)));
    while !timers.is_stopped() {
        std::thread::yield_now();
    }
    let refused = refused(&timers, mail());
    if server_answers {
        finish.send(())?;
    }

    let stopped = stopping.join().map_err(|_| "stopping does not panic")?;
    let kept =
        stopped.jobs.iter().filter_map(|job| job.handle().name().map(str::to_owned)).collect();
    let (sent, hanging) = (sent.load(Ordering::SeqCst), stopped.running);
    Ok(Outcome { sent, kept, refused, hanging })
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let Outcome { sent, kept, refused, hanging } = send_mails(true, Duration::from_secs(30))?;
    println!("sent: {sent}, kept for the next start: {kept:?}");
    println!("refused: {refused}, still being sent: {hanging}");
    Ok(())
}
