//! Scripts name every key that they touch. Servers that spread keys over threads or machines rely
//! on these names, and so do rules that limit a user to some keys.

mod common;

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;
use wheelhouse_durable::store::{
    Change, ClaimLimit, Key, Kinds, Leased, Outcome, Put, Store, Timestamp, When,
};
use wheelhouse_store_redis::RedisStore;
use wheelhouse_test_servers::Server;

fn put(name: &str, kind: &str) -> Change {
    Change::Put(Put {
        key: Key::new(name).unwrap(),
        kind: kind.into(),
        payload: Vec::new(),
        policy: String::new(),
        when: When::At(Timestamp::default()),
        replace: false,
    })
}

/// Returns `true` if a script ran the command in this line of `MONITOR`, and the words of the
/// command. No word may contain a quote.
fn words(line: &str) -> (bool, Vec<String>) {
    let words = line.split('"').skip(1).step_by(2).map(str::to_owned).collect();
    (line.contains(" lua] "), words)
}

/// Makes all calls of a store, with kinds that another store has created.
fn exercise(server: &Server) {
    let connect = || RedisStore::connect(&common::url(server), "orders").unwrap();
    let (mut store, mut other) = (connect(), connect());
    store.commit(&[put("a", "one"), put("b", "two")]).unwrap();
    let cancel = Change::Cancel { key: Key::new("b").unwrap() };
    assert_eq!(other.commit(&[cancel]).unwrap(), [Outcome::Cancelled]);
    let mut leased = Vec::new();
    other
        .claim(
            &Kinds::new(["one", "three"]),
            ClaimLimit::jobs(9),
            Duration::from_secs(9),
            &mut leased,
        )
        .unwrap();
    let Leased { job, token, .. } = leased.remove(0);
    let bury = Change::Bury { key: job.key, token, reason: "r".to_owned() };
    store.commit(&[bury]).unwrap();
    store.kinds(&mut |_, _| ()).unwrap();
    let when = When::At(Timestamp::default());
    let revive = Change::Revive { generation: job.generation, when };
    assert_eq!(connect().commit(&[revive]).unwrap(), [Outcome::Done]);
    assert!(other.find(&Key::new("a").unwrap()).unwrap().is_some());
    let mut kinds = Vec::new();
    connect().kinds(&mut |kind, _| kinds.push(kind.to_string())).unwrap();
    assert_eq!(kinds, ["one"]);
}

#[test]
fn scripts_name_every_key_that_they_touch() {
    let Some(server) = Server::redis(&[]) else { return };
    let mut monitor = TcpStream::connect(server.address()).unwrap();
    monitor.write_all(b"MONITOR\r\n").unwrap();
    let mut lines = BufReader::new(monitor).lines().map(Result::unwrap);
    assert_eq!(lines.next().unwrap(), "+OK");
    exercise(&server);
    let mut end = redis::Client::open(common::url(&server)).unwrap().get_connection().unwrap();
    redis::cmd("ECHO").arg("the end").exec(&mut end).unwrap();

    let (mut named, mut touched) = (BTreeSet::new(), 0);
    for line in lines {
        let (by_script, words) = words(&line);
        match (by_script, words[0].as_str()) {
            (false, "ECHO") => break,
            (false, "EVALSHA" | "EVAL") => {
                let keys: usize = words[2].parse().unwrap();
                named = words[3..3 + keys].iter().cloned().collect();
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
    let mut admin = redis::Client::open(common::url(&server)).unwrap().get_connection().unwrap();
    redis::cmd("ACL")
        .arg(&[
            "SETUSER",
            "shop",
            "on",
            ">secret",
            "~wh:{orders}:*",
            "&wh:{orders}:order:",
            "+@all",
        ])
        .exec(&mut admin)
        .unwrap();
    let url = format!("redis://shop:secret@{}/", server.address());
    let mut store = RedisStore::connect(&url, "orders").unwrap();
    assert_eq!(store.commit(&[put("a", "one")]).unwrap(), [Outcome::Done]);
    let error = RedisStore::connect(&url, "others").unwrap_err();
    assert!(error.to_string().contains("check the URL, its user"), "{error}");
}
