//! The handle of a timer.

use core::fmt;
use core::num::NonZeroU32;

/// The handle of a live timer: eight bytes, `Copy`, the same type for every backend. An `Option` of
/// it takes no more.
///
/// It names a place in the structure's storage and the *generation* of that place, a count that
/// moves on with every use. A handle whose timer has fired or was cancelled names a generation that
/// is past and answers `None` or `false`. The count cannot come round to an old handle: a place
/// whose generations are used up (after four billion timers) is retired and never used again, which
/// costs one entry of memory for each such place.
///
/// A handle means something only to the structure that gave it out.
///
/// ```
/// use wheelhouse_core::arena::Arena;
///
/// let mut arena = Arena::new();
/// let old = arena.insert("first");
/// assert_eq!(arena.remove(old), Some(((), "first")));
/// let new = arena.insert("second"); // takes the same place
/// assert_eq!(arena.get(old), None);
/// assert_eq!(arena.get(new), Some(&"second"));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TimerId {
    index: u32,
    generation: NonZeroU32,
}

const _: () = assert!(size_of::<Option<TimerId>>() == 8);

impl TimerId {
    /// A handle made of its parts, for storage other than this crate's
    /// [`Arena`](crate::arena::Arena).
    #[inline]
    pub const fn from_parts(index: u32, generation: NonZeroU32) -> Self {
        Self { index, generation }
    }

    /// The place of the timer in its structure's storage.
    #[inline]
    pub const fn index(self) -> u32 {
        self.index
    }

    /// The generation of the place that this handle is for; the first is 1.
    #[inline]
    pub const fn generation(self) -> NonZeroU32 {
        self.generation
    }

    /// The handle of the timer that takes the place after this one; `None` after the last
    /// generation, when the place is to be retired.
    #[inline]
    pub const fn next_of_place(self) -> Option<Self> {
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
