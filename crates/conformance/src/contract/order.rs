//! 3. Order.

use super::STARTS;
use crate::{fired, fresh, fresh_at, insert, popped};
use wheelhouse_core::Timer;
use wheelhouse_core::backend::Backend;

/// Contract 3: timers fire in order of (deadline, insertion), within one call and across calls. A
/// reschedule counts as a new insertion, even to the same deadline.
///
/// # Panics
///
/// If the backend does not keep that promise.
pub fn contract_03_order_by_deadline_then_insertion<B: Backend>() {
    ties_in_order_of_insertion::<B>();
    ties_inserted_on_the_way::<B>();
    earlier_deadlines_first::<B>();
    a_move_counts_as_an_insertion::<B>();
    a_cancel_leaves_the_order::<B>();
    pops_and_advances_agree::<B>();
}

fn ties_in_order_of_insertion<B: Backend>() {
    for distance in [0, 1, 5, 63, 64, 255, 256, 4_095, 4_096, 70_000, 1 << 20, 1 << 33, 1 << 62] {
        let mut timer = fresh_at::<B, u32>(100);
        // Three deadlines in turn, so that timers with the same deadline are not inserted in a row.
        let deadline = |value: u32| 100 + distance + u64::from(value % 3);
        for value in 0..900 {
            timer.insert(deadline(value), value);
        }
        let expected: Vec<_> = (0..3)
            .flat_map(|first| (first..900).step_by(3))
            .map(|value| (deadline(value), value))
            .collect();
        assert_eq!(
            fired(&mut timer, u64::MAX),
            expected,
            "contract 3: timers with the same deadline fire in order of insertion"
        );
    }
}

/// Timers with the same deadline, inserted at ever smaller distances: a wheel puts them on
/// different levels. Timers that cascade to a slot must go before those that were inserted there
/// directly.
fn ties_inserted_on_the_way<B: Backend>() {
    for start in STARTS {
        for distance in [5_000, 1 << 16, (1 << 18) + 12_345, 1 << 30] {
            let mut timer = fresh_at::<B, u32>(start);
            let (deadline, mut inserted) = (start + distance, 0);
            let mut insert = |timer: &mut B::Timer<u32, _>| {
                for _ in 0..3 {
                    timer.insert(deadline, inserted);
                    inserted += 1;
                }
            };
            while timer.now() < deadline - 1 {
                insert(&mut timer);
                let half = timer.now() + (deadline - timer.now()) / 2;
                assert_eq!(
                    fired(&mut timer, half),
                    [],
                    "contract 2, never early: due at {deadline}, fired at {half}"
                );
            }
            insert(&mut timer);
            // Inserts more when the first of them has fired.
            let first = timer.pop_expired(deadline).map(|expired| expired.value);
            insert(&mut timer);
            let values: Vec<_> = first
                .into_iter()
                .chain(popped(&mut timer, deadline).into_iter().map(|(_, value)| value))
                .collect();
            let expected: Vec<_> = (0..inserted).collect();
            assert_eq!(
                values, expected,
                "contract 3: due at {deadline}, inserted ever closer to it, in order of insertion"
            );
        }
    }
}

fn earlier_deadlines_first<B: Backend>() {
    for step in [1, 3, 64, 255, 1 << 16, 1 << 40] {
        let mut timer = fresh::<B, u64>();
        // Descending, so that every insertion goes before all earlier ones.
        for value in (1..=500).rev() {
            timer.insert(value * step, value);
        }
        let expected: Vec<_> = (1..=500).map(|value| (value * step, value)).collect();
        assert_eq!(
            fired(&mut timer, 200 * step),
            expected[..200],
            "contract 3: in order of deadline"
        );
        assert_eq!(
            fired(&mut timer, u64::MAX),
            expected[200..],
            "contract 3: in order of deadline, across calls too"
        );
    }
}

fn a_move_counts_as_an_insertion<B: Backend>() {
    for deadline in [5, 64, 300, 70_000, 1 << 33] {
        let mut timer = fresh::<B, char>();
        let ids = ['a', 'b', 'c', 'd'].map(|value| timer.insert(deadline, value));
        assert!(
            timer.reschedule(ids[1], deadline),
            "contract 3: a live timer can be moved to the deadline it has"
        );
        assert_eq!(
            names(&mut timer, deadline),
            "acdb",
            "contract 3: moved to the same deadline, b is the newest"
        );

        let ids = ['a', 'b', 'c', 'd'].map(|value| timer.insert(2 * deadline, value));
        timer.reschedule(ids[0], 9 * deadline);
        timer.reschedule(ids[2], 2 * deadline);
        timer.reschedule(ids[0], 2 * deadline);
        timer.insert(2 * deadline, 'e');
        assert_eq!(
            names(&mut timer, 2 * deadline),
            "bdcae",
            "contract 3: moved away and back, a comes after c"
        );

        let ids = ['a', 'b', 'c'].map(|value| timer.insert(4 * deadline, value));
        timer.reschedule(ids[2], 3 * deadline);
        timer.reschedule(ids[0], 3 * deadline);
        assert_eq!(
            names(&mut timer, 4 * deadline),
            "cab",
            "contract 3: moved to an earlier deadline, in order of moving"
        );
    }
}

fn a_cancel_leaves_the_order<B: Backend>() {
    for deadline in [5, 300, 1 << 33] {
        let mut timer = fresh::<B, u32>();
        let ids: Vec<_> = (0..1_000).map(|value| timer.insert(deadline, value)).collect();
        let kept = |value: &u32| value % 7 == 3 || value % 11 == 5;
        (0..1_000).filter(|value| !kept(value)).for_each(|value| {
            timer.cancel(ids[value as usize]);
        });
        // These reuse the places of cancelled timers.
        insert(&mut timer, (1_000..1_500).map(|value| (deadline, value)));
        let values: Vec<_> =
            fired(&mut timer, deadline).into_iter().map(|(_, value)| value).collect();
        let expected: Vec<_> = (0..1_000).filter(kept).chain(1_000..1_500).collect();
        assert_eq!(
            values, expected,
            "contract 3: reused places do not change the order of insertion"
        );
    }
}

fn pops_and_advances_agree<B: Backend>() {
    let fill = |timer: &mut B::Timer<u64, _>| {
        for value in 0..2_000_u64 {
            timer.insert(value.wrapping_mul(0x9e37_79b9) % 10_007, value);
        }
    };
    let (mut one, mut two, mut mixed) = (fresh::<B, u64>(), fresh::<B, u64>(), fresh::<B, u64>());
    [&mut one, &mut two, &mut mixed].into_iter().for_each(fill);
    let all = fired(&mut one, 10_007);
    assert_eq!(
        popped(&mut two, 10_007),
        all,
        "contract 3: pop_expired fires the same timers as advance, in the same order"
    );
    let mut parts = Vec::new();
    for tick in (0..11_000).step_by(500) {
        let few = (0..tick / 100).map_while(|_| mixed.pop_expired(tick));
        parts.extend(few.map(|expired| (expired.deadline, expired.value)));
        if tick % 1_000 == 0 {
            parts.extend(fired(&mut mixed, tick));
        }
    }
    assert_eq!(parts, all, "contract 3: pops and advances in turn fire the same sequence");
}

/// The values of the timers that fire, as one string.
fn names(timer: &mut impl Timer<char>, to: u64) -> String {
    fired(timer, to).into_iter().map(|(_, value)| value).collect()
}
