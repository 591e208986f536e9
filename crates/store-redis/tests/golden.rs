//! Data of each format, as the first version of that format wrote them. Every later version must
//! read them.

mod common;

use common::connection;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;
use wheelhouse_durable::store::{Change, Put, Store, Timestamp};
use wheelhouse_store_conformance::jobs::{KIND, bury, claim, commit, fails, job, key};
use wheelhouse_store_conformance::{read_golden, write_golden};
use wheelhouse_store_redis::RedisStore;
use wheelhouse_test_servers::Server;

/// When the data were written, in milliseconds since 1970.
const WRITTEN: u64 = 1_790_000_000_000;

/// The format that this version writes.
const FORMAT: u32 = 2;

fn file(format: u32) -> PathBuf {
    let name = format!("format-{format}.hex");
    [env!("CARGO_MANIFEST_DIR"), "tests", "golden", &name].iter().collect()
}

fn store(url: &str, queue: &str, millis: u64) -> RedisStore {
    let now = move || Timestamp::from_millis(millis);
    RedisStore::builder(url, queue).clock(now).connect().unwrap()
}

/// A payload that is too long for the row of its job. In a second queue it is that of a job and of
/// a dead letter.
fn long_payload() -> Vec<u8> {
    vec![b'l'; 300]
}

#[test]
fn data_of_all_formats_can_be_read() {
    for format in 1..=FORMAT {
        let Some(server) = Server::redis(&[]) else { return };
        let url = server.url();
        let mut server = connection(&url);
        for line in fs::read_to_string(file(format)).unwrap().lines() {
            let (name, words) = line.split_once(' ').unwrap();
            let words: Vec<_> = words.split(' ').map(unhex).collect();
            redis::cmd(name).arg(words).exec(&mut server).unwrap();
        }
        // A connection that only reads cannot convert it.
        let reader = RedisStore::builder(&url, "golden").connect_to_read();
        if format == FORMAT {
            assert!(reader.is_ok());
        } else {
            fails(reader, "start a program");
        }
        let mut golden = store(&url, "golden", WRITTEN + 60_000);
        assert_eq!(golden.format(), FORMAT, "it is converted");
        read_golden(&mut golden);
        let mut long = store(&url, "golden-long", WRITTEN);
        let row = long.find(&key("long")).unwrap().expect("it was written");
        let dead = long.dead(None, 9).unwrap().remove(0);
        for job in [row, dead.job] {
            assert_eq!((&*job.kind, job.payload), (KIND, long_payload()));
        }
    }
}

/// Run by hand, once for each format: `cargo test --test golden -- --ignored`. Each line of the
/// file is a command, with its arguments in hexadecimal.
#[test]
#[ignore = "writes tests/golden: run it by hand"]
fn write_the_golden_file() {
    let server = Server::redis(&[]).unwrap();
    let url = server.url();
    write_golden(&mut store(&url, "golden", WRITTEN));
    let long = |name| Change::Put(Put { payload: long_payload(), ..job(name, 0) });
    let mut other = store(&url, "golden-long", WRITTEN);
    commit(&mut other, &[long("dead")]);
    let dead = claim(&mut other).remove(0);
    commit(&mut other, &[bury(&dead, "it failed"), long("long")]);

    let mut server = connection(&url);
    let mut keys: Vec<Vec<u8>> = redis::cmd("KEYS").arg("*").query(&mut server).unwrap();
    keys.sort();
    let mut text = String::new();
    for key in keys {
        let is: String = redis::cmd("TYPE").arg(&key).query(&mut server).unwrap();
        let (read, write, more): (&str, &str, &[&str]) = match &*is {
            "hash" => ("HGETALL", "HSET", &[]),
            "set" => ("SMEMBERS", "SADD", &[]),
            "zset" => ("ZRANGE", "ZADD", &["0", "-1", "WITHSCORES"]),
            other => panic!("a {other}"),
        };
        let mut command = redis::cmd(read);
        let mut words: Vec<Vec<u8>> = command.arg(&key).arg(more).query(&mut server).unwrap();
        if read == "ZRANGE" {
            // Read as member and score, written as score and member.
            words.chunks_exact_mut(2).for_each(|pair| pair.swap(0, 1));
        }
        words.insert(0, key);
        let words: Vec<_> = words.iter().map(|word| hex(word)).collect();
        writeln!(text, "{write} {}", words.join(" ")).unwrap();
    }
    fs::write(file(FORMAT), text).unwrap();
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    let byte = |at| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
    (0..text.len()).step_by(2).map(byte).collect()
}
