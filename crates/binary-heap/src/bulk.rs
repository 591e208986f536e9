//! Firing many timers at a time.

use wheelhouse_core::{Expired, Timer};

/// A heap that fires its timers one by one, or all that are due after sorting them once.
pub(crate) trait FireInBulk<T>: Timer<T> {
    /// The number of timers to fire one by one before sorting may pay.
    fn bulk_threshold(&self) -> usize;

    /// Fires all timers that are due if they are a large part of all timers, otherwise none.
    /// Returns how many fired.
    fn advance_in_bulk(&mut self, on_expiry: &mut impl FnMut(Expired<T>)) -> usize;

    /// Fires all timers that are due. Never inlined, so that inlining `advance` adds only a
    /// comparison for a tick at which nothing is due.
    #[inline(never)]
    fn advance_due(&mut self, on_expiry: &mut impl FnMut(Expired<T>)) -> usize {
        let mut fired = 0;
        let mut threshold = self.bulk_threshold();
        while let Some(expired) = self.pop_expired(self.now()) {
            fired += 1;
            on_expiry(expired);
            if fired >= threshold {
                fired += self.advance_in_bulk(on_expiry);
                threshold = fired + self.bulk_threshold();
            }
        }
        fired
    }
}
