//! Bounds the memory that cancelled timers leave behind, and that a call allocates.

use crate::counting;
use std::collections::VecDeque;
use wheelhouse_hierarchical_wheel::{HierarchicalWheel, ListWheel, Tick, Timer, TimerId};

/// Starts `rate` timers per tick for five minutes (a tick is a millisecond). Each is due after 30
/// seconds, and all but one in a hundred are cancelled some ticks later. Returns the largest number
/// of live timers.
fn network_timeouts(rate: u64) -> usize {
    const MINUTES: Tick = 5 * 60_000;
    let (mut wheel, mut open, mut most) = (counting(), VecDeque::<(Tick, TimerId)>::new(), 0);
    let mut fired = 0;
    for now in 1..=MINUTES {
        fired += wheel.advance(now, |_| ()) as u64;
        for n in 0..rate {
            let id = wheel.insert(now + 30_000, n);
            if (now * rate + n) % 100 > 0 {
                open.push_back((now + 1 + n % 5, id));
            }
        }
        while let Some((_, id)) = open.front().copied().filter(|(end, _)| *end <= now) {
            open.pop_front();
            assert!(wheel.cancel(id).is_some());
        }
        most = most.max(wheel.len());
    }
    let left = rate * 30_000 / 100;
    assert!(
        fired.abs_diff(rate * (MINUTES - 30_000) / 100) <= rate,
        "{fired} fired, one in a hundred should"
    );
    assert!((wheel.len() as u64).abs_diff(left) <= 8 * rate);
    // The cost of a timer does not depend on the number of live timers.
    let steps = wheel.meter().total() as f64 / (rate * MINUTES) as f64;
    println!("{} timers, at most {most} live: {steps:.1} steps a timer", rate * MINUTES);
    assert!(steps <= 12.0, "{steps} steps a timer");
    most
}

/// Checks the memory that many started and cancelled timers take: it must be proportional to the
/// largest number of live timers.
fn network_timeouts_leave_little_behind(rate: u64) {
    let mut most = 0;
    let seen = allocation_counter::measure(|| most = network_timeouts(rate));
    // The queue of this test takes 16 bytes for each of the timers of five ticks, and twice that
    // while it grows. While the array of the wheel doubles, it takes three times its memory. Each
    // entry of a cancelled timer takes eight bytes.
    let bytes = 3 * 32 + 8;
    let allowed = bytes * most as u64 + 32 * 2 * 8 * rate + (1 << 20);
    println!(
        "at most {} bytes, {:.1} for each live timer",
        seen.bytes_max,
        seen.bytes_max as f64 / most as f64
    );
    assert!(seen.bytes_max <= allowed, "{} bytes with at most {most} live timers", seen.bytes_max);
}

#[test]
fn five_minutes_of_network_timeouts() {
    network_timeouts_leave_little_behind(if cfg!(debug_assertions) { 20 } else { 100 });
}

#[test]
#[ignore = "ninety million timers: ten seconds in a release build, in which .ci/run plays it"]
fn five_minutes_of_300_000_network_timeouts_a_second() {
    network_timeouts_leave_little_behind(300);
}

/// Starts timers with deadlines spread over four million ticks, reschedules all of them to one
/// tick, and cancels all. Starts them again, lets half of them fire, postpones the others to one
/// tick, and lets these fire. Returns the most bytes that a call allocated.
fn most_allocated_by_a_call(mut wheel: impl Timer<u64>, count: u64) -> u64 {
    const LAST: Tick = 1 << 22;
    let mut most = 0;
    let mut call = |call: &mut dyn FnMut()| {
        most = most.max(allocation_counter::measure(call).bytes_max);
    };
    let mut ids = Vec::with_capacity(count as usize);
    for n in 0..count {
        call(&mut || ids.push(wheel.insert(1 + n * 7_919 % LAST, n)));
    }
    for id in ids.iter().copied() {
        call(&mut || assert!(wheel.reschedule(id, 5_000_000)));
    }
    for id in ids.drain(..) {
        call(&mut || assert!(wheel.cancel(id).is_some()));
    }
    for n in 0..count {
        call(&mut || ids.push(wheel.insert(1 + n * 7_919 % LAST, n)));
    }
    fire_before(&mut wheel, LAST / 2, &mut call);
    for id in ids {
        let is_live = wheel.deadline(id).is_some();
        call(&mut || assert_eq!(wheel.postpone(id, 5_000_000), is_live));
    }
    fire_before(&mut wheel, Tick::MAX, &mut call);
    assert!(wheel.is_empty());
    most
}

