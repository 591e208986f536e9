use super::*;
use alloc::vec::Vec;
use wheelhouse_conformance::check_random_operations;

/// Checks that each queue is sorted, not empty, and found by its delay and by its head.
fn check<T, M: Meter>(timer: &QueuePerDelay<T, M>) {
    assert_eq!(timer.queues.len(), timer.heads.len());
    assert_eq!(timer.queues.len(), timer.by_delay.len());
    let mut timers = 0;
    for (head, queue) in &timer.heads {
        let Queue { delay, timers: list } = timer.queues.at(*queue).unwrap();
        assert_eq!(timer.by_delay.get(delay), Some(queue));
        assert_eq!(timer.first_deadline(*queue), Some(head.key.deadline));
        assert_eq!(delay.inserted(head.key.deadline), head.key.inserted);
        let deadlines: Vec<_> =
            timer.lists.iter(list).map(|place| timer.timers.at(place).unwrap().deadline).collect();
        assert!(deadlines.is_sorted());
        let has_link = |place| timer.timers.link_at(place) == Some(&link_to(*queue));
        assert!(timer.lists.iter(list).all(has_link));
        timers += deadlines.len();
    }
    assert_eq!(timers, timer.len());
}

#[test]
fn invariants_hold_under_random_operations_with_few_and_many_delays() {
    for bits in [0, 3, 11] {
        check_random_operations(&mut QueuePerDelay::new(), bits.into(), bits, |it| check(it));
    }
}

#[test]
fn timers_of_one_delay_share_a_queue_whatever_their_deadlines() {
    let mut timer = QueuePerDelay::new();
    for tick in 0..100 {
        timer.advance(tick, |_| ());
        timer.insert(timer.now() + 1_000, tick);
        timer.insert(timer.now() + 2_000, tick);
    }
    assert_eq!((timer.queues(), timer.len()), (2, 200));
}

#[test]
fn a_queue_is_dropped_with_its_last_timer() {
    let mut timer = QueuePerDelay::new();
    let cancelled = timer.insert(10, "cancelled");
    let moved = timer.insert(20, "moved");
    timer.insert(30, "fires");
    assert_eq!(timer.queues(), 3);
    timer.cancel(cancelled);
    assert_eq!(timer.queues(), 2);
    timer.reschedule(moved, 30);
    assert_eq!(timer.queues(), 1);
    assert_eq!(timer.pop_expired(30).map(|expired| expired.value), Some("fires"));
    assert_eq!(timer.pop_expired(30).map(|expired| expired.value), Some("moved"));
    assert_eq!((timer.queues(), timer.next_wakeup()), (0, None));
}

/// A million timers with different delays are inserted and cancelled, one at a time.
#[test]
fn memory_does_not_grow_with_the_delays_ever_used() {
    let mut timer = QueuePerDelay::new();
    for delay in 0..1_000_000 {
        let id = timer.insert(delay, ());
        timer.cancel(id);
    }
    assert_eq!((timer.queues.peak(), timer.timers.peak()), (1, 1));
    assert!(timer.by_delay.capacity() < 16, "{}", timer.by_delay.capacity());
}
