use super::*;
use alloc::vec::Vec;
use wheelhouse_core::meter::CountingMeter;

type Counted<T> = QueuePerDelay<T, CountingMeter>;

fn counted<T>() -> Counted<T> {
    QueuePerDelay::builder().meter(CountingMeter::default()).build().unwrap()
}

/// The steps of a call by kind: comparisons, links, all.
fn steps<T, R>(timer: &mut Counted<T>, call: impl FnOnce(&mut Counted<T>) -> R) -> (u64, u64, u64) {
    timer.meter().reset();
    call(timer);
    let meter = timer.meter();
    (meter.count(Work::Comparison), meter.count(Work::Link), meter.total())
}

fn fired<T, M: Meter>(timer: &mut QueuePerDelay<T, M>, now: Tick) -> Vec<T> {
    let mut fired = Vec::new();
    timer.advance(now, |expired| fired.push(expired.value));
    fired
}

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

/// A small random number generator, so that the unit tests need no crate for it.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

#[test]
fn invariants_hold_under_random_operations_with_few_and_many_delays() {
    for delays in [1, 5, 2_000] {
        let (mut timer, mut ids, mut state) = (QueuePerDelay::new(), Vec::new(), delays);
        for step in 0..5_000 {
            // A few are overdue.
            let deadline = (timer.now() + 10 + random(&mut state) % delays).saturating_sub(12);
            match random(&mut state) % 8 {
                0..4 => ids.push(timer.insert(deadline, step)),
                4 if !ids.is_empty() => {
                    let at = random(&mut state) as usize % ids.len();
                    timer.cancel(ids.swap_remove(at));
                }
                5 if !ids.is_empty() => {
                    timer.reschedule(ids[random(&mut state) as usize % ids.len()], deadline);
                }
                6 => _ = timer.pop_expired(timer.now() + 1),
                _ => _ = timer.advance(timer.now() + random(&mut state) % 4, |_| ()),
            }
            check(&timer);
        }
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
    assert_eq!(fired(&mut timer, 30), ["fires", "moved"]);
    assert_eq!((timer.queues(), timer.next_wakeup()), (0, None));
}

/// A million timers with different delays are inserted and cancelled, one at a time.
#[test]
fn memory_does_not_follow_the_delays_ever_seen() {
    let mut timer = QueuePerDelay::new();
    for delay in 0..1_000_000 {
        let id = timer.insert(delay, ());
        timer.cancel(id);
    }
    assert_eq!((timer.queues.peak(), timer.timers.peak()), (1, 1));
    assert!(timer.by_delay.capacity() < 16, "{}", timer.by_delay.capacity());
}

#[test]
fn equal_deadlines_of_different_delays_fire_in_the_order_of_insertion() {
    let mut timer = QueuePerDelay::new();
    timer.insert(100, "at 0");
    timer.advance(60, |_| ());
    timer.insert(100, "at 60");
    timer.advance(30, |_| ()); // the clock stays at 60
    timer.insert(100, "at 60, second");
    timer.advance(99, |_| ());
    let moved = timer.insert(200, "moved at 99");
    timer.insert(100, "at 99");
    timer.reschedule(moved, 100);
    assert_eq!(timer.queues(), 3);
    let order = ["at 0", "at 60", "at 60, second", "at 99", "moved at 99"];
    assert_eq!(fired(&mut timer, 100), order);
}

#[test]
fn overdue_timers_fire_by_deadline_then_insertion_among_those_that_are_due() {
    let mut timer = QueuePerDelay::new();
    timer.insert(50, "50 at 0");
    timer.insert(70, "70 at 0");
    timer.insert(20, "20 at 0");
    assert_eq!(timer.pop_expired(100).map(|expired| expired.value), Some("20 at 0"));
    timer.insert(70, "70 at 100");
    timer.insert(100, "100 at 100");
    timer.insert(50, "50 at 100");
    timer.insert(0, "0 at 100");
    timer.insert(50, "50 at 100, second");
    assert_eq!(timer.next_wakeup(), Some(0));
    let order = [
        "0 at 100",
        "50 at 0",
        "50 at 100",
        "50 at 100, second",
        "70 at 0",
        "70 at 100",
        "100 at 100",
    ];
    assert_eq!(fired(&mut timer, 0), order);
}

/// A distance after `now` and the same distance before `now` have two queues, over the whole range.
#[test]
fn the_longest_delays_ahead_and_behind_do_not_meet() {
    let mut timer = QueuePerDelay::new();
    timer.insert(Tick::MAX, "last");
    timer.insert(Tick::MAX - 1, "last but one");
    timer.advance(Tick::MAX - 1, |expired| assert_eq!(expired.value, "last but one"));
    timer.insert(0, "overdue");
    timer.insert(Tick::MAX, "last, second");
    assert_eq!(timer.queues(), 3);
    assert_eq!(fired(&mut timer, Tick::MAX), ["overdue", "last", "last, second"]);
    timer.insert(0, "overdue");
    timer.insert(Tick::MAX, "now");
    check(&timer);
    assert_eq!(fired(&mut timer, Tick::MAX), ["overdue", "now"]);
}

#[test]
fn an_insertion_to_a_queue_that_exists_compares_nothing() {
    let mut timer = counted();
    for delay in 1..=1_000 {
        timer.insert(delay, ());
    }
    for delay in 1..=1_000 {
        assert_eq!(steps(&mut timer, |timer| timer.insert(delay, ())), (0, LINKS_IN, LINKS_IN));
    }
    let (comparisons, links, _) = steps(&mut timer, |timer| timer.insert(2_000, ()));
    assert!((1..40).contains(&comparisons), "{comparisons}");
    assert_eq!(links, LINKS_IN);
}

#[test]
fn only_the_first_of_a_queue_is_cancelled_through_the_heads() {
    let mut timer = counted();
    let mut ids = Vec::new();
    for tick in 0..10 {
        timer.advance(tick, |_| ());
        ids.push([1_000, 2_000, 3_000].map(|delay| timer.insert(timer.now() + delay, tick)));
    }
    let mut cancel = |id| steps(&mut timer, |timer| timer.cancel(id).unwrap());
    assert_eq!(cancel(ids[9][1]), (0, LINKS_OUT, LINKS_OUT));
    assert_eq!(cancel(ids[5][1]), (0, LINKS_OUT, LINKS_OUT));
    let (comparisons, links, _) = cancel(ids[0][1]);
    assert!((2..=6).contains(&comparisons), "{comparisons}"); // out of three and into two
    assert_eq!(links, LINKS_OUT);
    check(&timer);
}

/// The first of two timers with the same delay and deadline is removed, and the other replaces it.
#[test]
fn a_head_of_the_same_deadline_needs_no_search() {
    let mut timer = counted();
    let ids = [5, 5, 5, 7, 9].map(|deadline| timer.insert(deadline, deadline));
    assert_eq!(steps(&mut timer, |timer| timer.cancel(ids[0])), (0, LINKS_OUT, LINKS_OUT));
    // The comparison checks whether the timer is due.
    let pop = steps(&mut timer, |timer| timer.pop_expired(5));
    assert_eq!(pop, (1, LINKS_OUT, 1 + LINKS_OUT));
    assert_eq!(timer.next_wakeup(), Some(5));
    check(&timer);
}

#[test]
fn a_timer_that_is_moved_on_and_on_is_a_list_operation() {
    let mut timer = counted();
    let ids: Vec<_> = (0..100).map(|value| timer.insert(30_000, value)).collect();
    for tick in 1..=1_000 {
        timer.advance(tick, |_| ());
        let moved = ids[1 + tick as usize % 99];
        let steps = steps(&mut timer, |timer| timer.reschedule(moved, timer.now() + 30_000));
        assert_eq!(steps, (0, LINKS_IN + LINKS_OUT, LINKS_IN + LINKS_OUT));
    }
    assert_eq!(timer.queues(), 1);
    assert_eq!(fired(&mut timer, 30_000), [0]);
}

#[test]
fn a_clone_is_independent() {
    let mut timer = QueuePerDelay::new();
    let id = timer.insert(5, "a");
    let mut other = timer.clone();
    assert_eq!(timer.cancel(id), Some("a"));
    assert_eq!((timer.queues(), other.queues()), (0, 1));
    assert_eq!(fired(&mut other, 5), ["a"]);
}
