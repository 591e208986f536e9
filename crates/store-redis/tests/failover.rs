//! A queue that moves to another server: promoted replicas, clusters, Sentinels.

mod common;

use common::{ask, connection, try_ask};
use std::collections::BTreeSet;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};
use wheelhouse_durable::store::{Change, Outcome, Store, StoreError};
use wheelhouse_durable::{Durable, Handlers, Next};
use wheelhouse_store_conformance::jobs::{self, KIND, fails, key};
use wheelhouse_store_redis::RedisStore;
use wheelhouse_test_servers::{Network, Proxy, Server, queue, wait_until};

const TIMEOUT: Duration = Duration::from_secs(10);

/// A job that is not due in a test.
fn put(name: &str) -> Change {
    jobs::put(name, 3_600_000)
}

/// A primary, and a replica that has its data.
fn pair() -> Option<(Server, Server)> {
    let primary = Server::redis(&[])?;
    let port = primary.address().port().to_string();
    let replica = Server::redis(&["--replicaof", "127.0.0.1", &port])?;
    wait_until("the replica is in step", || {
        ask::<String>(&replica, &["INFO", "replication"]).contains("master_link_status:up")
    });
    Some((primary, replica))
}

fn wait_until_in_step(primary: &Server, replica: &Server) {
    wait_until("the replica has all", || {
        let offset = |server| {
            let info: String = ask(server, &["INFO", "replication"]);
            let of =
                |name: &str| info.lines().find_map(|line| line.strip_prefix(name).map(Into::into));
            of("slave_repl_offset:").or(of("master_repl_offset:")) as Option<String>
        };
        offset(primary) == offset(replica)
    });
}

/// Promotes the replica when it has what the primary has, and makes the primary its replica. No
/// connection is cut.
fn fail_over(primary: &Server, replica: &Server) {
    wait_until_in_step(primary, replica);
    let () = ask(replica, &["REPLICAOF", "NO", "ONE"]);
    let port = replica.address().port().to_string();
    let () = ask(primary, &["REPLICAOF", "127.0.0.1", &port]);
}

/// Jobs that were acknowledged and replicated before a failover run once after it, and so do jobs
/// scheduled after it. The connections stay open, and the server behind them is read-only.
#[test]
fn jobs_run_after_a_failover_that_cuts_no_connection() {
    let Some((primary, replica)) = pair() else { return };
    let proxy = Proxy::to(primary.address());
    let (sender, ran) = channel();
    let handlers = Handlers::new().on_bytes(KIND, move |run, _| {
        sender.send(run.key().to_string())?;
        Ok(Next::Done)
    });
    let store = RedisStore::builder(&primary.url_at(proxy.address()), "orders");
    let timers = Durable::start(store.timeout(TIMEOUT).connect().unwrap(), handlers).unwrap();
    let plan = |n: u32, delay| timers.after(delay).key(format!("order-{n}"));
    for n in 0..50 {
        plan(n, Duration::from_secs(3_600)).schedule_bytes(KIND, "").unwrap();
    }
    proxy.redirect_to(replica.address());
    fail_over(&primary, &replica);
    for n in 0..50 {
        timers.refresh(format!("order-{n}"), Duration::ZERO).unwrap();
    }
    for n in 50..100 {
        plan(n, Duration::ZERO).schedule_bytes(KIND, "").unwrap();
    }
    wait_until("all have run", || timers.snapshot().counts.acked == 100);
    timers.stop();
    let runs: Vec<_> = ran.try_iter().collect();
    assert!(runs.len() == 100 && runs.iter().collect::<BTreeSet<_>>().len() == 100, "{runs:?}");
}

/// The order of a list depends on the server. A list that has begun does not continue on another.
#[test]
fn a_list_does_not_continue_on_another_server() {
    let Some((primary, replica)) = pair() else { return };
    let builder = RedisStore::builder(&primary.url(), "a").also([replica.url()]);
    let mut store = builder.timeout(TIMEOUT).connect().unwrap();
    let jobs: Vec<_> = (0..2_000).map(|n| put(&n.to_string())).collect();
    store.commit(&jobs).unwrap();
    let page = store.scan(None, 600).unwrap();
    fail_over(&primary, &replica);
    store.commit(&[put("after")]).unwrap();
    fails(store.scan(page.last().map(|row| &row.key), 1_000), "list again");
    assert_eq!(jobs::rows(&mut store).len(), 2_001);
}

