//! Configuration.

use crate::LinuxWheel;

wheelhouse_core::timer_builder! {
    /// Configures a [`LinuxWheel`]. The slots and levels are fixed, as in Linux, because the bound
    /// on the lateness follows from them.
    ///
    /// ```
    /// use wheelhouse_linux_wheel::{CapacityError, LinuxWheel, Timer};
    ///
    /// let wheel: LinuxWheel<&str> = LinuxWheel::builder().start(1_000).capacity(10_000).build()?;
    /// assert_eq!(wheel.now(), 1_000);
    ///
    /// let refused = LinuxWheel::<&str>::builder().capacity(1 << 40).build();
    /// assert_eq!(refused.unwrap_err(), CapacityError(1 << 40));
    /// # Ok::<(), CapacityError>(())
    /// ```
    Builder of LinuxWheel
}
