// Metrics for Prometheus, for a program that has no HTTP server.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};
use wheelhouse_service::Handle;

/// A connection with one deadline for everything. (A timeout of the socket alone starts again
/// with each byte.)
struct InTime<'a> {
    client: &'a TcpStream,
    deadline: Instant,
}

impl InTime<'_> {
    fn left(&self) -> io::Result<Option<Duration>> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(Some(left)) }
    }
}

impl Read for InTime<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.client.set_read_timeout(self.left()?)?;
        self.client.read(bytes)
    }
}

impl Write for InTime<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.client.set_write_timeout(self.left()?)?;
        self.client.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.client.flush()
    }
}

/// Reads a request and answers it with a text, both within `limit`.
pub(crate) fn answer(client: &TcpStream, text: &str, limit: Duration) -> io::Result<()> {
    let deadline = Instant::now() + limit;
    let request = BufReader::new(InTime { client, deadline }).take(8192);
    for line in request.lines() {
        if line?.is_empty() {
            break;
        }
    }
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n\
                Connection: close\r\n";
    let length = text.len();
    write!(InTime { client, deadline }, "{head}Content-Length: {length}\r\n\r\n{text}")
}

/// Answers one client at a time, so a client that stalls delays the next by `limit` at most. Call
/// it on a separate thread, with `TcpListener::bind("127.0.0.1:9100")?` and a limit of 5 seconds.
pub(crate) fn serve(listener: &TcpListener, timers: &Handle, limit: Duration) {
    for client in listener.incoming() {
        client
            .and_then(|client| answer(&client, &timers.snapshot().prometheus(), limit))
            .unwrap_or_else(|error| eprintln!("metrics: {error}"));
    }
}
