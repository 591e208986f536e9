//! The validated settings of a structure.

use core::fmt;

/// A number of slots: a power of two from 2 to 65,536. A mask instead of a division then finds the
/// slot of a tick.
///
/// ```
/// use wheelhouse_core::{ConfigError, SlotCount};
///
/// assert_eq!(SlotCount::new(256).map(SlotCount::get), Ok(256));
/// assert_eq!(SlotCount::new(0), Err(ConfigError::TooFewSlots(0)));
/// assert_eq!(SlotCount::new(100).unwrap_err().to_string(),
///     "100 slots: the number of slots must be a power of two (the next one is 128)");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SlotCount {
    bits: u8,
}

impl SlotCount {
    /// The largest number of slots.
    pub const MAX: usize = 1 << 16;

    /// Validates a number of slots.
    ///
    /// # Errors
    ///
    /// [`ConfigError`], whose message names the number and a valid one.
    pub const fn new(slots: usize) -> Result<Self, ConfigError> {
        if slots < 2 {
            Err(ConfigError::TooFewSlots(slots))
        } else if slots > Self::MAX {
            Err(ConfigError::TooManySlots(slots))
        } else if !slots.is_power_of_two() {
            Err(ConfigError::SlotsNotPowerOfTwo(slots))
        } else {
            // At most 16, since `MAX` is 2^16.
            Ok(Self { bits: slots.trailing_zeros() as u8 })
        }
    }

    /// The number of slots.
    #[inline]
    pub const fn get(self) -> usize {
        1 << self.bits
    }

    /// The binary logarithm of the number of slots: the number of bits of a deadline that choose
    /// the slot.
    #[inline]
    pub const fn bits(self) -> u32 {
        self.bits as u32
    }
}

/// A setting that a structure cannot have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// Fewer than two slots.
    TooFewSlots(usize),
    /// More than [`SlotCount::MAX`] slots.
    TooManySlots(usize),
    /// A number of slots within the bounds, but not a power of two.
    SlotsNotPowerOfTwo(usize),
    /// A capacity that is larger than the number of timers that a structure can hold.
    Capacity(usize),
}

impl ConfigError {
    /// Returns the capacity if a structure can hold that many timers.
    ///
    /// # Errors
    ///
    /// If it is 2^32 or more.
    pub fn check_capacity(timers: usize) -> Result<usize, Self> {
        if u32::try_from(timers).is_ok() { Ok(timers) } else { Err(Self::Capacity(timers)) }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::TooFewSlots(slots) => write!(f, "{slots} slots: a wheel needs at least 2"),
            Self::TooManySlots(slots) => {
                write!(f, "{slots} slots: a wheel has at most {}", SlotCount::MAX)
            }
            Self::SlotsNotPowerOfTwo(slots) => write!(
                f,
                "{slots} slots: the number of slots must be a power of two (the next one is {})",
                slots.next_power_of_two()
            ),
            Self::Capacity(timers) => write!(
                f,
                "a capacity of {timers}: a structure holds at most {} timers; it grows as needed, \
                 so ask for less",
                u32::MAX
            ),
        }
    }
}

impl core::error::Error for ConfigError {}
