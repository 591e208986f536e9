//! 8. Memory follows the live timers.

use crate::random::Random;
use crate::{fresh, latest, sized};
use allocation_counter::measure;
use wheelhouse_core::Timer;
use wheelhouse_core::backend::Backend;
use wheelhouse_core::meter::NoMeter;

/// A structure may take this many times the memory that it takes with the peak number of live
/// timers. This allows for a vector that doubles while the old one is copied, and for as many stale
/// entries as live ones.
const FACTOR: u64 = 4;

/// The size of a storm. If an operation visits all timers, everything is a sixteenth.
struct Size {
    /// The most live timers.
    peak: usize,
    /// The number of operations of each storm. If each operation leaks eight bytes, the limit is
    /// exceeded.
    operations: usize,
    /// Bytes that are allowed in addition to the factor, independent of the number of timers. The
    /// handles of the suite take at most a sixth of them.
    slack: u64,
}

const fn size<B: Backend>() -> Size {
    let share = if B::INFO.max_timers == u32::MAX { 1 } else { 16 };
    Size {
        peak: 20_000 / share,
        operations: sized(2_000_000, 1_000_000) / share,
        slack: (1 << 20) / share as u64,
    }
}

/// Contract 8: after any number of insertions and cancellations, memory stays within a constant
/// factor of what the peak number of live timers needs. All memory is freed with the structure.
pub fn contract_08_memory_follows_the_live_timers<B: Backend>() {
    hold::<B>(1, "insert and cancel one timer, near and far", insert_and_cancel::<B>);
    hold::<B>(1_001, "insert and cancel among 1000 that stay", insert_and_cancel_among_others::<B>);
    hold::<B>(size::<B>().peak, "storms of cancels", storms_of_cancels::<B>);
    hold::<B>(1_000, "reschedule 1000 timers for ever", reschedule_for_ever::<B>);
    hold::<B>(1, "reschedule overdue", reschedule_overdue::<B>);
    hold::<B>(size::<B>().peak, "gather in one slot after the other", gather_and_cancel::<B>);
    hold::<B>(size::<B>().peak, "fire in bursts, each at one tick", fire_in_bursts::<B>);
    hold::<B>(2_001, "insert and cancel in a run of pops", in_a_run_of_pops::<B>);
    hold::<B>(1_001, "insert and fire behind one that is far", fire_behind_a_far_one::<B>);
}

type Plain<B> = <B as Backend>::Timer<u64, NoMeter>;

/// Runs a storm with at most `peak` live timers, and compares its peak memory with the memory that
/// `peak` timers need.
fn hold<B: Backend>(peak: usize, name: &str, storm: fn(&mut Plain<B>)) {
    let full = measure(|| {
        let mut random = Random::new(8);
        let mut timer = fresh::<B, u64>();
        (0..peak).for_each(|_| _ = timer.insert(1 + random.below(1 << 20), 0));
    });
    let seen = measure(|| storm(&mut fresh::<B, u64>()));
    let (allowed, taken) = (FACTOR * full.bytes_max + size::<B>().slack, seen.bytes_max);
    assert!(
        taken <= allowed,
        "contract 8: {name}: {taken} bytes with at most {peak} live timers, which alone take {}; \
         the limit is {allowed}",
        full.bytes_max
    );
    let left = (full.bytes_current, seen.bytes_current);
    assert_eq!(left, (0, 0), "contract 8: {name}: bytes not freed with the structure");
}

/// A deadline at a random distance, mostly too far away to be reached.
fn far(random: &mut Random, now: u64) -> u64 {
    now + 1 + random.of_any_scale(40)
}

fn insert_and_cancel<B: Backend>(timer: &mut Plain<B>) {
    let mut random = Random::new(81);
    for _ in 0..size::<B>().operations {
        let id = timer.insert(far(&mut random, 0), 0);
        timer.cancel(id);
    }
}

fn insert_and_cancel_among_others<B: Backend>(timer: &mut Plain<B>) {
    let mut random = Random::new(82);
    let mut ids = Vec::with_capacity(1_001);
    for operation in 0..size::<B>().operations {
        ids.push(timer.insert(far(&mut random, timer.now()), 0));
        if ids.len() > 1_000 {
            timer.cancel(ids.swap_remove(random.index(ids.len())));
        }
        if operation % 64 == 0 {
            timer.advance(timer.now() + 1, |_| ());
        }
    }
}

fn storms_of_cancels<B: Backend>(timer: &mut Plain<B>) {
    let mut random = Random::new(83);
    cancel_storms::<B>(timer, |now, storm| {
        now + 1 + random.below(1 << [10, 20, 30, 40][storm % 4])
    });
}

/// All timers at one tick, then all at another: a wheel must not keep room for all of them in each
/// slot.
fn gather_and_cancel<B: Backend>(timer: &mut Plain<B>) {
    cancel_storms::<B>(timer, |now, storm| now + 100 + 67 * storm as u64);
}

fn cancel_storms<B: Backend>(timer: &mut Plain<B>, mut deadline: impl FnMut(u64, usize) -> u64) {
    let Size { peak, operations, .. } = size::<B>();
    let mut ids = Vec::with_capacity(peak);
    for storm in 0..operations / (2 * peak) {
        ids.extend((0..peak).map(|_| timer.insert(deadline(timer.now(), storm), 0)));
        for id in ids.drain(..) {
            timer.cancel(id);
        }
        timer.advance(timer.now() + 1_000, |_| ());
    }
}

fn reschedule_for_ever<B: Backend>(timer: &mut Plain<B>) {
    let mut random = Random::new(84);
    let mut ids = Vec::with_capacity(1_000);
    ids.extend((0..1_000).map(|_| timer.insert(1 << 41, 0)));
    for operation in 0..size::<B>().operations {
        timer.reschedule(ids[operation % 1_000], far(&mut random, timer.now()));
    }
}

fn reschedule_overdue<B: Backend>(timer: &mut Plain<B>) {
    timer.advance(1_000_000, |_| ());
    let id = timer.insert(0, 0);
    for operation in 0..size::<B>().operations as u64 {
        timer.reschedule(id, operation % 1_000);
    }
}

fn fire_in_bursts<B: Backend>(timer: &mut Plain<B>) {
    let Size { peak, operations, .. } = size::<B>();
    for burst in 0..(operations / peak) as u64 {
        let deadline = timer.now() + 1 + 61 * burst;
        (0..peak).for_each(|_| _ = timer.insert(deadline, 0));
        timer.advance(latest::<B>(timer.now(), deadline), |_| ());
    }
}

fn in_a_run_of_pops<B: Backend>(timer: &mut Plain<B>) {
    let mut random = Random::new(87);
    (0..2_000).for_each(|deadline| _ = timer.insert(deadline, 0));
    for _ in 0..1_000 {
        timer.pop_expired(5_000);
        for _ in 0..size::<B>().operations / 1_000 {
            let id = timer.insert(random.below(6_000), 0);
            timer.cancel(id);
        }
    }
}

fn fire_behind_a_far_one<B: Backend>(timer: &mut Plain<B>) {
    timer.insert(u64::MAX, 0);
    let mut random = Random::new(88);
    for _ in 0..size::<B>().operations / 1_000 {
        (0..1_000).for_each(|_| _ = timer.insert(timer.now() + 1 + random.below(1_000), 0));
        timer.advance(latest::<B>(timer.now(), timer.now() + 1_000), |_| ());
    }
}
