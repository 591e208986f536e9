//! The thread that moves the sockets of all stores, and how any thread waits for it.

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
    /// A child that was forked has this value, and not its thread.
    process: u32,
}

impl Sockets {
    /// Starts the thread for the first store; it ends with the last one.
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

    /// Runs a task on the thread, until it ends or the answer is dropped.
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
        // A plain drop of a runtime waits, which panics in the async code of another runtime.
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

/// Connects, with more options of the server's. To be called on the thread of the sockets: a socket
/// belongs to the runtime in which it is made.
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
        // The statement that waits for an answer gets the error.
        let _ = connection.await;
    }));
    Ok((client, task))
}

/// Waits for an answer, on any thread, also one that runs async code, which is blocked meanwhile;
/// `None` after the deadline. `Runtime::block_on` would panic there.
///
/// No task of this thread can hold up the answer: it comes from the thread of [`Sockets`].
pub(crate) fn wait<T>(until: Instant, call: impl Future<Output = T>) -> Option<T> {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    // Inside a tokio task, what is tokio's own would else pause for other tasks, which never run
    // while this thread is blocked.
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

/// When a call that begins now is over. A timeout may be longer than the clock can count.
pub(crate) fn deadline(timeout: Duration) -> Instant {
    const LONGEST: Duration = Duration::from_secs(30 * 365 * 86_400);
    Instant::now() + timeout.min(LONGEST)
}

/// Continues a thread that is parked.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
