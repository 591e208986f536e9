//! A replay of a recording fires the timers that fired in the program.

mod common;

use common::{Wheel, play, read, recorded, recorder, replay};
use proptest::prelude::*;
use std::io::Cursor;
use wheelhouse_conformance::script::{Step, When};
use wheelhouse_conformance::{Oracle, steps};
use wheelhouse_core::Timer;
use wheelhouse_hierarchical_wheel::HierarchicalWheel;
use wheelhouse_record::{DEFAULT_LIMIT, Ended, Recorder};
use wheelhouse_workload::trace::Totals;
use wheelhouse_workload::{Op, Player};

/// Plays steps on a recorded wheel, and the recording on another structure.
fn check(steps: &[Step]) -> Result<(), TestCaseError> {
    let mut bytes = Vec::new();
    let mut timer = recorder(&mut bytes, DEFAULT_LIMIT);
    let fired = play(&mut timer, steps);
    let (live, now) = (timer.len(), timer.now());
    let summary = timer.finish().expect("it can be written");
    drop(timer);
    prop_assert_eq!((summary.ended, summary.bytes), (Ended::Finished, bytes.len() as u64));

    let (header, ops) = read(&bytes);
    prop_assert_eq!(header.operations, summary.totals.operations());
    let mut oracle = Oracle::new();
    prop_assert_eq!(&replay(&mut oracle, header.labels, &ops), &fired);
    prop_assert_eq!((oracle.len(), oracle.now()), (live, now));
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
fn the_whole_range_of_ticks_is_recorded() {
    let mut oracle = Oracle::new();
    let (labels, ops) = trace(|timer| {
        timer.insert(u64::MAX, 0);
        timer.insert(0, 1);
        assert_eq!(timer.advance(u64::MAX - 1, |_| ()), 1);
        timer.insert(1, 2);
        assert_eq!(timer.advance(u64::MAX, |_| ()), 2);
        assert_eq!(timer.advance(0, |_| ()), 0);
    });
    assert_eq!(replay(&mut oracle, labels, &ops), [(0, 1), (1, 2), (u64::MAX, 0)]);
    assert_eq!(oracle.now(), u64::MAX);
}

#[test]
fn a_panicking_callback_is_recorded_as_pops_of_the_timers_it_received() {
    let (labels, ops) = trace(|timer| {
        let ids: Vec<_> = (0..4).map(|value| timer.insert(5, value)).collect();
        let panicking = std::panic::AssertUnwindSafe(|| {
            timer.advance(5, |expired| {
                if expired.value == 1 {
                    std::panic::resume_unwind(Box::new("as planned"));
                }
            })
        });
        assert!(std::panic::catch_unwind(panicking).is_err());
        assert_eq!(timer.cancel(ids[2]), Some(2), "it has not fired");
        assert_eq!(timer.advance(5, |_| ()), 1);
    });
    assert_eq!(replay(&mut Oracle::new(), labels, &ops), [(5, 0), (5, 1), (5, 3)]);
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
    assert_eq!(timer.into_timer().advance(1003, |_| ()), 1, "its timers are still there");
    assert_eq!(read(&bytes).1[0], Op::Advance { to: 1000 });
}
