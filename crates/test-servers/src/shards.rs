//! Checks of programs over two servers.

use crate::{Server, wait_until};
use std::time::Duration;
use wheelhouse_durable::store::Store;
use wheelhouse_durable::{Durable, Error, Handlers, Next, StartError};

const KIND: &str = "work/1";

/// A program starts while one of its two servers is away, and reaches its jobs when that server is
/// back. `store` makes a store on a server, which connects at its first call.
///
/// # Panics
///
/// If it does not.
pub fn a_program_starts_while_a_server_is_away<S: Store>(
    [first, second]: [Server; 2],
    store: impl Fn(&Server) -> S,
) {
    let start = || {
        let handlers = Handlers::new().on_bytes(KIND, |_, _| Ok(Next::Done));
        Durable::builder(handlers).start_shards([&first, &second].map(&store)).unwrap()
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
    let none = Durable::builder(Handlers::new()).start_shards([&first, &second].map(&store));
    assert!(matches!(none.unwrap_err(), StartError::Store(_)), "no store can be reached");
}
