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
    /// The name of the check's function, and of the test. It begins with the number of the promise
    /// that it checks, as in `contract_06_..`, unless it checks all of them.
    pub name: &'static str,
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
        self.run_within(TIME_LIMIT).unwrap_or_else(|what| panic!("{what}"));
    }

    /// Runs the check and returns the failure as an error.
    ///
    /// # Errors
    ///
    /// The message of the failure. A check that has not ended after `limit` has failed. Its thread
    /// cannot be stopped and continues until the program ends.
    pub fn run_within(&self, limit: Duration) -> Result<(), String> {
        let (done, wait) = channel();
        let Self { name, check } = *self;
        let run = move || {
            check();
            // If the limit has passed, the receiver is gone.
            let _ = done.send(());
        };
        let thread = thread::Builder::new().name(name.to_owned()).spawn(run);
        let thread = thread.expect("a thread can be started");
        if let Err(RecvTimeoutError::Timeout) = wait.recv_timeout(limit) {
            return Err(format!(
                "{name} has not ended after {limit:?}: does the structure iterate over ticks \
                 (contract 10)?"
            ));
        }
        thread.join().map_err(|payload| message(payload.as_ref()).to_owned())
    }
}

/// The text of a panic.
pub(crate) fn message(payload: &(dyn Any + Send)) -> &str {
    payload
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| payload.downcast_ref::<&str>().copied())
        .unwrap_or("a panic without a message")
}
