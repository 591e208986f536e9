//! Running a check so that it ends, one way or the other.

use std::any::Any;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// How long a check may take. The longest takes seconds, in a debug build under load perhaps a
/// minute.
pub const TIME_LIMIT: Duration = Duration::from_secs(600);

/// A check for one backend.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    /// The name of the function of this crate, and of the test.
    pub name: &'static str,
    /// The promise of the contract that it is about; `None` if it is about all of them.
    pub contract: Option<u8>,
    /// The check itself. It panics if the backend fails it.
    pub check: fn(),
}

impl Check {
    /// Runs the check.
    ///
    /// # Panics
    ///
    /// If the backend fails it, or it has not ended after [`TIME_LIMIT`].
    pub fn run(&self) {
        if let Err(failure) = self.outcome(TIME_LIMIT) {
            match failure {
                // Not `panic!`: the message has been printed, where it arose.
                Failure::Panic(payload) => std::panic::resume_unwind(payload),
                Failure::Hangs => panic!("{}", hangs(self.name, TIME_LIMIT)),
            }
        }
    }

    /// Runs the check and says what failed.
    ///
    /// # Errors
    ///
    /// The message of the failure. A check that has not ended after `limit` has failed; its thread
    /// cannot be stopped and goes on until the program ends.
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
            // Nobody waits any more if the limit has passed.
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
        "{name} has not ended after {limit:?}: does the structure walk a distance tick by tick \
         (contract 10)?"
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
