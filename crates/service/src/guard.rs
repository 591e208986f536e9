//! Code of the user is called, and what he gave is dropped, so that a panic there ends nothing
//! else.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Drops what the user gave, without a lock. It may panic in that, and neither a thread of the
/// service nor what else is to be done is to end by it.
#[inline]
pub(crate) fn discard<T>(value: T) {
    guarded(|| drop(value)).unwrap_or_default();
}

/// Calls code of the user, and returns its result; if it panics, the text of that. For durable
/// timers too.
pub fn guarded<T>(code: impl FnOnce() -> T) -> Result<T, String> {
    let payload = match catch_unwind(AssertUnwindSafe(code)) {
        Ok(value) => return Ok(value),
        Err(payload) => payload,
    };
    let message = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let message = message.or_else(|| payload.downcast_ref::<String>().cloned());
    // Dropping what was thrown may throw again, and so on: then it is kept for ever.
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(again);
    }
    Err(message.unwrap_or_else(|| "(no message)".to_owned()))
}
