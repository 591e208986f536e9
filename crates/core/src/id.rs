//! The handle of a timer.

use core::fmt;
use core::num::NonZeroU32;

/// The handle of a timer: eight bytes, `Copy`, the same type for every backend. `Option<TimerId>`
/// takes eight bytes too.
///
/// It contains the index of a place in the structure's storage and the *generation* of that place,
/// a counter that each reuse of the place increments. If the timer has fired or was cancelled, the
/// generation of the handle is out of date, and every call with it returns `None` or `false`. The
/// counter never wraps: a place whose generations are used up, after four billion timers, is
/// retired. A retired place is never used again and costs the memory of one entry.
///
/// A handle is valid only for the structure that returned it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TimerId {
    index: u32,
    generation: NonZeroU32,
}

// A generation is never 0, so `None` needs no further byte.
const _: () = assert!(size_of::<Option<TimerId>>() == 8);

impl TimerId {
    /// Creates a handle from its parts, for storage other than this crate's
    /// [`Arena`](crate::arena::Arena).
    #[inline]
    pub const fn from_parts(index: u32, generation: NonZeroU32) -> Self {
        Self { index, generation }
    }

    /// The index of the timer's place in the structure's storage.
    #[inline]
    pub const fn index(self) -> u32 {
        self.index
    }

    /// The generation of the place; the first is 1.
    #[inline]
    pub const fn generation(self) -> NonZeroU32 {
        self.generation
    }

    /// The handle of the next timer in the same place; `None` after the last generation, when the
    /// place has to be retired.
    #[inline]
    pub const fn next_generation(self) -> Option<Self> {
        match self.generation.checked_add(1) {
            Some(generation) => Some(Self { generation, ..self }),
            None => None,
        }
    }
}

impl fmt::Debug for TimerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TimerId({}v{})", self.index, self.generation)
    }
}
