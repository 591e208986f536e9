//! The stream of a mix has the given shares, and keeps all timers live.

mod common;

use common::CountingPlayer;
use wheelhouse_core::Timer;
use wheelhouse_workload::{Mix, Op};

/// Counts the starts, stops, moves and expiries of the measured part for `n` timers.
fn counts(mix: Mix, n: u32) -> [u64; 4] {
    let mut played = CountingPlayer::new(n as usize);
    let mut counts = [0; 4];
    for phase in mix.phases(n, 1) {
        let before = played.player.fired();
        played.play(&phase.ops);
        if phase.measure.is_none() {
            continue;
        }
        counts[3] += played.player.fired() - before;
        for op in &phase.ops {
            match op {
                Op::Insert { .. } => counts[0] += 1,
                Op::Cancel { .. } => counts[1] += 1,
                Op::Reschedule { .. } => counts[2] += 1,
                _ => {}
            }
        }
    }
    assert_eq!(played.player.timer().len(), n as usize, "{mix}");
    assert_eq!(played.peak, n as usize, "{mix}");
    assert_eq!(played.cancelled, counts[1], "{mix}: each stop has a live timer");
    counts
}

#[test]
fn the_shares_are_as_requested() {
    let asked = [
        ("start:45,stop:40,move:10,fire:5", [45, 40, 10, 5]),
        ("move:1", [0, 0, 1, 0]),
        ("fire:1", [1, 0, 0, 1]),
        ("stop:1", [1, 1, 0, 0]),
        ("stop:1,fire:9", [10, 1, 0, 9]),
    ];
    for (text, shares) in asked {
        let found = counts(text.parse().unwrap(), 3_000);
        let (all, whole) = (found.iter().sum::<u64>(), shares.iter().sum::<u64>());
        for (found, asked) in found.iter().zip(shares) {
            let (found, asked) = (*found as f64 / all as f64, asked as f64 / whole as f64);
            assert!((found - asked).abs() < 0.02, "{text}: {found} for {asked}");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_operations() {
    let mix: Mix = "stop:4,move:1,fire:1".parse().unwrap();
    let ops = |seed| mix.phases(500, seed).flat_map(|phase| phase.ops).collect::<Vec<_>>();
    assert_eq!(ops(1), ops(1));
    assert_ne!(ops(1), ops(2));
}
