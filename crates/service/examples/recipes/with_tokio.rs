// Async jobs on tokio: a limit for each attempt, retries, and a stop that ends. tokio with the
// features `io-util`, `net` and `rt`.

use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use wheelhouse_service::{Backoff, Handle, JobHandle, Reason, Service, Stop, Stopped};

/// Sends a report and waits for the receipt.
async fn upload(server: SocketAddr, report: &[u8]) -> io::Result<()> {
    let mut server = TcpStream::connect(server).await?;
    server.write_all(report).await?;
    server.shutdown().await?;
    let mut receipt = [0; 3];
    server.read_exact(&mut receipt).await?;
    if &receipt == b"ok\n" { Ok(()) } else { Err(io::Error::other("the report was refused")) }
}

/// Uploads a report now and every hour. An attempt that takes longer than `limit` is dropped,
/// whether it connects, writes or reads. Then it has failed, and is retried.
pub(crate) fn upload_every_hour(
    timers: &Handle,
    server: SocketAddr,
    report: Arc<[u8]>,
    limit: Duration,
) -> Result<JobHandle, Reason> {
    let backoff = Backoff::new(Duration::from_secs(1)).jitter(0.5).attempts(5);
    let hourly = timers.every(Duration::from_secs(3600)).first_after(Duration::ZERO);
    let job = hourly.named("upload").limit(limit).retry(backoff).try_run_async(move |_| {
        let report = Arc::clone(&report);
        async move { upload(server, &report).await }
    })?;
    Ok(job)
}

/// Serves until `end` is ready. A run may take up to its own limit, so the stop has a limit too:
/// after `grace` it returns, and says how many runs are still in progress.
pub(crate) async fn serve(
    server: SocketAddr,
    report: Arc<[u8]>,
    end: impl Future,
    grace: Duration,
) -> Result<Stopped, Box<dyn Error>> {
    let tokio = tokio::runtime::Handle::current();
    let service = Service::builder().spawn_on(move |run| drop(tokio.spawn(run))).start()?;
    upload_every_hour(&service.handle(), server, report, Duration::from_secs(20))?;
    end.await;
    Ok(service.stop_async(Stop::WaitFor(grace)).await)
}