/// Plays the wake-ups before a tick. At every other one it calls `pop_expired` until that returns
/// `None`. At each it calls `advance`.
fn fire_before(wheel: &mut impl Timer<u64>, end: Tick, call: &mut impl FnMut(&mut dyn FnMut())) {
    let mut pops = false;
    while let Some(tick) = wheel.next_wakeup().filter(|tick| *tick < end) {
        pops = !pops;
        let mut is_due = pops;
        while is_due {
            call(&mut || is_due = wheel.pop_expired(tick).is_some());
        }
        call(&mut || _ = wheel.advance(tick, |_| ()));
    }
}

/// Within its capacity a wheel never copies its timers. A call that makes it large allocates the
/// state of a large wheel, which is 2.5 KB. Other calls allocate only hints: 48 KB for the slots of
/// a block, and room for one in 32 timers of a slot. The list wheel allocates nothing.
#[test]
fn within_its_capacity_a_wheel_never_moves_its_timers() {
    for (capacity, bytes) in [(20_000, 0), (100_000, 2_500), (500_000, 99_000)] {
        let wheel = HierarchicalWheel::builder().capacity(capacity as usize).build();
        let lists = ListWheel::builder().capacity(capacity as usize).build();
        let most = most_allocated_by_a_call(wheel.expect("the capacity is valid"), capacity);
        let by_lists = most_allocated_by_a_call(lists.expect("the capacity is valid"), capacity);
        println!("{capacity} timers: {most} bytes at most in a call, list wheel {by_lists}");
        assert!(most <= bytes, "{capacity} timers: {most} bytes in a call");
        assert_eq!(by_lists, 0, "{capacity} timers: bytes in a call of the list wheel");
    }
}

/// With a capacity, all memory is allocated at the start, as a microcontroller needs it. With more
/// timers than a piece of the list of free entries has, too, and with timers on all levels.
#[test]
fn a_small_wheel_allocates_nothing_within_its_capacity() {
    for n in [50, 200, 2_000] {
        let builder = HierarchicalWheel::builder().slots_per_level(16).capacity(n);
        let mut wheel = builder.build().expect("the capacity is valid");
        let mut ids: Vec<TimerId> = Vec::with_capacity(n);
        let seen = allocation_counter::measure(|| {
            for _ in 0..2 {
                ids.extend((1..=n as Tick).map(|tick| wheel.insert(tick, ())));
                ids.drain(..).for_each(|id| assert!(wheel.cancel(id).is_some()));
            }
            for _ in 0..100 {
                (3..53).for_each(|bit| _ = wheel.insert(wheel.now() + (1 << bit), ()));
                while let Some(tick) = wheel.next_wakeup() {
                    wheel.advance(tick, |_| ());
                }
            }
        });
        assert_eq!(seen.bytes_total, 0, "{n} timers");
    }
}

/// With the configuration for a microcontroller. The slots of a level are added with its first
/// timer, so an empty wheel takes less.
#[test]
fn a_wheel_for_200_timers_takes_17_kilobytes() {
    let builder = HierarchicalWheel::<u64>::builder();
    for (builder, most) in
        [(builder.clone().slots_per_level(16).capacity(200), 17_500), (builder, 20 << 10)]
    {
        let seen = allocation_counter::measure(|| _ = builder.build());
        let all = seen.bytes_max + size_of::<HierarchicalWheel<u64>>() as u64;
        println!("{all} bytes");
        assert!(all <= most, "{all} bytes");
    }
}
