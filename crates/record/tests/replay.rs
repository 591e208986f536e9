//! A replay of a recording fires the timers that fired in the program.

mod common;

use common::{Wheel, read, recorded, recorder};
use proptest::prelude::*;
use std::io::Cursor;
use wheelhouse_binary_heap::BinaryHeap;
use wheelhouse_conformance::script::{Step, When};
use wheelhouse_conformance::{Oracle, steps};
use wheelhouse_core::{Tick, Timer, TimerId};
use wheelhouse_hierarchical_wheel::HierarchicalWheel;
use wheelhouse_record::{DEFAULT_LIMIT, Recorder};
use wheelhouse_workload::trace::Totals;
use wheelhouse_workload::{Op, Player};

/// Plays steps with the meaning that they have in the conformance suite. Returns the deadline and
/// value of each timer that fired. The value is its number in order of insertion.
fn play<B: Timer<u64>>(timer: &mut B, steps: &[Step]) -> Vec<(Tick, u64)> {
    let (mut fired, mut ids) = (Vec::new(), Vec::new());
    let pick = |ids: &[TimerId], timer: u16| ids[usize::from(timer) % ids.len()];
    for step in steps {
        let now = timer.now();
        match *step {
            Step::Insert(when) => ids.push(timer.insert(tick(when, now), ids.len() as u64)),
            Step::Cancel(which) if !ids.is_empty() => _ = timer.cancel(pick(&ids, which)),
            // A recording has no postponements, since these lose the order of insertion.
            Step::Reschedule(which, when) | Step::Postpone(which, when) if !ids.is_empty() => {
                timer.reschedule(pick(&ids, which), tick(when, now));
            }
            Step::Advance(when) => {
                timer.advance(tick(when, now), |it| fired.push((it.deadline, it.value)));
            }
            Step::Pop(when) => {
                let expired = timer.pop_expired(tick(when, now));
                fired.extend(expired.map(|it| (it.deadline, it.value)));
            }
            Step::Wake => wake(timer, &mut fired),
            Step::Panic(when, nth) => panic_at(timer, tick(when, now), nth, &mut fired),
            Step::Cancel(_) | Step::Reschedule(..) | Step::Postpone(..) | Step::Compact => {
                timer.compact();
            }
        }
    }
    fired
}

fn tick(when: When, now: Tick) -> Tick {
    match when {
        When::In(distance) => now.saturating_add(distance),
        When::Ago(distance) => now.saturating_sub(distance),
        When::At(tick) => tick,
    }
}

fn wake<B: Timer<u64>>(timer: &mut B, fired: &mut Vec<(Tick, u64)>) {
    let before = fired.len();
    while fired.len() == before {
        let Some(wakeup) = timer.next_wakeup() else { return };
        timer.advance(wakeup, |it| fired.push((it.deadline, it.value)));
    }
}

/// Advances with a callback that panics at timer `nth`, counted from 0.
fn panic_at<B: Timer<u64>>(timer: &mut B, to: Tick, nth: u8, fired: &mut Vec<(Tick, u64)>) {
    let end = fired.len() + usize::from(nth);
    let call = std::panic::AssertUnwindSafe(|| {
        timer.advance(to, |it| {
            fired.push((it.deadline, it.value));
            if fired.len() > end {
                std::panic::resume_unwind(Box::new("as planned")); // prints nothing
            }
        });
    });
    let _panicked = std::panic::catch_unwind(call);
}

/// Plays a recording on another structure. Returns its player, and the deadline and number of each
/// timer that fired.
fn replay<B: Timer<u64>>(timer: B, labels: u32, ops: &[Op]) -> (Player<B>, Vec<(Tick, u64)>) {
    let (mut player, mut fired) = (Player::new(timer, labels as usize), Vec::new());
    for &op in ops {
        let ticks = match op {
            Op::Advance { to } => to..=to,
            Op::Ticks { count, to } => to - Tick::from(count) + 1..=to,
            Op::Pop { to } => {
                let expired = player.timer_mut().pop_expired(to);
                fired.extend(expired.map(|it| (it.deadline, it.value)));
                continue;
            }
            Op::Cancel { label } | Op::Reschedule { label, .. } if !player.is_live(label) => {
                panic!("only live timers are recorded")
            }
            op => {
                player.apply(op);
                continue;
            }
        };
        for tick in ticks {
            player.timer_mut().advance(tick, |it| fired.push((it.deadline, it.value)));
        }
    }
    (player, fired)
}

