use super::*;
use alloc::vec::Vec;
use wheelhouse_conformance::check_random_operations;
use wheelhouse_core::meter::CountingMeter;

#[test]
fn dead_nodes_outnumber_the_timers_by_at_most_64() {
    let mut heap = LazyHeap::new();
    let mut ids: Vec<_> =
        (0..10_000).map(|value| heap.insert(1_000 + value % 977, value)).collect();
    let mut step = 0;
    while let Some(id) = ids.get(step * 7_919 % ids.len().max(1)).copied() {
        ids.swap_remove(step * 7_919 % ids.len());
        if step % 3 == 0 {
            assert!(heap.reschedule(id, 5_000));
        }
        assert!(heap.cancel(id).is_some() && heap.cancel(id).is_none());
        assert!(heap.array.len() <= 2 * heap.len() + FEW);
        step += 1;
    }
    assert_eq!((heap.len(), heap.next_wakeup()), (0, None));
}

#[test]
fn firing_leaves_no_more_dead_nodes_than_cancelling() {
    let mut heap = LazyHeap::new();
    let far: Vec<_> = (0..1_000).map(|n| heap.insert(1_000_000 + n, n)).collect();
    (0..1_000).for_each(|n| _ = heap.insert(n, n));
    far[1..].iter().for_each(|id| _ = heap.cancel(*id));
    for tick in 0..1_000 {
        assert_eq!(heap.advance(tick, |_| ()), 1);
        assert!(
            heap.array.len() <= 2 * heap.len() + FEW,
            "{} nodes of {}",
            heap.array.len(),
            heap.len()
        );
    }
    assert_eq!(heap.next_wakeup(), Some(1_000_000));
}

/// Checks that each timer has exactly one node, which is not after it, and that its slack is a
/// lower bound.
fn check(heap: &LazyHeap<u64>) {
    let nodes = heap.array.nodes();
    for (id, link, entry) in heap.timers.iter() {
        let own: Vec<_> = nodes
            .iter()
            .filter(|node| (node.index(), node.order()) == (id.index(), link.get()))
            .collect();
        assert_eq!(own.len(), 1);
        assert!(own[0].deadline() <= entry.deadline - Tick::from(entry.slack));
        assert!(*own[0] <= LazyNode::new(entry.deadline, entry.order, id.index()));
        assert!(heap.moved || own[0].order() == entry.order.get());
    }
    assert!(nodes.len() <= 2 * heap.len() + FEW);
}

#[test]
fn every_timer_keeps_a_node_that_is_not_after_it() {
    for bits in [4, 12, 16] {
        check_random_operations(&mut LazyHeap::new(), bits.into(), bits, |heap| check(heap));
    }
}

#[test]
fn after_two_calls_in_vain_the_wake_up_is_exact() {
    let mut heap = LazyHeap::new();
    let ids: Vec<_> = (0..100).map(|deadline| heap.insert(deadline, ())).collect();
    for (deadline, id) in ids[..98].iter().enumerate() {
        if deadline % 2 == 0 {
            heap.cancel(*id);
        } else {
            heap.reschedule(*id, 1_000);
        }
    }
    let wakes =
        core::iter::from_fn(|| heap.next_wakeup().map(|tick| (tick, heap.advance(tick, |_| ()))));
    assert!(wakes.eq([(0, 0), (1, 0), (98, 1), (99, 1), (1_000, 49)]));
}

#[test]
fn a_move_to_no_earlier_than_the_node_and_a_cancel_do_not_touch_the_heap() {
    let mut heap = LazyHeap::builder().meter(CountingMeter::default()).build().unwrap();
    let id = heap.insert(100, 'a');
    heap.meter().reset();
    for deadline in [100, 150, 120, 1 << 40, (1 << 40) - 5, u64::MAX] {
        assert!(heap.reschedule(id, deadline));
        assert_eq!((heap.deadline(id), heap.next_wakeup()), (Some(deadline), Some(100)));
    }
    assert_eq!((heap.meter().total(), heap.array.len()), (0, 1));
    let other = heap.insert(200, 'b');
    heap.meter().reset();
    heap.cancel(other);
    assert_eq!(heap.meter().total(), 0, "neither does a cancel");
    heap.reschedule(id, 99);
    assert_eq!(
        (heap.next_wakeup(), heap.advance(98, |_| ()), heap.advance(99, |_| ())),
        (Some(99), 0, 1)
    );
}

#[test]
fn renumbered_timers_keep_the_order_of_insertion() {
    let mut heap = LazyHeap::new();
    let first = heap.insert(5, 0);
    let ids: Vec<_> = (1..50).map(|value| heap.insert(5, value)).collect();
    heap.cancel(ids[9]);
    heap.reschedule(first, 5);
    heap.orders = u32::MAX;
    heap.insert(5, 50);
    assert_eq!(heap.orders, 50);
    heap.reschedule(ids[0], 5);
    let mut fired = Vec::new();
    heap.advance(5, |expired| fired.push(expired.value));
    assert!(fired.into_iter().eq((2..50).filter(|value| *value != 10).chain([0, 50, 1])));
}

#[test]
fn a_jump_fires_the_same_as_single_steps_among_dead_nodes() {
    let mut bulk = LazyHeap::new();
    let ids: Vec<_> =
        (0..20_000_u64).map(|value| bulk.insert(value * 7_919 % 1_000, value)).collect();
    ids.iter().step_by(3).for_each(|id| _ = bulk.cancel(*id));
    ids.iter().skip(1).step_by(5).for_each(|id| _ = bulk.reschedule(*id, 700));
    for to in [0, 300, 699, 700, 1_000] {
        let mut single = bulk.clone();
        let mut fired = Vec::new();
        let count = bulk.advance(to, |expired| fired.push(expired));
        assert_eq!(count, fired.len());
        assert!(fired.into_iter().eq(core::iter::from_fn(|| single.pop_expired(to))), "to {to}");
        assert_eq!((bulk.len(), bulk.next_wakeup()), (single.len(), single.next_wakeup()));
    }
    assert!(bulk.is_empty());
}
