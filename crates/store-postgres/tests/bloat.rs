//! Claims while an open transaction keeps dead rows.

mod common;

use common::connect;
use std::time::{Duration, Instant};
use wheelhouse_durable::store::{
    Change, ClaimLimit, Kinds, Put, Store, StoreError, Timestamp, When,
};
use wheelhouse_store_conformance::jobs::{KIND, ack, commit, job, lease, names, put};
use wheelhouse_store_postgres::PostgresStore;
use wheelhouse_test_servers::Server;

const ROUNDS: usize = 24;
const JOBS: usize = 5_000;

/// Puts, claims and acknowledges jobs. Returns the duration of the claims of each round.
fn rounds(store: &mut PostgresStore) -> Vec<Duration> {
    let round = |round| {
        for batch in 0..JOBS / 500 {
            let put = |n| put(&format!("{round} {batch} {n}"), 0);
            commit(store, &(0..500).map(put).collect::<Vec<_>>());
        }
        let (mut done, mut took) = (0, Duration::ZERO);
        while done < JOBS {
            let begun = Instant::now();
            let leased = lease(store, 256);
            took += begun.elapsed();
            done += leased.len();
            commit(store, &leased.iter().map(ack).collect::<Vec<_>>());
        }
        took
    };
    (0..ROUNDS).map(round).collect()
}

/// Run by hand: `cargo test --release --test bloat -- --ignored --nocapture`.
#[test]
#[ignore = "measures"]
fn claims_under_an_old_snapshot() {
    let Some(server) = Server::postgres() else { return };
    let url = common::url(&server);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    for (what, begin) in [
        ("no snapshot", "SELECT 1"),
        ("an old snapshot", "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1"),
    ] {
        let mut store = PostgresStore::connect(&url, what).unwrap();
        let client = runtime.block_on(connect(&url));
        runtime.block_on(client.batch_execute(begin)).unwrap();
        println!("{what}: claims of {JOBS} jobs took {:.0?}", rounds(&mut store));
    }
}

/// A claim from the beginning exceeds the timeout: here because of a lock, in practice because it
/// walks over dead rows.
#[test]
fn a_search_that_timed_out_is_not_repeated_at_once() {
    const TIMEOUT: Duration = Duration::from_secs(3);
    let Some(server) = Server::postgres() else { return };
    let url = common::url(&server);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let open = || PostgresStore::builder(&url, "a").unwrap().timeout(TIMEOUT).connect().unwrap();
    let (mut store, mut other) = (open(), open());
    let client = runtime.block_on(connect(&url));
    let lock = "BEGIN; LOCK TABLE wheelhouse.job IN ACCESS EXCLUSIVE MODE";
    runtime.block_on(client.batch_execute(lock)).unwrap();
    let (kinds, time) = (Kinds::new([KIND]), Duration::from_secs(30));
    let error: StoreError = store.claim(&kinds, ClaimLimit::jobs(9), time).unwrap_err();
    // The server has the same timeout. Its answer comes first if this program was not scheduled.
    let timed_out = ["no answer within 3s", "due to statement timeout"];
    assert!(timed_out.iter().any(|text| error.to_string().contains(text)), "{error}");
    runtime.block_on(client.batch_execute("ROLLBACK")).unwrap();
    let old = Put { when: When::At(Timestamp::from_millis(1)), ..job("old", 0) };
    commit(&mut other, &[Change::Put(old), put("new", 0)]);
    // This claim begins at the present, because no claim has ended before.
    assert_eq!(names(&lease(&mut store, 9)), ["new"]);
}
