//! The delay of a timer.

use core::hash::{Hash, Hasher};
use wheelhouse_core::Tick;

/// The distance from the tick of the insertion to the deadline, which may be before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Delay {
    ticks: Tick,
    /// `true` if the deadline is before the tick of the insertion.
    is_overdue: bool,
}

impl Delay {
    #[inline]
    pub(crate) fn between(inserted: Tick, deadline: Tick) -> Self {
        Self { ticks: inserted.abs_diff(deadline), is_overdue: deadline < inserted }
    }

    /// The tick at which a timer of this delay and deadline was inserted.
    #[inline]
    pub(crate) fn inserted(self, deadline: Tick) -> Tick {
        if self.is_overdue { deadline + self.ticks } else { deadline - self.ticks }
    }
}

/// Equal delays have equal hashes. An overdue delay has the same hash as a delay of the same
/// distance ahead, so at most two delays collide.
impl Hash for Delay {
    #[inline]
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        hasher.write_u64(self.ticks);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_gives_the_tick_of_the_insertion_back() {
        let ticks = [0, 1, 7, 1 << 40, Tick::MAX - 1, Tick::MAX];
        for (inserted, deadline) in ticks.iter().flat_map(|a| ticks.map(|b| (*a, b))) {
            let delay = Delay::between(inserted, deadline);
            assert_eq!(delay.inserted(deadline), inserted, "from {inserted} to {deadline}");
        }
        // The same distance ahead and behind are two delays.
        assert_ne!(Delay::between(10, 3), Delay::between(3, 10));
        assert_eq!(Delay::between(10, 3), Delay::between(107, 100));
        assert_eq!(Delay::between(5, 5), Delay::between(9, 9));
    }
}
