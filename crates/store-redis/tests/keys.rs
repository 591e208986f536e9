//! Scripts name every key that they touch. Servers that spread keys over threads or machines rely
//! on these names, and so do rules that limit a user to some keys.

mod common;

use common::ask;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use wheelhouse_durable::store::{Change, ClaimLimit, Kinds, Outcome, Put, Store, Timestamp, When};
use wheelhouse_store_conformance::jobs::{LEASE, bury, cancel, commit, fails, job, key, one};
use wheelhouse_store_redis::RedisStore;
use wheelhouse_test_servers::Server;

fn put(name: &str, kind: &str) -> Change {
    Change::Put(Put { kind: kind.into(), ..job(name, 0) })
}

/// Returns `true` if a script ran the command in this line of `MONITOR`, and the words of the
/// command. No word may contain a quote.
fn words(line: &str) -> (bool, Vec<String>) {
    let words = line.split('"').skip(1).step_by(2).map(str::to_owned).collect();
    (line.contains(" lua] "), words)
}

/// Makes all calls of a store, with kinds that another store has created.
fn exercise(server: &Server) {
    let connect = || RedisStore::connect(&server.url(), "orders").unwrap();
    let (mut store, mut other) = (connect(), connect());
    commit(&mut store, &[put("a", "one"), put("b", "two")]);
    assert_eq!(one(&mut other, cancel("b")), Outcome::Cancelled);
    let kinds = Kinds::new(["one", "three"]);
    let (leased, _) = other.claim(&kinds, ClaimLimit::jobs(9), LEASE).unwrap();
    one(&mut store, bury(&leased[0], "r"));
    store.kinds().unwrap();
    let when = When::At(Timestamp::default());
    let revive = Change::Revive { generation: leased[0].job.generation, when };
    assert_eq!(one(&mut connect(), revive), Outcome::Done);
    assert!(other.find(&key("a")).unwrap().is_some());
    let kinds = connect().kinds().unwrap();
    assert!(matches!(&kinds[..], [(kind, _)] if **kind == *"one"), "{kinds:?}");
}

#[test]
fn scripts_name_every_key_that_they_touch() {
    let Some(server) = Server::redis(&[]) else { return };
    let mut monitor = TcpStream::connect(server.address()).unwrap();
    monitor.write_all(b"MONITOR\r\n").unwrap();
    let mut lines = BufReader::new(monitor).lines().map(Result::unwrap);
    assert_eq!(lines.next().unwrap(), "+OK");
    exercise(&server);
    let () = ask(&server, &["ECHO", "the end"]);

    let (mut named, mut touched) = (BTreeSet::new(), 0);
    for line in lines {
        let (by_script, words) = words(&line);
        match (by_script, words[0].as_str()) {
            (false, "ECHO") => break,
            (false, "EVALSHA" | "EVAL") => {
                let keys: usize = words[2].parse().unwrap();
                named = words[3..3 + keys].iter().cloned().collect();
                let in_one_slot = named.iter().all(|key| key.starts_with("wh:{orders}:"));
                assert!(in_one_slot, "a cluster keeps them in one slot: {named:?}");
            }
            (true, "TIME" | "PUBLISH") => {}
            (true, _) => {
                assert!(named.contains(&words[1]), "{line} touches a key that is not named");
                touched += 1;
            }
            _ => {}
        }
    }
    assert!(touched > 30, "{touched}");
}

/// A user limited to the keys and the channel of one queue can run a program on it.
#[test]
fn a_user_can_be_limited_to_a_queue() {
    let Some(server) = Server::redis(&[]) else { return };
    let limited = "ACL SETUSER shop on >secret ~wh:{orders}:* &wh:{orders}:order: +@all";
    let () = ask(&server, &limited.split(' ').collect::<Vec<_>>());
    let url = format!("redis://shop:secret@{}/", server.address());
    let mut store = RedisStore::connect(&url, "orders").unwrap();
    assert_eq!(store.commit(&[put("a", "one")]).unwrap(), [Outcome::Done]);
    fails(RedisStore::connect(&url, "others"), "check the URL, its user");
}
