//! Starts a Redis.

use crate::certificate::Certificate;
use crate::keeper::{folder, program};
use crate::{Protocol, Server, free_port, wait_until};
use std::ffi::OsString;
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
        let mut options = vec!["--port".into(), port.to_string().into()];
        options.extend(more.iter().map(OsString::from));
        Some(start(redis, (folder(), port), options, Protocol::Redis))
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
        let port_text = port.to_string();
        let mut command: Vec<OsString> = vec![redis.into(), file.into(), "--sentinel".into()];
        command.extend(["--port", &port_text, "--bind", "127.0.0.1"].map(OsString::from));
        command.extend(["--dir".into(), folder.clone().into()]);
        Some(Self::run((folder, port), &command, Protocol::Redis))
    }

    /// Starts a Redis that accepts only TLS. Also returns the root certificate that a client must
    /// trust, as PEM. It counts as started when it accepts connections. `None` also if `openssl` is
    /// not installed.
    #[must_use]
    pub fn redis_with_tls() -> Option<(Self, Vec<u8>)> {
        let (redis, openssl) = redis_server().zip(Certificate::openssl())?;
        let (folder, port) = (folder(), free_port());
        let made = Certificate::make(openssl, &[], &folder);
        let port_text = port.to_string();
        let words = ["--port", "0", "--tls-port", &port_text, "--tls-auth-clients", "no"];
        let mut options: Vec<OsString> = words.map(OsString::from).into();
        options.extend(["--tls-cert-file".into(), made.certificate.clone().into()]);
        options.extend(["--tls-key-file".into(), made.key.clone().into()]);
        Some((start(redis, (folder, port), options, Protocol::EncryptedRedis), made.root()))
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
    redis: PathBuf,
    (folder, port): (PathBuf, u16),
    more: Vec<OsString>,
    protocol: Protocol,
) -> Server {
    let mut command: Vec<OsString> = vec![redis.into(), "--dir".into(), folder.clone().into()];
    // With `everysec`, writes wait in the server's memory for up to two seconds while the disk is
    // busy. A server that is killed then would lose writes that it has acknowledged.
    let options = ["--bind 127.0.0.1", "--save ", "--appendonly yes", "--appendfsync always"];
    command.extend(options.iter().flat_map(|option| option.split(' ')).map(OsString::from));
    command.extend(more);
    Server::run((folder, port), &command, protocol)
}

fn redis_server() -> Option<PathBuf> {
    program("redis-server", &[], "redis-server")
}
