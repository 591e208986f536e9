//! How long to wait before a job that failed is tried again.

use std::time::Duration;

/// Twice as long each time, up to a longest; of that, between a half and all, so that jobs which
/// failed together are not tried again together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Backoff {
    pub(crate) first: Duration,
    pub(crate) longest: Duration,
}

impl Backoff {
    /// After the attempt of this number, from 1. `salt` is different for each.
    pub(crate) fn wait(self, attempt: u32, salt: u64) -> Duration {
        let doublings = attempt.saturating_sub(1).min(31);
        let full = self.first.saturating_mul(1 << doublings).min(self.longest);
        // Tokens follow one another: the multiplication spreads them over all bits.
        let spread = salt.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 54;
        full.mul_f64(0.5 + spread as f64 / 2_048.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_doubles_and_spreads() {
        let backoff =
            Backoff { first: Duration::from_secs(1), longest: Duration::from_secs(3_600) };
        for (attempt, full) in [(1, 1), (2, 2), (5, 16), (12, 2_048), (13, 3_600), (4_000, 3_600)] {
            let full = Duration::from_secs(full);
            let waits: Vec<_> = (0..1_000).map(|salt| backoff.wait(attempt, salt)).collect();
            assert!(waits.iter().all(|wait| *wait >= full / 2 && *wait <= full), "{attempt}");
            let mean = waits.iter().sum::<Duration>() / 1_000;
            assert!(mean > full * 7 / 10 && mean < full * 8 / 10, "{attempt}: {mean:?}");
        }
    }

    #[test]
    fn there_is_no_longest_that_it_cannot_take() {
        let backoff = Backoff { first: Duration::MAX, longest: Duration::MAX };
        for attempt in [1, 2, u32::MAX] {
            for salt in 0..10_000 {
                assert!(backoff.wait(attempt, salt) >= Duration::MAX / 2);
            }
        }
    }
}
