//! The conformance suite on a store whose claims all begin where the last one ended.

use crate::PostgresStore;
use std::time::Duration;
use wheelhouse_durable::store::{Change, ClaimLimit, Kinds, Outcome, Put, Store, Timestamp};
use wheelhouse_store_conformance::jobs::*;
use wheelhouse_store_conformance::{Bed, store_suite};
use wheelhouse_test_servers::{Server, queue};

fn bed() -> Option<Bed> {
    let (url, queue) = (Server::shared_postgres()?.url(), queue());
    Some(Bed::on_server(move |now| {
        let builder = PostgresStore::builder(&url, &queue).expect("a URL");
        let store = builder.clock(now).connect().expect("it connects");
        store.floors.lock().use_always(false);
        store
    }))
}

store_suite!(bed);

/// A delay of a job that is not due in a test, in milliseconds.
const FAR: u64 = 1 << 50;

/// Each kind is found: before, between and after the claimed kinds.
#[test]
fn kinds_are_listed_whichever_are_claimed() {
    let Some(mut bed) = bed() else { return };
    let mut store = bed.connect();
    let names = ["a", "b", "b2", "c", "d", "e", "f"];
    let put = |name: &str| Change::Put(Put { kind: name.into(), ..job(name, FAR) });
    commit(&mut *store, &names.map(put));
    let first = Timestamp::from_millis(store.now().unwrap().as_millis() + FAR);
    for claimed in [&[][..], &["a"], &["f", "b"], &["c", "d", "0", "g", "cc"], &names] {
        let kinds = Kinds::new(claimed.iter().copied());
        store.claim(&kinds, ClaimLimit::jobs(9), LEASE).unwrap();
        assert_eq!(store.kinds().unwrap(), names.map(|name| (name.into(), first)), "{claimed:?}");
    }
}

/// A claim removes a cancelled row, and a search for one more job finds only one that is too long.
/// The claim returns the time of that job, and the next claim leases it.
#[test]
fn a_job_that_exceeds_the_limit_of_bytes_is_not_passed_over() {
    let Some(mut bed) = bed() else { return };
    let mut store = bed.connect();
    let (kinds, limit) = (Kinds::new([KIND]), ClaimLimit { bytes: 50, ..ClaimLimit::jobs(2) });
    let claim = |store: &mut dyn Store| {
        let (leased, next) = store.claim(&kinds, limit, Duration::from_secs(1)).unwrap();
        (names(&leased), leased, next)
    };
    one(&mut *store, put("cancelled", 0));
    let (_, leased, next) = claim(&mut *store);
    let begun = [begin(&leased[0]), cancel("cancelled")];
    assert_eq!(commit(&mut *store, &begun), [Outcome::Done, Outcome::Running]);
    let long = Change::Put(Put { payload: vec![0; 100], ..job("long", 2_000) });
    commit(&mut *store, &[put("short", 500), long]);
    bed.advance(Duration::from_secs(3));
    let (keys, _, after) = claim(&mut *store);
    let due = Timestamp::from_millis(next.now.as_millis() + 2_000);
    assert_eq!((keys, after.visible_at), (vec!["short".to_owned()], Some(due)));
    assert_eq!(claim(&mut *store).0, ["long"]);
}
