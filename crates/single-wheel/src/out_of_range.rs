//! The error of a wheel that is asked for more than its range.

use core::fmt;
use wheelhouse_core::Tick;

/// A deadline that lies past the range of a wheel, with the value that was to wait for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfRange<T> {
    /// The deadline.
    pub deadline: Tick,
    /// How many ticks the wheel has.
    pub range: Tick,
    /// What was to be inserted.
    pub value: T,
}

impl<T> fmt::Display for OutOfRange<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a deadline of {} lies past the {} ticks of the wheel: choose more slots, or `insert`, \
             which keeps it in an overflow list",
            self.deadline, self.range
        )
    }
}

impl<T: fmt::Debug> core::error::Error for OutOfRange<T> {}
