//! Timers that are still to be unlinked or moved.
//!
//! At a million timers a program waits for memory, first for the handle, then for the timer it
//! leads to. The processor looks some hundred instructions ahead: the fewer there are to a
//! cancellation, the more cancellations wait side by side. So where timers are many, only what the
//! caller has to know is done at once, and the rest is *owed*: thirty-two timers are taken out of
//! their lists together, when all of it has arrived from memory.
//!
//! A debt is never seen. It is paid before anything is due, before another timer could overtake one
//! that is moving, and at once if the next slot could be empty or another one come before it.

use wheelhouse_core::TimerId;

/// When so many are owed, they are paid.
pub(crate) const MOST: usize = 32;

/// A timer that has left its slot without the slot knowing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owed {
    /// Its place.
    pub(crate) at: u32,
    /// The handle to be released if it was cancelled; if there is none, it moves to its deadline.
    pub(crate) cancelled: Option<TimerId>,
}

/// All that is owed.
#[derive(Clone, Debug)]
pub(crate) struct Arrears {
    owed: [Owed; MOST],
    len: usize,
    /// How many of them were cancelled.
    cancelled: usize,
}

impl Arrears {
    pub(crate) const NONE: Self =
        Self { owed: [Owed { at: 0, cancelled: None }; MOST], len: 0, cancelled: 0 };

    /// Whether anything is owed.
    #[inline(always)]
    pub(crate) fn is_any(&self) -> bool {
        self.len > 0
    }

    /// Whether a timer is on its way to another slot. No other may be put into a slot before it.
    #[inline(always)]
    pub(crate) fn is_any_moving(&self) -> bool {
        self.len > self.cancelled
    }

    /// How many of those that are still linked were cancelled.
    #[inline(always)]
    pub(crate) fn cancelled(&self) -> usize {
        self.cancelled
    }

    /// Owes a timer. Whether it is time to pay.
    #[inline(always)]
    pub(crate) fn owe(&mut self, owed: Owed) -> bool {
        self.owed[self.len % MOST] = owed;
        self.len += 1;
        self.cancelled += usize::from(owed.cancelled.is_some());
        self.len == MOST
    }

    /// Takes all that is owed, in the order in which it came.
    pub(crate) fn take(&mut self) -> impl Iterator<Item = Owed> + Clone + use<> {
        let (owed, len) = (self.owed, core::mem::take(&mut self.len));
        self.cancelled = 0;
        owed.into_iter().take(len)
    }
}
