//! The error for a deadline past the range of the wheel.

use core::fmt;
use wheelhouse_core::Tick;

/// A deadline is past the range of the wheel. Contains the value that was not inserted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfRange<T> {
    /// The deadline.
    pub deadline: Tick,
    /// The range: the number of ticks of the wheel.
    pub range: Tick,
    /// The value that was not inserted.
    pub value: T,
}

impl<T> fmt::Display for OutOfRange<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a deadline of {} is past the {} ticks of the wheel: choose more slots, or use \
             `insert`, which stores it in an overflow list",
            self.deadline, self.range
        )
    }
}

impl<T: fmt::Debug> core::error::Error for OutOfRange<T> {}
