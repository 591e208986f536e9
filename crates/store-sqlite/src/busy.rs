//! Waiting for another process that writes.

use std::cell::Cell;
use std::thread;
use std::time::{Duration, Instant};

/// How long a call waits for another process that writes.
pub(crate) const BUSY: Duration = Duration::from_secs(10);

/// How long such a call waits until it tries again.
const RETRY: Duration = Duration::from_millis(1);

/// Waits until a call tries again to write, after `tries`. Returns `false` if it must fail.
///
/// SQLite's own handler doubles the pauses up to 100 ms. A process that commits all the time takes
/// the lock again within a millisecond, so the longer another has waited, the less likely it is to
/// find the lock free. With equal and short pauses, all processes get their share.
pub(crate) fn wait_for_writer(tries: i32) -> bool {
    thread_local! {
        /// When the call of this thread that waits has begun to wait.
        static BEGUN: Cell<Option<Instant>> = const { Cell::new(None) };
    }
    if tries == 0 {
        BEGUN.set(Some(Instant::now()));
    }
    thread::sleep(RETRY);
    BEGUN.get().is_some_and(|begun| begun.elapsed() < BUSY)
}
