//! The example: one of two workers is killed, and no job is lost.

#[path = "../examples/two_workers.rs"]
#[allow(dead_code)]
mod two_workers;

use std::collections::BTreeMap;
use std::process::Command;
use two_workers::{ORDERS, play, taken_over, work};
use wheelhouse_durable::store::Store;
use wheelhouse_store_redis::RedisStore;
use wheelhouse_test_servers::Server;

/// Runs the example in the processes of the workers. Not a test by itself.
#[test]
#[ignore = "the child of the test below"]
fn child() {
    let of = |name: &str| std::env::var(name).expect("the parent sets it");
    work(&of("TWO_WORKERS_URL"), &of("TWO_WORKERS_NAME")).unwrap();
}

#[test]
fn the_other_takes_over_what_the_killed_one_had() {
    let Some(server) = Server::redis(&[]) else { return };
    let url = format!("redis://{}/", server.address());
    let start = |name: &str| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "child", "--ignored", "--nocapture"]);
        command.env("TWO_WORKERS_URL", &url).env("TWO_WORKERS_NAME", name);
        command
    };
    let mut told = Vec::new();
    let all = play(&url, start, &mut told).unwrap();
    let told = String::from_utf8(told).unwrap();
    assert!(told.contains("A IS KILLED"), "{told}");

    let mut effects: BTreeMap<u64, Vec<&str>> = BTreeMap::new();
    for said in all.iter().filter(|said| said.ended) {
        effects.entry(said.order).or_default().push(&said.idempotency_key);
    }
    assert!(effects.keys().copied().eq(1..=ORDERS), "nothing is lost: {told}");
    for (order, keys) in &effects {
        assert!(keys.iter().all(|key| key == &keys[0]), "order {order}: {keys:?}");
    }
    let over = taken_over(&all);
    assert!(!over.is_empty(), "A was killed while it worked: {told}");
    for (order, keys) in over {
        assert_eq!(keys.len(), 1, "all attempts at order {order} have one idempotency key");
        let by_b = |said: &&two_workers::Said| said.worker == "B" && said.order == order;
        let last = all.iter().filter(by_b).find(|said| said.ended).unwrap();
        assert!(last.attempt >= 2, "A's attempt counts: {last:?}");
    }
    let mut store = RedisStore::connect(&url, "two-workers").unwrap();
    assert_eq!(store.scan(None, 1).unwrap(), [], "all were acknowledged");
}

#[test]
fn without_a_server_it_says_what_to_do() {
    let no_server = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let error = play(&format!("redis://{no_server}/"), |_| unreachable!(), &mut Vec::new());
    let error = error.unwrap_err().to_string();
    assert!(error.contains("apt-get install redis-server"), "{error}");
}
