use super::*;
use alloc::vec::Vec;
use core::cell::Cell;
use wheelhouse_core::meter::CountingMeter;

/// A small random number generator, so that the unit tests need no crate for it.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

fn check_random_operations<const ARITY: usize>() {
    let mut heap = BinaryHeap::<u64, ARITY>::default();
    let mut ids = Vec::new();
    let mut state = ARITY as u64;
    for step in 0..20_000 {
        let deadline = heap.now() + random(&mut state) % 2_000;
        match random(&mut state) % 8 {
            0..4 => ids.push(heap.insert(deadline, step)),
            4 if !ids.is_empty() => {
                let id = ids.swap_remove(random(&mut state) as usize % ids.len());
                heap.cancel(id);
            }
            5 if !ids.is_empty() => {
                heap.reschedule(ids[random(&mut state) as usize % ids.len()], deadline);
            }
            _ => {
                heap.advance(deadline.min(heap.now() + 20), |_| ());
            }
        }
        if step % 50 == 0 {
            heap.array.check();
            assert_eq!(heap.array.len(), heap.len());
        }
    }
}

#[test]
fn invariants_hold_under_random_operations_at_any_arity() {
    check_random_operations::<2>();
    check_random_operations::<3>();
    check_random_operations::<4>();
    check_random_operations::<8>();
}

/// A heap with this many timers at random deadlines below 1,000, several at each deadline.
fn crowded<const ARITY: usize>(timers: u64) -> BinaryHeap<u64, ARITY> {
    let mut state = timers;
    let mut heap = BinaryHeap::default();
    (0..timers).for_each(|value| {
        heap.insert(random(&mut state) % 1_000, value);
    });
    heap
}

#[test]
fn in_bulk_fires_as_one_by_one() {
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

#[test]
fn a_later_deadline_costs_one_comparison_to_insert() {
    let mut heap = BinaryHeap::<_, 2>::builder().meter(CountingMeter::default()).build().unwrap();
    for deadline in 0..1_000 {
        heap.insert(deadline, ());
    }
    assert_eq!(heap.meter().count(Work::Comparison), 999);
}

#[test]
fn equal_deadlines_fire_in_order_of_insertion_and_a_reschedule_is_one() {
    let mut heap = BinaryHeap::new();
    let ids: Vec<_> = (0..100).map(|value| heap.insert(5, value)).collect();
    assert!(heap.reschedule(ids[0], 5));
    let mut fired = Vec::new();
    heap.advance(5, |expired| fired.push(expired.value));
    assert!(fired.into_iter().eq((1..100).chain([0])));
}
