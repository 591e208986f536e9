//! The thread that does the socket I/O of all stores, and how any other thread waits for it.

use crate::error::store_error;
use crate::settings::Builder;
use crate::tls::connector;
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};
use tokio::runtime::{self, Runtime};
use tokio::task::JoinHandle;
use tokio_postgres::Client;
use wheelhouse_durable::store::StoreError;

/// A runtime of one thread, which reads and writes the connections of every store of the process.
/// The calls themselves run on the threads that make them.
pub(crate) struct Sockets {
    /// `None` only while it is dropped.
    runtime: Option<Runtime>,
    /// The process that started the thread. A forked child has this value, but not the thread.
    process: u32,
}

impl Sockets {
    /// Returns the shared thread, which starts with the first store and ends with the last one.
    pub(crate) fn shared() -> Result<Arc<Self>, StoreError> {
        static SHARED: Mutex<Weak<Sockets>> = Mutex::new(Weak::new());
        let process = std::process::id();
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sockets) = shared.upgrade().filter(|sockets| sockets.process == process) {
            return Ok(sockets);
        }
        let mut builder = runtime::Builder::new_multi_thread();
        builder.worker_threads(1).thread_name("wheelhouse-postgres").enable_all();
        let sockets = Arc::new(Self { runtime: Some(builder.build()?), process });
        *shared = Arc::downgrade(&sockets);
        Ok(sockets)
    }

    /// Runs a task on the thread, until it ends or the returned value is dropped.
    pub(crate) fn spawn<T: Send + 'static>(
        &self,
        task: impl Future<Output = T> + Send + 'static,
    ) -> Task<T> {
        let runtime = self.runtime.as_ref().expect("taken only by drop");
        Task(runtime.spawn(task))
    }
}

impl Drop for Sockets {
    fn drop(&mut self) {
        // Dropping a runtime blocks, which panics in the async code of another runtime.
        self.runtime.take().into_iter().for_each(Runtime::shutdown_background);
    }
}

/// A task that ends when this is dropped.
pub(crate) struct Task<T>(pub(crate) JoinHandle<T>);

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Connects, with further command-line options for the server. Must be called on the socket thread:
/// a socket belongs to the runtime in which it was created.
pub(crate) async fn connect(
    settings: &Builder,
    options: &str,
) -> Result<(Client, Task<()>), StoreError> {
    let mut config = settings.config.clone();
    if !options.is_empty() {
        config.options(format!("{}{options}", config.get_options().unwrap_or_default()));
    }
    let connected = config.connect(connector(settings)?).await.map_err(store_error)?;
    let (client, connection) = connected;
    let task = Task(tokio::spawn(async {
        // The waiting statement gets the error.
        let _ = connection.await;
    }));
    Ok((client, task))
}

/// Blocks this thread until `call` has completed; `None` after the deadline. It works on any
/// thread, also on one that runs async code, where `Runtime::block_on` would panic.
///
/// The tasks of this thread cannot delay the answer: it comes from the thread of [`Sockets`].
pub(crate) fn wait<T>(until: Instant, call: impl Future<Output = T>) -> Option<T> {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    // In a tokio task, tokio's types yield to other tasks when the task's budget is used up. Those
    // never run while this thread is blocked, so the budget must not apply.
    let mut call = pin!(tokio::task::unconstrained(call));
    loop {
        if let Poll::Ready(answer) = call.as_mut().poll(&mut context) {
            return Some(answer);
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return None;
        }
        thread::park_timeout(left);
    }
}

/// The deadline of a call that begins now. The timeout is bounded, because it may be longer than an
/// `Instant` can represent.
pub(crate) fn deadline(timeout: Duration) -> Instant {
    const LONGEST: Duration = Duration::from_secs(30 * 365 * 86_400);
    Instant::now() + timeout.min(LONGEST)
}

/// Unparks a parked thread.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
