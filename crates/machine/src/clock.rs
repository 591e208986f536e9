//! What reading the clock costs.

use hdrhistogram::Histogram;
use std::time::Instant;

/// Up to ten minutes in nanoseconds.
const HIGHEST: u64 = 600_000_000_000;

/// What two reads of the clock cost: the median of many pairs with nothing between them, in
/// nanoseconds.
pub fn overhead() -> f64 {
    // Three significant digits; the bounds are constants that the library accepts.
    let mut times = Histogram::<u64>::new_with_bounds(1, HIGHEST, 3).expect("valid bounds");
    for _ in 0..100_000 {
        let start = Instant::now();
        let time = (start.elapsed().as_nanos() as u64).max(1);
        times.saturating_record(time);
    }
    times.value_at_percentile(50.0) as f64
}
