use super::{
    ALONE, ClaimStats, Floor, Floors, LONG, NONE, PART, RECHECK, SHORT, SLACK, Search, Start,
};
use std::time::{Duration, Instant};
use wheelhouse_durable::store::{Kinds, Timestamp};

fn new() -> Floor {
    Floor::new(Kinds::default(), NONE, ALONE)
}

fn stats(floor: i64, took: Duration) -> ClaimStats {
    ClaimStats { floor, took, found: 0, now: 5_000, last: None }
}

#[test]
fn claims_read_all_unless_that_takes_long() {
    let (mut floor, begun) = (new(), Instant::now());
    assert_eq!(floor.next(begun).floor, NONE);
    floor.record_success(stats(NONE, LONG), begun);
    assert_eq!(floor.next(begun).floor, NONE, "the claim was fast");
    let took = LONG * 2;
    floor.record_success(stats(NONE, took), begun);
    assert_eq!(floor.next(begun).floor, 5_000 - SLACK);
    // This claim is fast because it began at the floor, so the next does not begin earlier.
    floor.record_success(stats(5_000 - SLACK, Duration::ZERO), begun);
    assert_eq!(floor.next(begun + took * PART - LONG).floor, 5_000 - SLACK);
    assert_eq!(floor.next(begun + took * PART).floor, NONE);
    // More jobs are due: the next claim continues where this one ended.
    floor.record_success(ClaimStats { last: Some(4_000), ..stats(NONE, took) }, begun);
    assert_eq!(floor.next(begun).floor, 4_000 - SLACK);
}

#[test]
fn a_claim_from_the_beginning_that_timed_out_is_delayed() {
    let (mut floor, begun) = (new(), Instant::now());
    floor.record_success(stats(NONE, LONG), begun);
    assert_eq!(floor.next(begun).floor, NONE, "the claim was fast");
    let took = Duration::from_secs(10);
    floor.record_failure(Start::default(), Some(took), begun);
    assert_eq!(floor.next(begun).floor, 5_000 - SLACK);
    // A claim that began at the floor does not delay the next one from the beginning.
    let start = Start { floor: 5_000 - SLACK, ..Start::default() };
    floor.record_failure(start, Some(took), begun + took);
    assert_eq!(floor.next(begun + took * PART - LONG).floor, 5_000 - SLACK);
    assert_eq!(floor.next(begun + took * PART).floor, NONE);
    assert!(!floor.is_unknown(begun));
}

#[test]
fn kinds_that_alternate_keep_their_floors() {
    let (mut floors, begun) = (Floors::default(), Instant::now());
    let [closures, futures, other] = ["a/1", "b/1", "c/1"].map(|kind| Kinds::new([kind]));
    for (kinds, now) in [(&closures, 5_000), (&futures, 6_000)] {
        assert_eq!(floors.of(kinds).next(begun).floor, NONE);
        floors.of(kinds).record_success(ClaimStats { now, ..stats(NONE, LONG * 2) }, begun);
    }
    for _ in 0..2 {
        assert_eq!(floors.of(&closures).next(begun).floor, 4_800);
        assert_eq!(floors.of(&futures).next(begun).floor, 5_800);
    }
    assert_eq!(floors.search_start(begun), (4_800, Kinds::new(["a/1", "b/1"])));
    floors.wrote(3_000);
    assert_eq!(floors.search_start(begun).0, 3_000);
    assert_eq!([&closures, &futures].map(|kinds| floors.of(kinds).next(begun).floor), [3_000; 2]);
    // The least recently used floor is dropped.
    assert_eq!(floors.of(&other).next(begun).floor, NONE);
    assert_eq!(floors.of(&futures).next(begun).floor, 5_800);
    assert_eq!(floors.of(&closures).next(begun).floor, NONE);
    assert_eq!(floors.search_start(begun), (5_800, futures));
    floors.of(&closures).record_failure(Start::default(), Some(LONG * 2), begun);
    assert_eq!(floors.of(&closures).next(begun).floor, 4_800, "where those of other kinds ended");
}

