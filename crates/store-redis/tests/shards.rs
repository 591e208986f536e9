//! Timers on two servers: the jobs of one continue while the other is unreachable.

mod common;

use std::time::Duration;
use wheelhouse_durable::store::Store;
use wheelhouse_durable::{Durable, Error, Handlers, Next};
use wheelhouse_store_redis::RedisStore;
use wheelhouse_test_servers::{Server, shards, wait_until};

const KIND: &str = "work/1";

#[test]
fn a_server_that_is_killed_holds_up_its_own_jobs_alone() {
    let (Some(first), Some(second)) = (Server::redis(&[]), Server::redis(&[])) else { return };
    let connect = |server| {
        let store = RedisStore::builder(&common::url(server), "orders");
        store.timeout(Duration::from_millis(500)).connect().unwrap()
    };
    let handlers = Handlers::new().on_bytes(KIND, |_, _| Ok(Next::Done));
    let stores = [&first, &second].map(connect);
    let timers = Durable::builder(handlers).start_shards(stores).unwrap();
    let plan = |n: u32, delay| timers.after(delay).key(format!("order-{n}"));
    let hour = Duration::from_secs(3_600);
    let commits: Vec<_> = (0..200).map(|n| plan(n, hour).submit_bytes(KIND, "")).collect();
    commits.into_iter().for_each(|commit| drop(commit.wait().unwrap()));
    let shard = |n: &u32| timers.shard_of(format!("order-{n}")).unwrap();
    let (on_first, on_second): (Vec<u32>, Vec<u32>) = (0..200).partition(|n| shard(n) == 0);
    for (server, jobs) in [(&first, &on_first), (&second, &on_second)] {
        let rows = connect(server).scan(None, 1_000).unwrap();
        assert_eq!(rows.len(), jobs.len() + 1, "one row has the shard number");
    }

    second.kill();
    let now = Duration::ZERO;
    on_first.iter().for_each(|n| timers.refresh(format!("order-{n}"), now).unwrap());
    wait_until("jobs of the first have run", || {
        timers.snapshot().counts.acked == on_first.len() as u64
    });
    let error = timers.refresh(format!("order-{}", on_second[0]), now).unwrap_err();
    assert!(matches!(error, Error::Store(_)), "{error}");

    second.start();
    on_second.iter().for_each(|n| timers.refresh(format!("order-{n}"), now).unwrap());
    wait_until("all have run", || timers.snapshot().counts.acked == 200);
    timers.stop();
}

#[test]
fn a_program_starts_while_a_server_is_away() {
    let (Some(first), Some(second)) = (Server::redis(&[]), Server::redis(&[])) else { return };
    shards::a_program_starts_while_a_server_is_away([first, second], |server| {
        let builder = RedisStore::builder(&common::url(server), "orders");
        builder.timeout(Duration::from_millis(500)).connect_later().unwrap()
    });
}
