//! Checks the textbook properties of these structures by operation counts.

use wheelhouse_baselines::{Head, Rear, SortedList, SortedSlice, Timer, UnorderedList};
use wheelhouse_core::meter::{CountingMeter, Work};

const N: u64 = 1_000;

/// The number of timers passed per insertion, with ascending and with descending deadlines.
fn passed<F: wheelhouse_baselines::SearchFrom>() -> [f64; 2] {
    [false, true].map(|falling| {
        let mut list = SortedList::<u64, F, CountingMeter>::with_meter(CountingMeter::default());
        (0..N).for_each(|n| _ = list.insert(if falling { N - n } else { n + 1 }, n));
        (list.meter().count(Work::Comparison) - list.meter().count(Work::Comparison) % N) as f64
            / N as f64
    })
}

#[test]
fn a_sorted_list_passes_all_timers_or_none() {
    let half = (N / 2 - 1) as f64;
    let ([up, down], [rear_up, rear_down]) = (passed::<Head>(), passed::<Rear>());
    assert!(up >= half && rear_down >= half, "{up} {rear_down}");
    assert!(down <= 1.0 && rear_up <= 1.0, "{down} {rear_up}");
}

#[test]
fn a_sorted_slice_moves_all_that_is_due_before() {
    let mut slice = SortedSlice::<u64, CountingMeter>::with_meter(CountingMeter::default());
    let ids: Vec<_> = (1..=N).map(|n| slice.insert(n, n)).collect();
    // The elements behind it, and its own.
    assert_eq!(slice.meter().count(Work::ElementMove), N * (N - 1) / 2 + N);
    slice.meter().reset();
    assert_eq!(slice.cancel(ids[N as usize - 1]), Some(N));
    assert_eq!(slice.meter().count(Work::ElementMove), N - 1);
}

#[test]
fn without_order_a_tick_with_something_due_looks_at_every_timer_and_no_other_does() {
    let mut list = UnorderedList::<u64, CountingMeter>::with_meter(CountingMeter::default());
    (1..=N).for_each(|n| _ = list.insert(10 * n, n));
    for tick in 1..=100 {
        list.meter().reset();
        let fired = list.advance(tick, |_| ());
        assert_eq!(fired, usize::from(tick % 10 == 0));
        // The places of timers that have fired are read too.
        assert_eq!(list.meter().count(Work::EntryScan), N * fired as u64);
    }
}
