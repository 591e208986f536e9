//! Listening for notifications that a job is visible earlier than the last claim said.

use crate::error::store_error;
use crate::greeting::is_direct;
use crate::settings::Builder;
use crate::sockets::{Task, run_on_thread};
use crate::tls::connector;
use std::future::poll_fn;
use std::sync::mpsc;
use std::time::Duration;
use tokio_postgres::AsyncMessage;
use wheelhouse_durable::store::{StoreError, Waker};

/// The pause after an error.
const PAUSE: Duration = Duration::from_millis(500);

/// Listens until it is dropped.
pub(crate) struct Listener {
    listen: ListenTask,
    /// Ends when this is dropped. `None` if the system has no thread or file descriptor left.
    task: Option<Task>,
}

/// Starts a task that calls the waker at each notification of the queue. It also calls the waker
/// after each new connection, because a notification may have been missed before. Returns when the
/// task listens, or when its first attempt has failed.
pub(crate) fn listen(settings: &Builder, waker: Waker) -> Listener {
    let listen = ListenTask { settings: settings.clone(), waker };
    let (begun, listens) = mpsc::channel();
    let task = run_on_thread(listen.clone().run(Some(begun))).ok();
    // If it does not listen, the store is polled once a second.
    let _ = listens.recv_timeout(settings.timeout);
    Listener { listen, task }
}

impl Listener {
    /// Connects again, to the address that the host name has now: the server that it listens to may
    /// no longer be the primary, without a notice on that connection.
    pub(crate) fn reconnect(&mut self) {
        self.task = run_on_thread(self.listen.clone().run(None)).ok();
    }
}

#[derive(Clone)]
struct ListenTask {
    settings: Builder,
    waker: Waker,
}

impl ListenTask {
    async fn run(self, mut begun: Option<mpsc::Sender<()>>) {
        // Callers of the store get errors from their own connection.
        while self.listen(&mut begun).await.map_or_else(|error| error.is_transient(), |()| true) {
            begun = None;
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Listens until the connection ends. Drops the sender when it listens.
    async fn listen(&self, begun: &mut Option<mpsc::Sender<()>>) -> Result<(), StoreError> {
        let timeout = |_| StoreError::Unavailable("no answer".into());
        let connect = self.settings.config.connect(connector(&self.settings)?);
        let connected =
            tokio::time::timeout(self.settings.timeout, connect).await.map_err(timeout)?;
        let (client, mut connection) = connected.map_err(store_error)?;
        let (queue, waker) = (self.settings.queue.clone(), self.waker.clone());
        // Ends with the runtime of this task.
        let messages = tokio::spawn(async move {
            while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await
            {
                if matches!(&message, AsyncMessage::Notification(its) if its.payload() == queue) {
                    waker();
                }
            }
        });
        if !is_direct(&client).await? {
            let why = "a pooler lends sessions, and `LISTEN` would stay in one of them";
            return Err(StoreError::Refused(why.into()));
        }
        client.batch_execute("LISTEN wheelhouse").await.map_err(store_error)?;
        *begun = None;
        (self.waker)();
        let _ = messages.await;
        Ok(())
    }
}
