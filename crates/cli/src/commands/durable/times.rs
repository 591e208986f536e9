//! Formats times, and parses delays.

use anyhow::{Context, Result};
use jiff::{Span, SpanRelativeTo};
use serde_json::Value;
use std::time::Duration;
use wheelhouse_durable::store::Timestamp;

/// A date in UTC, to the millisecond; after the year 9999, milliseconds since 1970.
pub(super) fn date(time: Timestamp) -> Value {
    let millis = time.as_millis();
    let date = i64::try_from(millis).ok().and_then(|at| jiff::Timestamp::from_millisecond(at).ok());
    date.map_or(Value::from(millis), |date| Value::from(format!("{date:.3}")))
}

/// The distance of a time from the present, in two units: `in 5 min 3 s`, `2 d 1 h ago`.
pub(super) fn distance(time: Timestamp, now: Timestamp) -> String {
    if time > now {
        format!("in {}", long(time.as_millis() - now.as_millis()))
    } else {
        format!("{} ago", long(now.as_millis() - time.as_millis()))
    }
}

/// Parses a delay in units up to weeks. A day has 24 hours.
pub(super) fn delay(text: &str) -> Result<Duration> {
    let delay = text.parse::<Span>()?.to_duration(SpanRelativeTo::days_are_24_hours())?;
    Duration::try_from(delay).context("the time is in the past")
}

fn long(millis: u64) -> String {
    const UNITS: [(&str, u64); 5] =
        [("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1_000), ("ms", 1)];
    let first = UNITS.iter().position(|(_, size)| millis >= *size).unwrap_or(UNITS.len() - 1);
    let mut left = millis;
    let mut parts = Vec::new();
    for (unit, size) in &UNITS[first..UNITS.len().min(first + 2)] {
        if left >= *size || parts.is_empty() {
            parts.push(format!("{} {unit}", left / size));
        }
        left %= size;
    }
    parts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_dates_if_they_are_in_range() {
        let text = |millis| date(Timestamp::from_millis(millis)).to_string();
        assert_eq!(text(1_790_000_000_007), "\"2026-09-21T14:13:20.007Z\"");
        assert_eq!(text(0), "\"1970-01-01T00:00:00.000Z\"");
        assert_eq!(text(u64::MAX), "9007199254740991");
    }

    #[test]
    fn distances_have_two_units() {
        let now = Timestamp::from_millis(1_000_000_000_000);
        let to = |millis: i64| {
            let at = now.as_millis().checked_add_signed(millis).unwrap();
            distance(Timestamp::from_millis(at), now)
        };
        assert_eq!(to(0), "0 ms ago");
        assert_eq!(to(1), "in 1 ms");
        assert_eq!(to(-61_999), "1 min 1 s ago");
        assert_eq!(to(3_600_000), "in 1 h");
        assert_eq!(to(-90_061_000), "1 d 1 h ago");
    }

    #[test]
    fn delays_have_units_up_to_weeks() {
        let seconds = |text| delay(text).map(|delay| delay.as_secs()).ok();
        let minutes =
            [("90m", 90), ("1h 30m", 90), ("2d", 2_880), ("2d 1h", 2_940), ("1w", 10_080)];
        for (text, minutes) in minutes {
            assert_eq!(seconds(text), Some(minutes * 60), "{text}");
        }
        for text in ["", "90", "1mo", "2y", "1h ago", "-1h", "99999999w"] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
