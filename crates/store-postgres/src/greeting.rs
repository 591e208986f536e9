//! Distinguishes a direct connection to the server from one to a pooler, which lends sessions.

use crate::error::{Result, store_error};
use std::future::{Ready, ready};
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::Client;
use tokio_postgres::tls::{ChannelBinding, TlsConnect, TlsStream};

/// Returns `true` if the server process that answers is the one in the greeting. A pooler greets
/// with an invented process number, because it lends different processes.
pub(crate) async fn is_direct(client: &Client) -> Result<bool> {
    let row = client.query_typed_one("SELECT pg_catalog.pg_backend_pid()", &[]).await;
    let answers: i32 = row.and_then(|row| row.try_get(0)).map_err(store_error)?;
    Ok(greeted(client).await? == Some(answers))
}

/// The process number in the greeting. The client keeps it only for cancel requests. So this writes
/// a cancel request, which is not sent, and reads the number from it.
async fn greeted(client: &Client) -> Result<Option<i32>> {
    let record = Record::default();
    let token = client.cancel_token();
    token.cancel_query_raw(record.clone(), Plain).await.map_err(store_error)?;
    let written = record.0.lock().unwrap_or_else(PoisonError::into_inner);
    // The request ends with the process number and a secret, of four bytes each.
    let number = written.last_chunk::<8>().and_then(|end| end.first_chunk::<4>());
    Ok(number.map(|number| i32::from_be_bytes(*number)))
}

/// A connection that records all written bytes. If it is asked to encrypt, it agrees.
#[derive(Clone, Default)]
struct Record(Arc<Mutex<Vec<u8>>>);

impl AsyncRead for Record {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        buffer.put_slice(b"S");
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Record {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

impl TlsStream for Record {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

/// A TLS connector that does not encrypt.
struct Plain;

impl TlsConnect<Record> for Plain {
    type Stream = Record;
    type Error = io::Error;
    type Future = Ready<io::Result<Record>>;

    fn connect(self, stream: Record) -> Self::Future {
        ready(Ok(stream))
    }
}
