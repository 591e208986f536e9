//! Starting a Redis.

use crate::certificate::Certificate;
use crate::keeper::{Keeper, folder, program};
use crate::{Server, free_port, skipped};
use std::ffi::OsString;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::time::Duration;

pub(crate) fn server(more: &[&str]) -> Option<Server> {
    let port = free_port();
    let mut options = vec!["--port".into(), port.to_string().into()];
    options.extend(more.iter().copied().map(OsString::from));
    start(folder(), port, options, answers)
}

pub(crate) fn server_with_tls() -> Option<(Server, Vec<u8>)> {
    let (folder, port) = (folder(), free_port());
    let Some(made) = Certificate::make(&[], &folder) else {
        std::fs::remove_dir(&folder).expect("an empty folder");
        return None;
    };
    let mut options: Vec<OsString> = Vec::new();
    let port_text = port.to_string();
    let words = ["--port", "0", "--tls-port", &port_text, "--tls-auth-clients", "no"];
    options.extend(words.map(OsString::from));
    options.extend(["--tls-cert-file".into(), made.certificate.clone().into()]);
    options.extend(["--tls-key-file".into(), made.key.clone().into()]);
    let root = made.root();
    start(folder, port, options, |address| TcpStream::connect(address).is_ok())
        .map(|server| (server, root))
}

fn start(
    folder: PathBuf,
    port: u16,
    more: Vec<OsString>,
    answers: fn(SocketAddr) -> bool,
) -> Option<Server> {
    let Some(redis) = program("redis-server", &[]) else {
        skipped("redis-server", "apt-get install redis-server");
        std::fs::remove_dir_all(&folder).expect("our folder");
        return None;
    };
    let mut command: Vec<OsString> = vec![redis.into(), "--dir".into(), folder.clone().into()];
    // With `everysec` a write waits in the server's memory for up to two seconds while the disk is
    // busy: a server that is killed then has lost what it acknowledged.
    let options = [
        ["--bind", "127.0.0.1"],
        ["--save", ""],
        ["--appendonly", "yes"],
        ["--appendfsync", "always"],
    ];
    command.extend(options.iter().flatten().map(OsString::from));
    command.extend(more);
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    let server = Server { keeper: Keeper::new(folder, &command), address, answers };
    server.start();
    Some(server)
}

/// Whether it has read its files: until then the answer to `PING` is an error.
fn answers(address: SocketAddr) -> bool {
    let answer = || {
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(Duration::from_secs(1)))?;
        stream.write_all(b"PING\r\n")?;
        let mut answer = [0; 5];
        stream.read_exact(&mut answer)?;
        Ok::<_, std::io::Error>(&answer == b"+PONG")
    };
    answer().unwrap_or(false)
}
