use super::*;
use alloc::vec::Vec;
use core::cell::Cell;
use wheelhouse_conformance::{Random, check_random_operations};
use wheelhouse_core::meter::CountingMeter;

#[test]
fn invariants_hold_under_random_operations_at_any_arity() {
    fn check<const ARITY: usize>() {
        let mut heap = BinaryHeap::<u64, ARITY>::default();
        check_random_operations(&mut heap, ARITY as u64, 11, |heap| {
            heap.array.check();
            assert_eq!(heap.array.len(), heap.len());
        });
    }
    check::<2>();
    check::<3>();
    check::<4>();
    check::<8>();
}

/// A heap with this many timers at random deadlines below 1,000, several at each deadline.
fn crowded<const ARITY: usize>(timers: u64) -> BinaryHeap<u64, ARITY> {
    let mut random = Random::new(timers);
    let mut heap = BinaryHeap::default();
    (0..timers).for_each(|value| _ = heap.insert(random.below(1_000), value));
    heap
}

#[test]
fn firing_in_bulk_equals_firing_one_by_one() {
    for to in [0, 1, 100, 300, 500, 999, 1_000] {
        let mut bulk = crowded::<2>(20_000);
        let mut single = bulk.clone();
        let mut fired = Vec::new();
        let count = bulk.advance(to, |expired| fired.push(expired));
        assert_eq!(count, fired.len());
        assert!(fired.into_iter().eq(core::iter::from_fn(|| single.pop_expired(to))), "to {to}");
        bulk.array.check();
        assert_eq!(bulk.len(), single.len());
    }
}

#[test]
fn a_jump_past_everything_sorts_instead_of_sinking() {
    let mut heap = crowded::<2>(1 << 14);
    assert!(heap.array.is_worth_sorting(500, &NoMeter));
    let due = heap.clone().advance(500, |_| ()) as u64;
    let mut counted = BinaryHeap::<u64>::builder().meter(CountingMeter::default()).build().unwrap();
    while let Some(expired) = heap.pop_expired(1_000) {
        counted.insert(expired.deadline, expired.value);
    }
    counted.meter().reset();
    counted.advance(500, |_| ());
    // Removed one by one, each timer would move a node on nearly all of 14 levels.
    assert!(counted.meter().count(Work::ElementMove) < 4 * due);
}

/// The state after a panic in a callback.
#[test]
fn a_run_that_ends_early_in_bulk_puts_the_others_back() {
    for taken in [0, 1, 7, 5_000] {
        let mut heap = crowded::<4>(20_000);
        let all = heap.len();
        let mut due = heap.array.split_due(600, &heap.meter);
        let gone: Vec<_> = due.by_ref().take(taken).collect();
        drop(due);
        gone.iter().for_each(|node| assert!(heap.arena.remove_at(node.index).is_some()));
        heap.array.check();
        assert_eq!(heap.array.len(), all - taken);
        let last = Cell::new(gone.last().map_or(0, |node| node.deadline));
        heap.advance(1_000, |expired| assert!(last.replace(expired.deadline) <= expired.deadline));
        assert!(heap.is_empty());
    }
}
