//! Traces with unusual but valid operations, which every competitor that can play them plays in a
//! test.

use wheelhouse_core::Tick;
use wheelhouse_harness::source::StreamSource;
use wheelhouse_harness::stream::Stream;
use wheelhouse_workload::{Measure, Op, Phase};

/// A trace to the end of time, and one with several live timers per label.
pub(crate) fn traces() -> [StreamSource; 2] {
    use Op::{Advance, Cancel, Insert, Reschedule, Ticks};
    const NEVER: Tick = Tick::MAX;
    let never = [
        Insert { label: 0, deadline: NEVER },
        Insert { label: 1, deadline: 5 },
        Reschedule { label: 1, deadline: NEVER },
        Cancel { label: 0 },
        Ticks { count: 10, to: 10 },
        Advance { to: NEVER },
        // Overdue, like every timer from here on.
        Insert { label: 0, deadline: 3 },
        Reschedule { label: 0, deadline: NEVER },
        Advance { to: NEVER },
        Insert { label: 0, deadline: 4 },
        Insert { label: 1, deadline: NEVER },
        Cancel { label: 0 },
    ];
    let shared = [
        Insert { label: 0, deadline: 5 },
        Insert { label: 0, deadline: 6 },
        Insert { label: 0, deadline: 9 },
        Insert { label: 0, deadline: 7 },
        Reschedule { label: 0, deadline: 8 },
        Ticks { count: 6, to: 6 },
        Cancel { label: 0 },
        Advance { to: 10 },
    ];
    [trace("never", 2, &never), trace("shared-label", 1, &shared)]
}

fn trace(name: &str, labels: usize, ops: &[Op]) -> StreamSource {
    let (operations, ops) = (ops.len() as u64, ops.to_vec());
    let phases = vec![Phase { measure: Some(Measure::Mix), operations, ops }];
    StreamSource::File(Stream { name: format!("trace:{name}"), n: labels as u64, labels, phases })
}
