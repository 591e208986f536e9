//! The validated number of slots of a wheel.

use core::fmt;

/// A number of slots: a power of two from 2 to 65,536. A mask instead of a division then finds the
/// slot of a tick.
///
/// ```
/// use wheelhouse_core::{SlotCount, SlotCountError};
///
/// assert_eq!(SlotCount::new(256).map(SlotCount::get), Ok(256));
/// assert_eq!(SlotCount::new(0), Err(SlotCountError::TooFew(0)));
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
    /// [`SlotCountError`], whose message names the number and a valid one.
    pub const fn new(slots: usize) -> Result<Self, SlotCountError> {
        if slots < 2 {
            Err(SlotCountError::TooFew(slots))
        } else if slots > Self::MAX {
            Err(SlotCountError::TooMany(slots))
        } else if !slots.is_power_of_two() {
            Err(SlotCountError::NotPowerOfTwo(slots))
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

/// An invalid number of slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotCountError {
    /// Fewer than two slots.
    TooFew(usize),
    /// More than [`SlotCount::MAX`].
    TooMany(usize),
    /// Within the bounds, but not a power of two.
    NotPowerOfTwo(usize),
}

impl fmt::Display for SlotCountError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::TooFew(slots) => write!(f, "{slots} slots: a wheel needs at least 2"),
            Self::TooMany(slots) => {
                write!(f, "{slots} slots: a wheel has at most {}", SlotCount::MAX)
            }
            Self::NotPowerOfTwo(slots) => write!(
                f,
                "{slots} slots: the number of slots must be a power of two (the next one is {})",
                slots.next_power_of_two()
            ),
        }
    }
}

impl core::error::Error for SlotCountError {}

/// An invalid configuration of a wheel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WheelError {
    /// The number of slots is invalid.
    Slots(SlotCountError),
    /// The capacity is larger than the number of timers that a wheel can hold.
    Capacity(CapacityError),
}

impl From<CapacityError> for WheelError {
    fn from(error: CapacityError) -> Self {
        Self::Capacity(error)
    }
}

impl From<SlotCountError> for WheelError {
    fn from(error: SlotCountError) -> Self {
        Self::Slots(error)
    }
}

impl fmt::Display for WheelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Slots(error) => error.fmt(f),
            Self::Capacity(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for WheelError {}

/// A capacity that is larger than the number of timers that a structure can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapacityError(pub usize);

impl CapacityError {
    /// Returns the capacity if a structure can hold that many timers.
    ///
    /// # Errors
    ///
    /// If it is 2^32 or more.
    pub fn check(timers: usize) -> Result<usize, Self> {
        if u32::try_from(timers).is_ok() { Ok(timers) } else { Err(Self(timers)) }
    }
}

impl fmt::Display for CapacityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(timers) = self;
        let most = u32::MAX;
        write!(
            f,
            "a capacity of {timers}: a structure holds at most {most} timers; it grows as needed, \
             so ask for less"
        )
    }
}

impl core::error::Error for CapacityError {}
