//! Timers over two servers, one of which is away.

mod common;

use std::time::{Duration, Instant};
use wheelhouse_durable::{Durable, Error, Handlers, Next, StartError};
use wheelhouse_store_postgres::PostgresStore;
use wheelhouse_test_servers::Server;

const KIND: &str = "work/1";

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < Duration::from_secs(20), "waited for 20 s: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A program starts while one of its servers is away, and has its jobs when that is back.
#[test]
fn a_program_starts_while_a_server_is_away() {
    let (Some(first), Some(second)) = (Server::postgres(), Server::postgres()) else { return };
    let store = |server| {
        let builder = PostgresStore::builder(&common::url(server), "orders").unwrap();
        builder.timeout(Duration::from_millis(500)).connect_later().unwrap()
    };
    let start = || {
        let handlers = Handlers::new().on_bytes(KIND, |_, _| Ok(Next::Done));
        Durable::builder(handlers).start_shards([&first, &second].map(store)).unwrap()
    };
    let timers = start();
    let hour = Duration::from_secs(3_600);
    for n in 0..40 {
        timers.after(hour).key(format!("order-{n}")).schedule_bytes(KIND, "").unwrap();
    }
    timers.stop();
    second.kill();
    let timers = start();
    let (here, away): (Vec<u32>, Vec<u32>) =
        (0..40).partition(|n| timers.shard_of(format!("order-{n}")).unwrap() == 0);
    let run = |n: &u32| timers.refresh(format!("order-{n}"), Duration::ZERO);
    here.iter().for_each(|n| run(n).unwrap());
    wait_until("jobs of the first have run", || {
        timers.snapshot().counts.acked == here.len() as u64
    });
    assert!(matches!(run(&away[0]).unwrap_err(), Error::Store(_)));
    second.start();
    away.iter().for_each(|n| run(n).unwrap());
    wait_until("all have run", || timers.snapshot().counts.acked == 40);
    timers.stop();

    first.kill();
    second.kill();
    let none = Durable::builder(Handlers::new()).start_shards([&first, &second].map(store));
    assert!(matches!(none.unwrap_err(), StartError::Store(_)), "no store can be reached");
}
