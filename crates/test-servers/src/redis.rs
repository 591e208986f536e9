//! Starting a Redis.

use crate::keeper::{Keeper, folder, program};
use crate::{Server, free_port, skipped};
use std::ffi::OsString;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

pub(crate) fn server(more: &[&str]) -> Option<Server> {
    let Some(redis) = program("redis-server", &[]) else {
        skipped("redis-server", "apt-get install redis-server");
        return None;
    };
    let folder = folder();
    let port = free_port();
    let mut command: Vec<OsString> = vec![redis.into(), "--dir".into(), folder.clone().into()];
    let port_text = port.to_string();
    // With `everysec` a write waits in the server's memory for up to two seconds while the disk is
    // busy: a server that is killed then has lost what it acknowledged.
    let options = [
        ["--port", &port_text],
        ["--bind", "127.0.0.1"],
        ["--save", ""],
        ["--appendonly", "yes"],
        ["--appendfsync", "always"],
    ];
    let options = options.iter().flatten();
    command.extend(options.chain(more).map(OsString::from));
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