/// A store that only reads may be on a replica, which refuses to remove the kind that has no job.
#[test]
fn a_replica_can_be_read() {
    let Some((primary, replica)) = pair() else { return };
    let mut store = RedisStore::connect(&primary.url(), "a").unwrap();
    for change in [put("a"), jobs::cancel("a")] {
        store.commit(&[change]).unwrap();
    }
    wait_until_in_step(&primary, &replica);
    let builder = RedisStore::builder(&replica.url(), "a").timeout(Duration::from_secs(1));
    let mut reader = builder.connect_to_read().unwrap();
    assert_eq!((reader.kinds().unwrap(), reader.scan(None, 9).unwrap()), (vec![], vec![]));
}

/// A user who may not ask for the role of a server does not start on a replica.
#[test]
fn a_replica_that_tells_no_role_is_noticed() {
    let Some((primary, replica)) = pair() else { return };
    drop(RedisStore::connect(&primary.url(), "a").unwrap());
    wait_until_in_step(&primary, &replica);
    let () = ask(&replica, &["ACL", "SETUSER", "default", "-role"]);
    let builder = RedisStore::builder(&replica.url(), "a").timeout(Duration::from_millis(300));
    let error = fails(builder.connect(), "read only replica");
    assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}");
}

/// A store with several addresses uses the primary, also after a failover.
#[test]
fn the_primary_is_found_among_several_addresses() {
    let Some((primary, replica)) = pair() else { return };
    fails(RedisStore::connect(&replica.url(), "a"), "is a replica");
    let builder = RedisStore::builder(&replica.url(), "a").also([primary.url()]);
    let mut store = builder.timeout(TIMEOUT).connect().unwrap();
    assert_eq!(store.commit(&[put("before")]).unwrap(), [Outcome::Done]);
    fail_over(&primary, &replica);
    assert_eq!(store.commit(&[put("after")]).unwrap(), [Outcome::Done]);
    primary.kill();
    assert_eq!(store.commit(&[put("before")]).unwrap(), [Outcome::Duplicate]);
    let () = ask(&replica, &["REPLICAOF", "127.0.0.1", "1"]);
    let error = RedisStore::builder(&replica.url(), "a").timeout(TIMEOUT).connect();
    assert!(matches!(error.unwrap_err(), StoreError::Unavailable(_)));
}

/// A server that becomes a replica refuses writes. Without another server, a call fails after its
/// timeout, and says why.
#[test]
fn a_server_that_only_reads_is_an_error_in_time() {
    let Some(server) = Server::redis(&[]) else { return };
    let builder = RedisStore::builder(&server.url(), "a").timeout(Duration::from_millis(300));
    let mut store = builder.connect().unwrap();
    let () = ask(&server, &["REPLICAOF", "127.0.0.1", "1"]);
    let begun = Instant::now();
    let error = fails(store.commit(&[put("a")]), "is a replica");
    assert!(matches!(error, StoreError::Unavailable(_)), "{error:?}");
    assert!(begun.elapsed() >= Duration::from_millis(100), "the call retried");
    let () = ask(&server, &["REPLICAOF", "NO", "ONE"]);
    assert_eq!(store.commit(&[put("a")]).unwrap(), [Outcome::Done]);
}

#[test]
fn the_primary_is_found_by_a_sentinel() {
    let Some((primary, replica)) = pair() else { return };
    let Some(sentinel) = Server::redis_sentinel("shop", primary.address()) else { return };
    let open = |name: &str| {
        let builder = RedisStore::builder(&format!("redis://{name}/"), "a").timeout(TIMEOUT);
        builder.sentinels(["redis://127.0.0.1:1/".to_owned(), sentinel.url()]).connect()
    };
    fails(open("other"), "knows no primary `other`");
    let mut store = open("shop").unwrap();
    assert_eq!(store.commit(&[put("before")]).unwrap(), [Outcome::Done]);
    // Otherwise the replica could be promoted without the job.
    wait_until_in_step(&primary, &replica);
    // A Sentinel promotes a replica only after it has polled it some times.
    let mut asked = connection(&sentinel.url());
    wait_until("the Sentinel knows the replica", || {
        redis::cmd("SENTINEL").arg("FAILOVER").arg("shop").exec(&mut asked).is_ok()
    });
    wait_until("the primary has changed", || {
        let words = ["SENTINEL", "GET-MASTER-ADDR-BY-NAME", "shop"];
        ask::<(String, u16)>(&sentinel, &words).1 == replica.address().port()
    });
    // The old primary learns of it some seconds later. Writes to it until then are lost.
    wait_until("the old primary is a replica", || {
        try_ask(&primary, &["INFO", "replication"])
            .is_ok_and(|info: String| info.contains("role:slave"))
    });
    // Sentinels cut the connections to the old primary, so the first call may fail.
    let _ = store.find(&key("before"));
    assert_eq!(store.commit(&[put("after")]).unwrap(), [Outcome::Done]);
    assert_eq!(store.commit(&[put("before")]).unwrap(), [Outcome::Duplicate]);
}

