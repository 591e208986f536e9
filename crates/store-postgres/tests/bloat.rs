//! Claims while an open transaction keeps dead rows.

mod common;

use std::time::{Duration, Instant};
use tokio_postgres::NoTls;
use wheelhouse_durable::store::{
    Change, ClaimLimit, Key, Kinds, Leased, Put, Store, StoreError, Timestamp, When,
};
use wheelhouse_store_postgres::{PostgresStore, tokio_postgres};
use wheelhouse_test_servers::Server;

const ROUNDS: usize = 24;
const JOBS: usize = 5_000;

/// Puts, claims and acknowledges jobs. Returns the duration of the claims of each round.
fn rounds(store: &mut PostgresStore) -> Vec<Duration> {
    let round = |round| {
        for batch in 0..JOBS / 500 {
            let put = |n| {
                Change::Put(Put {
                    key: Key::new(format!("{round} {batch} {n}")).unwrap(),
                    kind: "work/1".into(),
                    payload: Vec::new(),
                    policy: String::new(),
                    when: When::After(Duration::ZERO),
                    replace: false,
                })
            };
            store.commit(&(0..500).map(put).collect::<Vec<_>>()).unwrap();
        }
        let (mut done, mut took) = (0, Duration::ZERO);
        let mut leased = Vec::new();
        while done < JOBS {
            let begun = Instant::now();
            let lease = Duration::from_secs(600);
            store
                .claim(&Kinds::new(["work/1"]), ClaimLimit::jobs(256), lease, &mut leased)
                .unwrap();
            took += begun.elapsed();
            done += leased.len();
            let acks = leased.drain(..).map(|Leased { job, token, .. }| Change::Ack {
                key: job.key,
                token,
                again: None,
            });
            store.commit(&acks.collect::<Vec<_>>()).unwrap();
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
        let (client, connection) = runtime.block_on(tokio_postgres::connect(&url, NoTls)).unwrap();
        runtime.spawn(connection);
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
    let connect = || PostgresStore::builder(&url, "a").unwrap().timeout(TIMEOUT).connect().unwrap();
    let (mut store, mut other) = (connect(), connect());
    let (client, connection) = runtime.block_on(tokio_postgres::connect(&url, NoTls)).unwrap();
    runtime.spawn(connection);
    let lock = "BEGIN; LOCK TABLE wheelhouse.job IN ACCESS EXCLUSIVE MODE";
    runtime.block_on(client.batch_execute(lock)).unwrap();
    let mut claim = || {
        let mut leased = Vec::new();
        let lease = Duration::from_secs(30);
        store.claim(&Kinds::new(["work/1"]), ClaimLimit::jobs(9), lease, &mut leased)?;
        Ok(leased.into_iter().map(|its| its.job.key).collect::<Vec<_>>())
    };
    let error: StoreError = claim().unwrap_err();
    // The server has the same timeout. Its answer comes first if this program was not scheduled.
    let timed_out = ["no answer within 3s", "due to statement timeout"];
    assert!(timed_out.iter().any(|text| error.to_string().contains(text)), "{error}");
    runtime.block_on(client.batch_execute("ROLLBACK")).unwrap();
    let put = |name: &str, when| {
        let (kind, key) = ("work/1".into(), Key::new(name).unwrap());
        let (payload, policy) = (Vec::new(), String::new());
        Change::Put(Put { key, kind, payload, policy, when, replace: false })
    };
    let old = put("old", When::At(Timestamp::from_millis(1)));
    other.commit(&[old, put("new", When::After(Duration::ZERO))]).unwrap();
    std::thread::sleep(Duration::from_millis(2));
    // This claim begins at the present, because no claim has ended before.
    assert_eq!(claim().unwrap(), [Key::new("new").unwrap()]);
}
