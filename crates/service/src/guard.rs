//! Calls code of the user and drops values of the user, and catches their panics.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Drops a value of the user. To be called without a lock. Its destructor may panic, which must end
/// neither a thread of the service nor the operation in progress. For durable timers too.
#[inline]
pub fn discard<T>(value: T) {
    guarded(|| drop(value)).unwrap_or_default();
}

/// Calls code of the user, and returns its result. If it panics, returns the panic message. For
/// durable timers too.
pub fn guarded<T>(code: impl FnOnce() -> T) -> Result<T, String> {
    let payload = match catch_unwind(AssertUnwindSafe(code)) {
        Ok(value) => return Ok(value),
        Err(payload) => payload,
    };
    let message = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let message = message.or_else(|| payload.downcast_ref::<String>().cloned());
    // Dropping the payload may panic again, with another payload, and so on. The second payload is
    // leaked to end this.
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(again);
    }
    Err(message.unwrap_or_else(|| "(no message)".to_owned()))
}
