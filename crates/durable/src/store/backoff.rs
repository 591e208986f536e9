//! Pauses before retries.

use std::time::Duration;

/// Exponential backoff with jitter, between the attempts of a job or of a connection.
///
/// ```
/// use std::time::Duration;
/// use wheelhouse_durable::store::Backoff;
///
/// let backoff =
///     Backoff { first: Duration::from_millis(10), longest: Duration::from_secs(1) };
/// let third = backoff.wait(3, 17);
/// assert!(third >= Duration::from_millis(20) && third <= Duration::from_millis(40));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    /// The longest pause after the first attempt. It doubles with each attempt.
    pub first: Duration,
    /// The longest pause after any attempt.
    pub longest: Duration,
}

impl Backoff {
    /// The pause after the given attempt, counted from 1. It is between half of the longest pause
    /// and all of it, depending on `salt`: callers with different values do not retry together.
    pub fn wait(self, attempt: u32, salt: u64) -> Duration {
        let doublings = attempt.saturating_sub(1).min(31);
        let full = self.first.saturating_mul(1 << doublings).min(self.longest);
        // Tokens are consecutive numbers: the multiplication spreads them over all bits.
        let spread = salt.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 54;
        full.mul_f64(0.5 + spread as f64 / 2_048.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_and_differ() {
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
    fn the_longest_pause_may_be_any_duration() {
        let backoff = Backoff { first: Duration::MAX, longest: Duration::MAX };
        for attempt in [1, 2, u32::MAX] {
            for salt in 0..10_000 {
                assert!(backoff.wait(attempt, salt) >= Duration::MAX / 2);
            }
        }
    }
}
