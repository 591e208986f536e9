//! The event loop of a server: a million connections with idle timeouts, on the real clock.
//!
//! One tick is a millisecond since the start. The loop sleeps until the wheel's next wake-up,
//! advances the wheel, and closes the connections that were idle for too long. A tenth of the
//! connections are busy: their timeouts are rescheduled all the time.
//!
//! ```sh
//! cargo run --release -p wheelhouse-hierarchical-wheel --example million_timeouts
//! ```

use std::time::{Duration, Instant};
use wheelhouse_hierarchical_wheel::{HierarchicalWheel, Tick, Timer};

const CONNECTIONS: u64 = 1_000_000;
const IDLE: Tick = 300;

fn main() {
    let start = Instant::now();
    // A deadline is rounded up to the next tick, so that nothing times out early.
    let now = || start.elapsed().as_millis() as Tick;

    let mut timeouts = HierarchicalWheel::new();
    let ids: Vec<_> =
        (0..CONNECTIONS).map(|connection| timeouts.insert(now() + IDLE + 1, connection)).collect();
    println!("{} timeouts started in {} ms", timeouts.len(), now());

    let (mut closed, mut moved, mut latest) = (0, 0, 0);
    while let Some(wakeup) = timeouts.next_wakeup() {
        std::thread::sleep(Duration::from_millis(wakeup.saturating_sub(now())));
        closed += timeouts.advance(now(), |expired| latest = latest.max(now() - expired.deadline));
        // Requests come in on every tenth connection, for a second.
        if now() < 1_000 {
            let busy = ids.iter().step_by(10);
            moved += busy.filter(|id| timeouts.reschedule(**id, now() + IDLE + 1)).count();
        }
    }
    println!("{closed} closed after {} ms, {moved} reschedules, {latest} ms late at most", now());
    assert_eq!(closed as u64, CONNECTIONS, "each connection times out once");
}
