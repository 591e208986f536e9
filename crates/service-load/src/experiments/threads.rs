//! The threads of a play that use a facility.

use std::thread;

/// Calls a closure with each item, on a thread for each. Returns the results of the threads that
/// did not panic.
pub(super) fn on_threads<T: Send, R: Send>(
    items: impl IntoIterator<Item = T>,
    call: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    thread::scope(|scope| {
        let call = &call;
        let spawn = |item| scope.spawn(move || call(item));
        let threads: Vec<_> = items.into_iter().map(spawn).collect();
        threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
    })
}