/// A queue is found from any node, on the node that has its slot, and is followed when the slot
/// moves.
#[test]
fn a_queue_is_found_in_a_cluster_and_followed() {
    let Some(nodes) = Server::redis_cluster() else { return };
    for queue in [queue(), queue(), queue(), queue(), queue(), queue()] {
        for node in &nodes {
            let mut store = RedisStore::connect(&node.url(), &queue).unwrap();
            let outcome = store.commit(&[put("a")]).unwrap();
            assert!(matches!(outcome[..], [Outcome::Done | Outcome::Duplicate]), "{outcome:?}");
            assert!(store.find(&key("a")).unwrap().is_some());
            assert_eq!(store.scan(None, 9).unwrap().len(), 1);
            assert_eq!(store.kinds().unwrap().len(), 1);
            assert_eq!(store.dead(None, 9).unwrap(), []);
        }
    }
    let queue = queue();
    let mut store =
        RedisStore::builder(&nodes[0].url(), &queue).timeout(TIMEOUT).connect().unwrap();
    store.commit(&[put("before")]).unwrap();
    let waits = move_slot(&nodes, &format!("wh:{{{queue}}}:meta"), || {
        std::thread::spawn(move || (store.commit(&[put("before")]), store))
    });
    let (outcome, mut store) = waits.join().unwrap();
    assert_eq!(outcome.unwrap(), [Outcome::Duplicate], "the call waits while the slot moves");
    assert_eq!(store.commit(&[put("after")]).unwrap(), [Outcome::Done]);
}

/// Moves the slot of a key to another node, like `redis-cli --cluster reshard`. Runs `meanwhile`
/// when the keys have been moved and the slot has not.
fn move_slot<T>(nodes: &[Server; 3], key: &str, meanwhile: impl FnOnce() -> T) -> T {
    let slot = ask::<u32>(&nodes[0], &["CLUSTER", "KEYSLOT", key]).to_string();
    let ids = nodes.each_ref().map(|node| ask::<String>(node, &["CLUSTER", "MYID"]));
    let has = |node: &&Server| ask::<u32>(node, &["CLUSTER", "COUNTKEYSINSLOT", &slot]) > 0;
    let from = nodes.iter().position(|node| has(&node)).unwrap();
    let to = (from + 1) % 3;
    let () = ask(&nodes[to], &["CLUSTER", "SETSLOT", &slot, "IMPORTING", &ids[from]]);
    let () = ask(&nodes[from], &["CLUSTER", "SETSLOT", &slot, "MIGRATING", &ids[to]]);
    let keys: Vec<String> = ask(&nodes[from], &["CLUSTER", "GETKEYSINSLOT", &slot, "100"]);
    let port = nodes[to].address().port().to_string();
    let mut migrate = vec!["MIGRATE", "127.0.0.1", &port, "", "0", "5000", "KEYS"];
    migrate.extend(keys.iter().map(String::as_str));
    let () = ask(&nodes[from], &migrate);
    let done = meanwhile();
    std::thread::sleep(Duration::from_millis(200));
    for node in nodes {
        let () = ask(node, &["CLUSTER", "SETSLOT", &slot, "NODE", &ids[to]]);
    }
    done
}

/// The server's settings were durable when the store connected, and no longer are.
#[test]
fn a_server_that_forgets_from_now_on_is_noticed() {
    let Some(server) = Server::redis(&[]) else { return };
    let proxy = Proxy::to(server.address());
    let at = server.url_at(proxy.address());
    let mut store = RedisStore::builder(&at, "a").timeout(TIMEOUT).connect().unwrap();
    store.commit(&[put("a")]).unwrap();
    let () = ask(&server, &["CONFIG", "SET", "appendonly", "no"]);
    proxy.set(Network::Cut);
    proxy.set(Network::Sound);
    let mut errors = (0..2).filter_map(|n| store.commit(&[put(&format!("b{n}"))]).err());
    let error = errors.find(|error| error.to_string().contains("appendonly yes"));
    assert!(error.expect("it is refused").is_transient(), "the ends of runs are retried");
    let () = ask(&server, &["CONFIG", "SET", "appendonly", "yes"]);
    assert_eq!(store.commit(&[put("c")]).unwrap(), [Outcome::Done]);
}
