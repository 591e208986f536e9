//! The recipes on the front page of the documentation, which includes the other files of this
//! folder as they are. `tests/service/recipes.rs` runs them against peers that stall.
//!
//! ```sh
//! cargo run -p wheelhouse-service --example recipes
//! ```

mod idle_connections;
mod metrics_over_http;
mod with_tokio;

use std::error::Error;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;
use wheelhouse_service::Service;

const IDLE: Duration = Duration::from_millis(100);

/// Serves a peer that sends as fast as it can and does not read.
async fn serve_a_peer(service: &Service) -> String {
    let (mut peer, server) = tokio::io::duplex(64);
    let sending = tokio::spawn(async move { while peer.write_all(b"ping").await.is_ok() {} });
    let begun = Instant::now();
    let end = idle_connections::echo(server, service.handle(), IDLE).await;
    sending.abort();
    format!("{end:?} after {:?}", begun.elapsed())
}

/// Aborts a task that waits for ever.
async fn abort_a_task(service: &Service) -> Result<bool, Box<dyn Error>> {
    let task = tokio::spawn(std::future::pending::<()>());
    idle_connections::abort_when_idle(&service.handle(), "peer 1", IDLE, task.abort_handle())?;
    Ok(task.await.is_err_and(|error| error.is_cancelled()))
}

/// Receives one report, and sends the receipt.
fn receive(listener: &TcpListener) -> io::Result<usize> {
    let (mut report, (mut client, _)) = (Vec::new(), listener.accept()?);
    client.read_to_end(&mut report)?;
    client.write_all(b"ok\n")?;
    Ok(report.len())
}

/// Uploads a report, and stops when the server has it.
async fn upload() -> Result<usize, Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let receiving = tokio::task::spawn_blocking(move || receive(&listener));
    let mut received = None;
    let end = async { received = Some(receiving.await) };
    drop(with_tokio::serve(address, Arc::from(&b"a report"[..]), end, IDLE).await?);
    Ok(received.ok_or("the end was awaited")???)
}

/// Asks for the metrics, and returns the first line of the answer.
fn ask_for_metrics(service: &Service) -> Result<String, Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let (address, timers) = (listener.local_addr()?, service.handle());
    thread::spawn(move || metrics_over_http::serve(&listener, &timers, IDLE));
    let mut client = TcpStream::connect(address)?;
    client.write_all(b"GET /metrics HTTP/1.1\r\n\r\n")?;
    let mut answer = String::new();
    client.read_to_string(&mut answer)?;
    Ok(answer.lines().next().unwrap_or_default().to_owned())
}

fn main() -> Result<(), Box<dyn Error>> {
    let service = Service::start()?;
    let tokio =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_io().build()?;
    println!("a peer that does not read: {}", tokio.block_on(serve_a_peer(&service)));
    println!("an idle task was aborted: {}", tokio.block_on(abort_a_task(&service))?);
    println!("bytes uploaded: {}", tokio.block_on(upload())?);
    println!("metrics: {}", ask_for_metrics(&service)?);
    Ok(())
}