/// Plays steps on a recorded wheel, and the recording on other structures.
fn check(steps: &[Step]) -> Result<(), TestCaseError> {
    let mut bytes = Vec::new();
    let mut timer = recorder(&mut bytes, DEFAULT_LIMIT);
    let fired = play(&mut timer, steps);
    let (live, now) = (timer.len(), timer.now());
    let summary = timer.finish().expect("it can be written");
    drop(timer);
    prop_assert_eq!((summary.at_limit, summary.bytes), (false, bytes.len() as u64));

    let (header, ops) = read(&bytes);
    prop_assert_eq!(header.operations, summary.totals.operations());
    let (player, replayed) = replay(Oracle::new(), header.labels, &ops);
    prop_assert_eq!(&replayed, &fired);
    prop_assert_eq!((player.timer().len(), player.timer().now()), (live, now));
    let (player, replayed) = replay(BinaryHeap::new(), header.labels, &ops);
    prop_assert_eq!(replayed, fired);
    prop_assert_eq!((player.timer().len(), player.timer().now()), (live, now));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 500 } else { 5000 }))]

    #[test]
    fn a_replay_fires_the_same_timers(steps in steps(300)) {
        check(&steps)?;
    }

    #[test]
    fn a_replay_near_the_last_tick_fires_the_same_timers(left in 0..300_u64, steps in steps(100)) {
        let start = Step::Advance(When::At(u64::MAX - left));
        check(&[&[start], &steps[..]].concat())?;
    }
}

/// The number of labels and the operations in the recording of some calls.
fn trace(calls: impl FnOnce(&mut Wheel<'_>)) -> (u32, Vec<Op>) {
    let (header, ops) = read(&recorded(calls));
    (header.labels, ops)
}

#[test]
fn stale_handles_are_not_recorded() {
    let mut label = 0;
    let (_, ops) = trace(|timer| {
        let old = timer.insert(5, 0);
        assert_eq!(timer.cancel(old), Some(0));
        let new = timer.insert(6, 1);
        label = old.index();
        assert_eq!(new.index(), label, "the test needs a reused entry");
        assert_eq!((timer.cancel(old), timer.reschedule(old, 9)), (None, false));
        assert_eq!(timer.advance(6, |_| ()), 1);
        assert_eq!((timer.cancel(new), timer.reschedule(new, 9)), (None, false));
    });
    let expected = [
        Op::Insert { label, deadline: 5 },
        Op::Cancel { label },
        Op::Insert { label, deadline: 6 },
        Op::Advance { to: 6 },
    ];
    assert_eq!(ops, expected);
}

#[test]
fn a_postponed_timer_stays_in_its_slot_and_is_recorded_as_rescheduled() {
    let mut bare = HierarchicalWheel::new();
    let id = bare.insert(100, 0);
    assert!(bare.postpone(id, 90_000));
    let (_, ops) = trace(|timer| {
        let id = timer.insert(100, 0);
        assert!(timer.postpone(id, 90_000));
        assert_eq!(timer.next_wakeup(), bare.next_wakeup());
        assert_eq!((timer.cancel(id), timer.postpone(id, 95_000)), (Some(0), false));
    });
    let expected = [
        Op::Insert { label: id.index(), deadline: 100 },
        Op::Reschedule { label: id.index(), deadline: 90_000 },
        Op::Cancel { label: id.index() },
    ];
    assert_eq!(ops, expected);
}

#[test]
fn no_op_calls_are_left_out_and_single_ticks_are_merged() {
    let (labels, ops) = trace(|timer| {
        assert_eq!(timer.advance(0, |_| ()), 0);
        (1..=1000).for_each(|tick| assert_eq!(timer.advance(tick, |_| ()), 0));
        assert!(timer.pop_expired(1001).is_none());
        assert!(timer.pop_expired(700).is_none());
        assert_eq!(timer.advance(1001, |_| ()), 0);
        assert_eq!(timer.advance(2001, |_| ()), 0);
        assert_eq!(timer.advance(2002, |_| ()), 0);
        timer.compact();
    });
    let expected =
        [Op::Ticks { count: 1001, to: 1001 }, Op::Advance { to: 2001 }, Op::Advance { to: 2002 }];
    assert_eq!((labels, &ops[..]), (0, &expected[..]));
}

#[test]
fn inserts_between_pops_are_recorded() {
    let (labels, ops) = trace(|timer| {
        timer.insert(7, 0);
        assert!(timer.pop_expired(9).is_some_and(|expired| expired.value == 0));
        timer.insert(3, 1); // overdue
        assert!(timer.pop_expired(9).is_some_and(|expired| expired.value == 1));
        assert!(timer.pop_expired(9).is_none()); // ends the run
        assert!(timer.pop_expired(9).is_none());
    });
    let pops = ops.iter().filter(|op| **op == Op::Pop { to: 9 }).count();
    assert_eq!((pops, ops.len()), (3, 5));
    let mut player = Player::new(Oracle::new(), labels as usize);
    player.play(&ops);
    assert_eq!((player.inserted(), player.fired()), (2, 2));
}

#[test]
fn an_advanced_clock_is_recorded_first() {
    let (mut wheel, mut bytes) = (HierarchicalWheel::new(), Vec::new());
    wheel.advance(1000, |_| ());
    let timer = Recorder::builder().write_to(Cursor::new(&mut bytes), wheel);
    let mut timer = timer.expect("memory can be written");
    timer.insert(1003, 0);
    let totals = timer.finish().expect("it can be written").totals;
    assert_eq!(totals, Totals { inserts: 1, clock: 1, ..Totals::default() });
    assert_eq!(timer.advance(1003, |_| ()), 1, "its timers are still there");
    drop(timer);
    assert_eq!(read(&bytes).1[0], Op::Advance { to: 1000 });
}
