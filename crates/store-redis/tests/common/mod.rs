//! Connections of users.
#![allow(dead_code, reason = "each test program uses some of it")]

use redis::{FromRedisValue, RedisResult};
use wheelhouse_test_servers::Server;

pub(crate) fn connection(url: &str) -> redis::Connection {
    redis::Client::open(url).unwrap().get_connection().unwrap()
}

pub(crate) fn ask<T: FromRedisValue>(server: &Server, words: &[&str]) -> T {
    try_ask(server, words).unwrap()
}

/// Fails if the connection breaks: a server that changes its role cuts connections.
pub(crate) fn try_ask<T: FromRedisValue>(server: &Server, words: &[&str]) -> RedisResult<T> {
    let mut connection = redis::Client::open(server.url())?.get_connection()?;
    redis::cmd(words[0]).arg(&words[1..]).query(&mut connection)
}
