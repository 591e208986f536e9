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
use wheelhouse_test_servers::{Server, wait_until};

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

/// The lines of `MONITOR` for the commands of a call.
fn monitored(server: &Server, call: impl FnOnce()) -> Vec<String> {
    let mut monitor = TcpStream::connect(server.address()).unwrap();
    monitor.write_all(b"MONITOR\r\n").unwrap();
    let mut lines = BufReader::new(monitor).lines().map(Result::unwrap);
    assert_eq!(lines.next().unwrap(), "+OK");
    call();
    let () = ask(server, &["ECHO", "the end"]);
    lines.take_while(|line| !line.contains("\"ECHO\"")).collect()
}

#[test]
fn scripts_name_every_key_that_they_touch() {
    let Some(server) = Server::redis(&[]) else { return };
    let (mut named, mut touched) = (BTreeSet::new(), 0);
    for line in monitored(&server, || exercise(&server)) {
        let (by_script, words) = words(&line);
        match (by_script, words[0].as_str()) {
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

/// A claim of many kinds, each with more jobs than it can lease, reads about as many rows as it
/// leases. They are the first of all, whether one kind has them or each has some.
#[test]
fn a_claim_of_many_kinds_reads_few_rows() {
    const KINDS: u64 = 64;
    let Some(server) = Server::redis(&[]) else { return };
    let mut store = RedisStore::connect(&server.url(), "orders").unwrap();
    let put = |n: u64| {
        // The first kind has the first 400 jobs, and then one of each 64, as the others.
        let (kind, at) = if n < 400 { (0, n) } else { (n % KINDS, n / 3 + 400) };
        let when = When::At(Timestamp::from_millis(at));
        Change::Put(Put { kind: format!("{kind}").into(), when, ..job(&n.to_string(), 0) })
    };
    for some in (0..20_000).collect::<Vec<_>>().chunks(512) {
        commit(&mut store, &some.iter().map(|n| put(*n)).collect::<Vec<_>>());
    }
    let kinds = Kinds::new((0..KINDS).map(|kind| kind.to_string()));
    for claim in 0..3 {
        let mut leased = Vec::new();
        let lines = monitored(&server, || {
            leased = store.claim(&kinds, ClaimLimit::jobs(512), LEASE).unwrap().0;
        });
        let names: Vec<_> = leased.iter().map(|leased| leased.job.key.to_string()).collect();
        let first: Vec<_> = (claim * 512..(claim + 1) * 512).map(|n| n.to_string()).collect();
        assert_eq!(names, first);
        let limit = |line: &String| {
            let (_, words) = words(line);
            let at = words.iter().position(|word| word == "LIMIT")?;
            words[at + 2].parse::<usize>().ok()
        };
        let most: usize = lines.iter().filter_map(limit).sum();
        assert!((512..5 * 512).contains(&most), "at most {most} rows are read");
    }
}

/// A program names all kinds of its queue in each commit. There may be more than Lua can unpack.
#[test]
fn a_queue_may_have_ten_thousand_kinds() {
    let Some(server) = Server::redis(&[]) else { return };
    let mut store = RedisStore::connect(&server.url(), "orders").unwrap();
    for some in (0..10_000).collect::<Vec<_>>().chunks(512) {
        let puts: Vec<_> = some.iter().map(|n| put(&n.to_string(), &format!("kind {n}"))).collect();
        commit(&mut store, &puts);
    }
    let kinds = Kinds::new((0..10_000).map(|n| format!("kind {n}")));
    let (leased, _) = store.claim(&kinds, ClaimLimit::jobs(700), LEASE).unwrap();
    assert_eq!((leased.len(), store.kinds().unwrap().len()), (700, 10_000));
    assert_eq!(one(&mut store, cancel("9999")), Outcome::Cancelled);
}

/// A user limited to the keys and the channel of one queue can run a program on it. If the server
/// does not let the user in for a while, the program repeats its calls until it does.
#[test]
fn a_user_can_be_limited_to_a_queue() {
    let Some(server) = Server::redis(&[]) else { return };
    let limited = "ACL SETUSER shop on >secret ~wh:{orders}:* &wh:{orders}:order: +@all";
    let () = ask(&server, &limited.split(' ').collect::<Vec<_>>());
    let url = format!("redis://shop:secret@{}/", server.address());
    let mut store = RedisStore::connect(&url, "orders").unwrap();
    assert_eq!(store.commit(&[put("a", "one")]).unwrap(), [Outcome::Done]);
    fails(RedisStore::connect(&url, "others"), "check the URL, its user");
    let () = ask(&server, &["ACL", "SETUSER", "shop", "off"]);
    let _: usize = ask(&server, &["CLIENT", "KILL", "USER", "shop"]);
    wait_until("it is refused", || {
        store.commit(&[cancel("a")]).is_err_and(|error| {
            assert!(error.is_transient(), "{error:?}");
            error.to_string().contains("check the URL")
        })
    });
    assert!(!fails(RedisStore::connect(&url, "orders"), "check the URL").is_transient());
    let () = ask(&server, &["ACL", "SETUSER", "shop", "on"]);
    assert_eq!(one(&mut store, cancel("a")), Outcome::Cancelled);
}
