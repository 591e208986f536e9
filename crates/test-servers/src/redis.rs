//! Starts a Redis.

use crate::keeper::{folder, program, text};
use crate::{Protocol, Server, certificate, free_port, wait_until};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;

const SLOTS: u32 = 16_384;

impl Server {
    /// Starts a Redis that writes everything that it acknowledges to its append-only file first.
    /// `more` are further options.
    #[must_use]
    pub fn redis(more: &[&str]) -> Option<Self> {
        let (redis, port) = (redis_server()?, free_port());
        let its_port = port.to_string();
        let options = [&["--port", &its_port], more].concat();
        Some(start(redis, (folder(), port), &options, Protocol::Redis))
    }

    /// Starts a cluster of three Redis servers, each with a third of the slots.
    #[must_use]
    pub fn redis_cluster() -> Option<[Self; 3]> {
        let mut nodes = Vec::new();
        for _ in 0..3 {
            let bus = free_port().to_string();
            let options = ["--cluster-enabled", "yes", "--cluster-port", &bus];
            nodes.push((Self::redis(&options)?, bus));
        }
        let met = nodes[0].0.address;
        for (n, (node, bus)) in (0..).zip(&nodes) {
            let (from, until) = (n * SLOTS / 3, (n + 1) * SLOTS / 3);
            send_command(node.address, &format!("CLUSTER ADDSLOTSRANGE {from} {}", until - 1));
            send_command(met, &format!("CLUSTER MEET 127.0.0.1 {} {bus}", node.address.port()));
        }
        for (node, _) in &nodes {
            wait_until("the nodes become a cluster", || {
                let info = send_command(node.address, "CLUSTER INFO");
                info.contains("cluster_state:ok") && info.contains("cluster_size:3")
            });
        }
        let nodes: Vec<_> = nodes.into_iter().map(|(node, _)| node).collect();
        nodes.try_into().ok()
    }

    /// Starts a Sentinel that monitors the Redis at this address under a name.
    #[must_use]
    pub fn redis_sentinel(name: &str, primary: SocketAddr) -> Option<Self> {
        let (redis, folder, port) = (redis_server()?, folder(), free_port());
        let file = folder.join("sentinel.conf");
        let watch = format!("sentinel monitor {name} 127.0.0.1 {} 1\n", primary.port());
        std::fs::write(&file, watch).expect("our folder");
        let mut command = vec![redis, text(&file), "--dir".into(), text(&folder)];
        let options = ["--sentinel", "--port", &port.to_string(), "--bind", "127.0.0.1"];
        command.extend(options.map(String::from));
        Some(Self::run((folder, port), &command, Protocol::Redis))
    }

    /// Starts a Redis that accepts only TLS. Also returns the root certificate that a client must
    /// trust, as PEM. It counts as started when it accepts connections. `None` also if `openssl` is
    /// not installed.
    #[must_use]
    pub fn redis_with_tls() -> Option<(Self, Vec<u8>)> {
        let (redis, openssl) = redis_server().zip(program("openssl", &[], "openssl"))?;
        let (folder, port) = (folder(), free_port());
        let ([certificate, key], root) = certificate::make(openssl, &[], &folder);
        let its_port = port.to_string();
        let files = ["--tls-cert-file", &certificate, "--tls-key-file", &key];
        let options = ["--port", "0", "--tls-port", &its_port, "--tls-auth-clients", "no"];
        let options = [&options[..], &files].concat();
        Some((start(redis, (folder, port), &options, Protocol::EncryptedRedis), root))
    }
}

/// Sends a command to a Redis and returns its answer unparsed.
fn send_command(address: SocketAddr, command: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("a server that answers");
    write!(stream, "{command}\r\nQUIT\r\n").expect("a server that answers");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("a server that answers");
    assert!(!answer.starts_with('-'), "{command}: {answer}");
    answer
}

fn start(
    redis: String,
    (folder, port): (PathBuf, u16),
    more: &[&str],
    protocol: Protocol,
) -> Server {
    // With `everysec`, writes wait in the server's memory for up to two seconds while the disk is
    // busy. A server that is killed then would lose writes that it has acknowledged.
    let durable = ["--save", "", "--appendonly", "yes", "--appendfsync", "always"];
    // By default a primary waits five seconds for further replicas before it copies its data.
    let local = ["--bind", "127.0.0.1", "--repl-diskless-sync-delay", "0"];
    let mut command = vec![redis, "--dir".into(), text(&folder)];
    let options = local.iter().chain(&durable).chain(more);
    command.extend(options.copied().map(String::from));
    Server::run((folder, port), &command, protocol)
}

fn redis_server() -> Option<String> {
    program("redis-server", &[], "redis-server")
}