#[test]
fn a_claim_begins_at_an_earlier_row_that_this_store_has_written() {
    let (mut floor, begun, took) = (new(), Instant::now(), LONG * 2);
    floor.record_success(stats(NONE, took), begun);
    [3_000, 2_000, 9_000].into_iter().for_each(|at| floor.wrote(at));
    assert_eq!(floor.earliest(), 2_000);
    assert_eq!(floor.next(begun).floor, 2_000);
    // Written during that claim, which may miss it.
    floor.wrote(4_000);
    floor.record_success(ClaimStats { now: 5_100, ..stats(2_000, took) }, begun);
    // That claim took long, so the next one does not begin earlier; one after a pause does.
    assert_eq!(floor.next(begun).floor, 4_900);
    floor.next_full = Some(begun + took * PART * 2);
    assert_eq!(floor.next(begun + took * PART).floor, 4_000);
    assert_eq!(floor.next(begun + took * PART).floor, 4_900);
}

/// A store that is notified walks over few dead entries: not even a millisecond for each claim.
#[test]
fn a_store_that_is_notified_begins_later() {
    let (mut floors, begun, took) = (Floors::default(), Instant::now(), SHORT * 2);
    let kinds = Kinds::new(["a/1"]);
    let stats = ClaimStats { found: 1, ..stats(NONE, took) };
    let search = |found| Search { is_full: true, took, found };
    let first = Timestamp::from_millis(90_000);
    let claim = |floors: &mut Floors, stats, search, now| {
        floors.of(&kinds).record_success(stats, now);
        floors.of(&kinds).record_search(search, now);
        let Start { floor, first, .. } = floors.of(&kinds).next(now);
        (floor, first.map(|(first, _)| first))
    };
    let full = (NONE, None);
    assert_eq!(claim(&mut floors, stats, search(Some(first)), begun), full, "not notified");
    floors.heard(NONE);
    assert_eq!(claim(&mut floors, stats, search(Some(first)), begun), (NONE, Some(NONE)));
    let later = (5_000 - SLACK, Some(90_000));
    assert_eq!(claim(&mut floors, stats, search(Some(first)), begun), later);
    let many = ClaimStats { found: 26, ..stats };
    let short = Search { took: SHORT, ..search(Some(first)) };
    assert_eq!(claim(&mut floors, many, short, begun), full, "that was short");
    // An empty queue.
    assert_eq!(claim(&mut floors, stats, search(None), begun), (4_800, Some(i64::MAX)));
    // A search that begins later says nothing about new leases, so it does not extend the time.
    let from_first = Search { is_full: false, ..search(Some(first)) };
    let almost = begun + RECHECK - SHORT;
    let from_floor = ClaimStats { floor: 4_800, ..stats };
    assert_eq!(claim(&mut floors, from_floor, from_first, almost), later);
    floors.heard(60_000);
    assert_eq!(claim(&mut floors, from_floor, from_first, almost), (4_800, Some(60_000)));
    floors.heard(3_000);
    let failed = floors.of(&kinds).next(almost);
    assert_eq!((failed.floor, failed.first), (3_000, Some((3_000, SHORT))));
    floors.of(&kinds).record_failure(failed, None, almost);
    let again = floors.of(&kinds).next(almost);
    assert_eq!((again.floor, again.first), (3_000, None), "the row is not forgotten");
    assert_eq!(claim(&mut floors, from_floor, from_first, begun + RECHECK), full);
}

/// After a new connection, rows may have been written anywhere. They wait for the next claim from
/// the beginning, which follows after ten times the timeout.
#[test]
fn a_timed_out_claim_is_not_repeated_for_a_notification() {
    let (mut floors, begun) = (Floors::default(), Instant::now());
    let (kinds, took) = (Kinds::new(["a/1"]), Duration::from_secs(10));
    floors.heard(NONE);
    floors.of(&kinds).record_success(stats(NONE, SHORT), begun);
    let start = floors.of(&kinds).next(begun);
    assert_eq!(start.floor, NONE);
    floors.of(&kinds).record_failure(start, Some(took), begun);
    for _ in 0..2 {
        floors.heard(NONE);
        assert_eq!(floors.of(&kinds).next(begun + took * PART - SHORT).floor, 4_800);
    }
    assert_eq!(floors.of(&kinds).next(begun + took * PART).floor, NONE);
}
