//! The order of locks, which debug builds check: a part of the keys, then one shard. A thread that
//! has the lock of a shard takes neither that of another shard nor that of a part.
//!
//! So no two threads wait for each other. It also finds code of the user that runs under the lock
//! of a shard and calls the service: without the check, such a call waits for its own thread.

/// This thread has the lock of a shard while this exists.
pub(super) struct HoldsShard;

#[cfg(debug_assertions)]
crate::sync::thread_local! {
    static HOLDS_SHARD: std::cell::Cell<bool> = std::cell::Cell::default();
}

impl HoldsShard {
    #[inline]
    pub(super) fn new() -> Self {
        assert_none();
        #[cfg(debug_assertions)]
        HOLDS_SHARD.with(|holds| holds.set(true));
        Self
    }
}

impl Drop for HoldsShard {
    #[inline]
    fn drop(&mut self) {
        #[cfg(debug_assertions)]
        HOLDS_SHARD.with(|holds| holds.set(false));
    }
}

/// This thread is about to take a lock, and must not have that of a shard.
#[inline]
pub(super) fn assert_none() {
    #[cfg(debug_assertions)]
    HOLDS_SHARD.with(|holds| assert!(!holds.get(), "this thread has the lock of a shard already"));
}
