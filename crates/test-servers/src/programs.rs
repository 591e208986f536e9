//! Checks of stores that only read, and of programs over two servers.

use crate::suite::QUEUE;
use crate::{How, TestServer, wait_until};
use std::time::Duration;
use wheelhouse_durable::store::{ClaimLimit, Kinds, Store, StoreError};
use wheelhouse_durable::{Durable, Error, Handlers, Next, StartError};
use wheelhouse_store_conformance::jobs::{KIND, LEASE, key, put, rows};

const TIMEOUT: Duration = Duration::from_secs(10);
const SHORT: Duration = Duration::from_millis(500);

/// A store that is connected to read creates and changes nothing.
pub fn a_reader_changes_nothing(tested: &TestServer) {
    let connect = |how| (tested.connect)(&tested.server.url(), QUEUE, how);
    let refused = |error, text| matches!(error, StoreError::Refused(why) if why.contains(text));
    assert!(refused(connect(How::ToRead).err().expect("there is no queue"), "name"));
    assert!(refused(connect(How::ToRead).err().expect("none was created"), "name"));
    let mut store = connect(How::Within(TIMEOUT)).expect("it connects");
    store.commit(&[put("a", 0)]).expect("a commit succeeds");
    let mut reader = connect(How::ToRead).expect("it connects");
    assert_eq!(rows(&mut *reader).len(), 1);
    assert!(reader.find(&key("a")).expect("a lookup succeeds").is_some());
    assert!(refused(reader.commit(&[put("b", 0)]).expect_err("it only reads"), "to write"));
    let kinds = Kinds::new([KIND]);
    let claimed = reader.claim(&kinds, ClaimLimit::jobs(9), LEASE);
    assert!(refused(claimed.expect_err("it only reads"), "to write"));
    let (_, next) = reader.claim(&kinds, ClaimLimit::jobs(0), LEASE).expect("it reads the time");
    assert!(next.visible_at.is_some() && next.now.as_millis() > 1_700_000_000_000);
    assert_eq!(rows(&mut *store).len(), 1);
}

/// One of the two servers of a program is killed, while the program runs and when it starts. Jobs
/// of the other server continue to run; the others run when their server is back.
pub fn a_program_starts_while_a_server_is_away(tested: &TestServer) {
    let (first, second) = (&tested.server, &tested.another());
    let stores = || {
        let store = |url: String| (tested.connect)(&url, QUEUE, How::Later(SHORT));
        [first, second].map(|server| store(server.url()).expect("it need not connect"))
    };
    let start = || {
        let handlers = Handlers::new().on_bytes(KIND, |_, _| Ok(Next::Done));
        Durable::builder(handlers).start_shards(stores())
    };
    let run = |timers: &Durable, n: &u32| timers.refresh(format!("order-{n}"), Duration::ZERO);
    let acked = |timers: &Durable| timers.snapshot().counts.acked;
    let timers = start().expect("it starts");
    for n in 0..40 {
        let plan = timers.after(Duration::from_secs(3_600)).key(format!("order-{n}"));
        plan.schedule_bytes(KIND, "").expect("a commit succeeds");
    }
    let shard = |n: &u32| timers.shard_of(format!("order-{n}")).expect("a key");
    let (here, away): (Vec<u32>, Vec<u32>) = (0..40).partition(|n| shard(n) == 0);
    for (mut store, jobs) in stores().into_iter().zip([&here, &away]) {
        assert_eq!(rows(&mut *store).len(), jobs.len() + 1, "one row has the shard number");
    }
    second.kill();
    let (some, others) = here.split_at(here.len() / 2);
    some.iter().for_each(|n| run(&timers, n).expect("its server is there"));
    wait_until("jobs of the first have run", || acked(&timers) == some.len() as u64);
    timers.stop();

    let timers = start().expect("it starts");
    others.iter().for_each(|n| run(&timers, n).expect("its server is there"));
    wait_until("jobs of the first have run", || acked(&timers) == others.len() as u64);
    assert!(matches!(run(&timers, &away[0]).expect_err("its server is away"), Error::Store(_)));
    second.start();
    away.iter().for_each(|n| run(&timers, n).expect("its server is back"));
    wait_until("all have run", || acked(&timers) == (others.len() + away.len()) as u64);
    timers.stop();

    first.kill();
    second.kill();
    let none = start().expect_err("no store can be reached");
    assert!(matches!(&none, StartError::Store(error) if error.is_transient()), "{none}");
}
