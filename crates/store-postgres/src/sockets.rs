//! Connections: that of a session is read and written by the thread that waits for an answer, and
//! that of a listener by its own thread.

use crate::error::{Result, connect_error};
use crate::settings::Builder;
use crate::tls::connector;
use std::future::pending;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};
use tokio::runtime::{self, Handle, Runtime};
use tokio::task::AbortHandle;
use tokio_postgres::Client;

/// A task that ends when this is dropped.
pub(crate) struct Task(AbortHandle);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

pub(crate) fn run_on_thread(task: impl Future<Output = ()> + Send + 'static) -> Result<Task> {
    let driver = Driver::new()?;
    let task = driver.runtime().spawn(task);
    let ends = Task(task.abort_handle());
    let thread = thread::Builder::new().name("wheelhouse-postgres".into());
    thread.spawn(move || driver.runtime().block_on(task))?;
    Ok(ends)
}

/// Connects. The current runtime drives the connection until the task is dropped.
pub(crate) async fn connect(settings: &Builder) -> Result<(Client, Task)> {
    let connected = settings.config.connect(connector(settings)?).await;
    let (client, connection) = connected.map_err(connect_error)?;
    let task = tokio::spawn(async {
        // The waiting statement gets the error.
        let _ = connection.await;
    });
    Ok((client, Task(task.abort_handle())))
}

/// A runtime without a thread, for the connection of a session: the thread that waits for an answer
/// reads and writes the socket. With another thread, each round trip would take two hand-overs
/// between threads, which take longer than the server needs for a small statement.
pub(crate) struct Driver(Option<Runtime>);

impl Driver {
    pub(crate) fn new() -> Result<Self> {
        Ok(Self(Some(runtime::Builder::new_current_thread().enable_all().build()?)))
    }

    fn runtime(&self) -> &Runtime {
        self.0.as_ref().expect("taken only by drop")
    }

    /// Blocks this thread until `call` has completed; `None` after the deadline.
    pub(crate) fn wait<T>(&self, until: Instant, call: impl Future<Output = T>) -> Option<T> {
        if !may_be_async() {
            let call = async { tokio::time::timeout_at(until.into(), call).await.ok() };
            return self.runtime().block_on(call);
        }
        // Another thread drives the connection.
        let drives = self.runtime().spawn(pending::<()>());
        let ends = Task(drives.abort_handle());
        // A socket belongs to the runtime in which it is created.
        let _entered = self.runtime().enter();
        thread::scope(|scope| {
            // Dropped before the scope waits for its thread, also if the call panics.
            let _ends = ends;
            scope.spawn(|| self.runtime().block_on(drives));
            wait(until, call)
        })
    }

    /// Lets the connection see whether the server has closed it.
    pub(crate) fn look(&self) {
        // The first pause polls the socket, and the second one the task of the connection.
        let look = || {
            self.runtime().block_on(async {
                tokio::task::yield_now().await;
                tokio::task::yield_now().await;
            });
        };
        if may_be_async() {
            thread::scope(|scope| drop(scope.spawn(look)));
        } else {
            look();
        }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // Dropping a runtime blocks, which panics in the async code of another runtime.
        self.0.take().into_iter().for_each(Runtime::shutdown_background);
    }
}

/// Returns `true` on a thread that runs async code, where `Runtime::block_on` would panic. Also on
/// some other threads of a runtime.
fn may_be_async() -> bool {
    Handle::try_current().is_ok()
}

/// Blocks this thread until `call` has completed; `None` after the deadline. Another thread must
/// drive what the call waits for. It works on any thread, also on one that runs async code.
fn wait<T>(until: Instant, call: impl Future<Output = T>) -> Option<T> {
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

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
