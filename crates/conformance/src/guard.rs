//! Runs a check with a time limit.

use std::any::Any;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// The time limit of a check. The slowest check takes seconds, or perhaps a minute in a debug build
/// under load.
pub const TIME_LIMIT: Duration = Duration::from_secs(600);

/// A check for one backend.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    /// The name of the check's function, and of the test.
    pub name: &'static str,
    /// The number of the promise that it checks; `None` if it checks all of them.
    pub contract: Option<u8>,
    /// The function. It panics if the backend fails.
    pub check: fn(),
}

impl Check {
    /// Runs the check.
    ///
    /// # Panics
    ///
    /// If the backend fails, or if the check has not ended after [`TIME_LIMIT`].
    pub fn run(&self) {
        if let Err(failure) = self.outcome(TIME_LIMIT) {
            match failure {
                // Not `panic!`, because the message has been printed already.
                Failure::Panic(payload) => std::panic::resume_unwind(payload),
                Failure::Hangs => panic!("{}", hangs(self.name, TIME_LIMIT)),
            }
        }
    }

    /// Runs the check and returns the failure as an error.
    ///
    /// # Errors
    ///
    /// The message of the failure. A check that has not ended after `limit` has failed. Its thread
    /// cannot be stopped and continues until the program ends.
    pub fn run_within(&self, limit: Duration) -> Result<(), String> {
        self.outcome(limit).map_err(|failure| match failure {
            Failure::Panic(payload) => message(payload.as_ref()).to_owned(),
            Failure::Hangs => hangs(self.name, limit),
        })
    }

    fn outcome(&self, limit: Duration) -> Result<(), Failure> {
        let (done, wait) = channel();
        let check = self.check;
        let run = move || {
            check();
            // If the limit has passed, the receiver is gone.
            let _ = done.send(());
        };
        let thread = thread::Builder::new()
            .name(self.name.to_owned())
            .spawn(run)
            .expect("a thread can be started");
        match wait.recv_timeout(limit) {
            Err(RecvTimeoutError::Timeout) => Err(Failure::Hangs),
            Ok(()) | Err(RecvTimeoutError::Disconnected) => thread.join().map_err(Failure::Panic),
        }
    }
}

enum Failure {
    Panic(Box<dyn Any + Send>),
    Hangs,
}

fn hangs(name: &str, limit: Duration) -> String {
    format!(
        "{name} has not ended after {limit:?}: does the structure iterate over ticks (contract 10)?"
    )
}

/// The text of a panic.
pub(crate) fn message(payload: &(dyn Any + Send)) -> &str {
    payload
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| payload.downcast_ref::<&str>().copied())
        .unwrap_or("a panic without a message")
}
