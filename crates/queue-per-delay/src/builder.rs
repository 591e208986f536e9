//! Configuration.

use crate::QueuePerDelay;

wheelhouse_core::timer_builder! {
    /// Configures a [`QueuePerDelay`]. The capacity allocates no memory for queues.
    ///
    /// ```
    /// use wheelhouse_queue_per_delay::{CapacityError, QueuePerDelay, Timer};
    ///
    /// let builder = QueuePerDelay::builder().start(1_000).capacity(100);
    /// let timeouts: QueuePerDelay<&str> = builder.build()?;
    /// assert_eq!(timeouts.now(), 1_000);
    ///
    /// let refused = QueuePerDelay::<&str>::builder().capacity(1 << 40).build();
    /// assert_eq!(refused.unwrap_err(), CapacityError(1 << 40));
    /// # Ok::<(), CapacityError>(())
    /// ```
    Builder of QueuePerDelay
}
