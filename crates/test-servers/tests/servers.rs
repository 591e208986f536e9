//! The servers start, crash, start again on their files, and leave nothing behind.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;
use wheelhouse_test_servers::{Network, Proxy, Server};

/// Sends a line to a Redis. Returns its answer or the error.
fn ask(address: SocketAddr, line: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_millis(300)))?;
    stream.write_all(format!("{line}\r\n").as_bytes())?;
    let mut answer = [0; 64];
    let bytes = stream.read(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer[..bytes]).into_owned())
}

#[test]
fn redis_keeps_acknowledged_writes_over_a_crash() {
    let Some(server) = Server::redis(&[]) else { return };
    // With another setting this test would fail now and then on a busy disk.
    let setting = ask(server.address(), "CONFIG GET appendfsync").unwrap();
    assert!(setting.contains("always"), "{setting}");
    assert_eq!(ask(server.address(), "SET a 1").unwrap(), "+OK\r\n");
    server.kill();
    assert!(ask(server.address(), "GET a").is_err());
    server.start();
    assert_eq!(ask(server.address(), "GET a").unwrap(), "$1\r\n1\r\n");
    server.stop();
    assert!(ask(server.address(), "GET a").is_err(), "a stopped server answers");
    server.resume();
    assert_eq!(ask(server.address(), "GET a").unwrap(), "$1\r\n1\r\n");
}

#[test]
fn the_end_of_a_server_frees_its_port() {
    let Some(server) = Server::redis(&[]) else { return };
    let address = server.address();
    drop(server);
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn postgres_starts_again_after_a_crash() {
    let Some(server) = Server::postgres() else { return };
    server.kill();
    assert!(TcpStream::connect(server.address()).is_err());
    server.start();
    assert!(TcpStream::connect(server.address()).is_ok());
}

#[test]
fn a_proxy_simulates_each_network() {
    let Some(server) = Server::redis(&[]) else { return };
    let proxy = Proxy::to(server.address());
    assert_eq!(ask(proxy.address(), "SET a 1").unwrap(), "+OK\r\n");
    proxy.set(Network::Silent);
    assert!(ask(proxy.address(), "SET a 2").is_err());
    assert_eq!(ask(server.address(), "GET a").unwrap(), "$1\r\n1\r\n");
    proxy.set(Network::LosesAnswers);
    assert_eq!(ask(proxy.address(), "SET a 3").unwrap(), "");
    assert_eq!(ask(server.address(), "GET a").unwrap(), "$1\r\n3\r\n");
    proxy.set(Network::Cut);
    assert!(ask(proxy.address(), "PING").map_or(true, |answer| answer.is_empty()));
    proxy.set(Network::Slow(Duration::from_millis(30)));
    let begun = std::time::Instant::now();
    assert_eq!(ask(proxy.address(), "PING").unwrap(), "+PONG\r\n");
    assert!(begun.elapsed() >= Duration::from_millis(60), "{:?}", begun.elapsed());
}
