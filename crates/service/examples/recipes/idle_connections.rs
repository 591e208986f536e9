// Hangs up on peers that are idle. tokio with the features `io-util`, `macros` and `rt`.

use std::io;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use wheelhouse_service::future::Sleep;
use wheelhouse_service::{Handle, JobHandle, Reason};

/// Awaits one step of a conversation, and fails if the deadline comes first.
async fn in_time<T>(
    deadline: &mut Sleep,
    step: impl Future<Output = io::Result<T>>,
) -> io::Result<T> {
    tokio::select! {
        biased; // a step that is done wins, even if the machine was suspended meanwhile
        done = step => done,
        _ = deadline => Err(io::ErrorKind::TimedOut.into()), // or the service was stopped
    }
}

/// Sends everything back. Ends when the peer closes the connection, and fails if the peer sends
/// nothing for `idle`, or does not take what is sent back within `idle`.
pub(crate) async fn echo<C>(mut peer: C, timers: Handle, idle: Duration) -> io::Result<()>
where
    C: AsyncRead + AsyncWrite + Unpin,
{
    let mut deadline = timers.sleep(idle);
    let mut buffer = [0; 4096];
    loop {
        let length = in_time(&mut deadline, peer.read(&mut buffer)).await?;
        if length == 0 {
            return Ok(());
        }
        deadline.reset(idle);
        let answer = async {
            peer.write_all(&buffer[..length]).await?;
            peer.flush().await
        };
        in_time(&mut deadline, answer).await?;
        deadline.reset(idle);
    }
}

/// Aborts the task of a peer after `idle`, whatever the task waits for. Any part of the program
/// postpones that by `timers.refresh(name, idle)`.
pub(crate) fn abort_when_idle(
    timers: &Handle,
    name: &str,
    idle: Duration,
    task: tokio::task::AbortHandle,
) -> Result<JobHandle, Reason> {
    Ok(timers.after(idle).replacing(name).run(move |_| task.abort())?)
}
