//! Bytes per live timer, as the allocator counts them, and how often a program would be woken.
//!
//! The [allocator](wheelhouse_machine::allocator) counts for the whole program. So everything else,
//! such as the table of handles, is allocated before the measurement or subtracted.

use crate::model::{Footprint, Memory};
use crate::stream::Stream;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use wheelhouse_core::backend::Backend;
use wheelhouse_core::meter::NoMeter;
use wheelhouse_core::{Tick, Timer, TimerId};
use wheelhouse_machine::allocator::allocated;
use wheelhouse_workload::{Op, Player};

/// Each timer is replaced this many times on average.
pub const CHURN: u32 = 4;

/// Measures a backend with n timers and delays uniform in 1..=2^20.
pub fn measure<B: Backend>(n: u32, seed: u64) -> Memory {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let mut delay = move || random.random_range(1..=1_u64 << 20);
    let mut ids: Vec<TimerId> = Vec::with_capacity(n as usize);
    let before = allocated();
    let growth = || allocated().saturating_sub(before);
    let mut timer = B::build::<u64, NoMeter>();
    let mut peak = growth();
    for value in 0..n {
        ids.push(timer.insert(delay(), u64::from(value)));
        peak = peak.max(growth());
    }
    let live = growth();
    churn(&mut timer, &mut ids, delay, seed);
    let churned = growth();
    let per_timer = |bytes: usize| bytes as f64 / f64::from(n.max(1));
    Memory {
        backend: B::INFO.name.to_owned(),
        n: n.into(),
        live: per_timer(live),
        peak: per_timer(peak),
        churned: per_timer(churned),
    }
}

/// Measures a backend with the timers of a stream, of which at most `most_live` are live at a time,
/// in a program that sleeps until the next wake-up.
pub fn footprint<B: Backend>(stream: &Stream, most_live: u64) -> Footprint {
    // Without the table of handles, which belongs to the player.
    let before = allocated() + stream.labels * size_of::<TimerId>();
    let mut player = Player::new(B::build::<u64, NoMeter>(), stream.labels);
    let (mut peak, mut wakeups) = (0, 0);
    for &op in stream.phases.iter().flat_map(|phase| &phase.ops) {
        if let Op::Advance { to } | Op::Ticks { to, .. } = op {
            while let Some(at) = player.timer().next_wakeup().filter(|at| *at <= to) {
                player.apply(Op::Advance { to: at });
                wakeups += 1;
            }
        }
        player.apply(op);
        peak = peak.max(allocated().saturating_sub(before));
    }
    Footprint {
        backend: B::INFO.name.to_owned(),
        workload: stream.name.clone(),
        peak: peak as f64 / most_live.max(1) as f64,
        wakeups,
    }
}

/// Replaces random timers while the clock advances. A timer that has fired is started again, so n
/// stay live.
fn churn<T: Timer<u64>>(
    timer: &mut T,
    ids: &mut [TimerId],
    mut delay: impl FnMut() -> Tick,
    seed: u64,
) {
    // Another sequence than that of the delays.
    let mut random = Pcg64Mcg::seed_from_u64(seed ^ 1);
    let n = ids.len() as u64;
    for step in 0..u64::from(CHURN) * n {
        let label = random.random_range(0..n) as usize;
        timer.cancel(ids[label]);
        ids[label] = timer.insert(timer.now() + delay(), label as u64);
        // Now and then, so that some timers fire and wheels cascade.
        if step % 16 == 0 {
            timer.advance(timer.now() + 1, |_| ());
        }
    }
    // The clock does not move any more, so n are live at the end.
    for (label, id) in ids.iter_mut().enumerate() {
        if timer.deadline(*id).is_none() {
            *id = timer.insert(timer.now() + delay(), label as u64);
        }
    }
}
