//! Two hundred timers for a microcontroller: 16 slots a level, and no allocation after the start.
//!
//! `cargo run --release -p wheelhouse-hierarchical-wheel --example microcontroller`

use wheelhouse_hierarchical_wheel::{ConfigError, HierarchicalWheel, Timer};

const TIMERS: u64 = 200;

/// A device that sends messages and retries those that are not answered in time. Each message has a
/// timeout, and most are answered.
fn run(wheel: &mut HierarchicalWheel<u64>) -> u64 {
    let mut retries = 0;
    for message in 0..100_000 {
        let timeout = wheel.insert(wheel.now() + 50, message);
        if message % 10 > 0 {
            wheel.cancel(timeout);
        }
        // A tick is a millisecond. A device that sleeps would advance to `next_wakeup`.
        let tick = wheel.now() + 1;
        wheel.advance(tick, |_| retries += 1);
    }
    retries
}

fn main() -> Result<(), ConfigError> {
    let mut wheel =
        HierarchicalWheel::builder().slots_per_level(16).capacity(TIMERS as usize).build()?;
    let mut retries = 0;
    let seen = allocation_counter::measure(|| retries = run(&mut wheel));
    println!("{retries} retries, {} bytes allocated after the start", seen.bytes_total);
    assert_eq!((retries, seen.bytes_total), (9_996, 0));
    Ok(())
}
