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

/// How often the waker is called without a notification.
const WAKE_EACH: Duration = Duration::from_secs(600);

/// A commit sends no notification for a job that is visible after this duration. Waiting programs
/// find the job in time: the waker is called after at most [`WAKE_EACH`], and the commit becomes
/// visible in less than `WAKE_EACH` and the timeout.
pub(crate) fn far(settings: &Builder) -> Duration {
    (2 * WAKE_EACH).saturating_add(settings.timeout)
}

/// Listens until it is dropped.
pub(crate) struct Listener {
    listen: ListenTask,
    /// Ends when this is dropped. `None` if the system has no thread or file descriptor left.
    task: Option<Task>,
}

/// Starts a task that calls the waker at each notification of the queue, and each [`WAKE_EACH`]. It
/// also calls the waker after each new connection, because a notification may have been missed
/// before. Returns when the task listens and has called the waker, or when its first attempt has
/// failed.
pub(crate) fn listen(settings: &Builder, waker: Waker) -> Listener {
    let listen = ListenTask { settings: settings.clone(), waker, wake_each: WAKE_EACH };
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
    wake_each: Duration,
}

impl ListenTask {
    async fn run(self, mut begun: Option<mpsc::Sender<()>>) {
        let (waker, wake_each) = (self.waker.clone(), self.wake_each);
        // Ends with the runtime of this task.
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(wake_each).await;
                waker();
            }
        });
        // Callers of the store get errors from their own connection.
        while self.listen(&mut begun).await.map_or_else(|error| error.is_transient(), |()| true) {
            begun = None;
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Listens until the connection ends. When it listens, it calls the waker and drops the sender.
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
        // Before `listen` returns: from then on the waker is called for news only.
        (self.waker)();
        *begun = None;
        let _ = messages.await;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{ListenTask, run_on_thread};
    use crate::PostgresStore;
    use std::sync::atomic::Ordering;
    use std::sync::{Arc, mpsc};
    use std::time::Duration;
    use wheelhouse_durable::store::{Change, Put, When};
    use wheelhouse_store_conformance::jobs::{commit, count_wakes, job, key, put, wait_until};
    use wheelhouse_test_servers::{Server, queue};

    /// So programs find the jobs for which no notification was sent.
    #[test]
    fn the_waker_is_called_without_a_notification() {
        let Some(server) = Server::shared_postgres() else { return };
        let settings = PostgresStore::builder(&server.url(), &queue()).unwrap();
        let (sender, woken) = mpsc::channel();
        let waker = Arc::new(move || sender.send(()).unwrap_or_default());
        let listen = ListenTask { settings, waker, wake_each: Duration::from_millis(10) };
        let _task = run_on_thread(listen.run(None)).unwrap();
        for _ in 0..3 {
            woken.recv_timeout(Duration::from_secs(60)).expect("the waker is called");
        }
    }

    /// Commits of each sort, whose jobs are the first that are not due.
    fn commits(delay: u64) -> [Vec<Change>; 5] {
        let moved = |name, delay| Change::Move {
            key: key(name),
            when: When::After(Duration::from_millis(delay)),
        };
        let (a, b) = (format!("a {delay}"), format!("b {delay}"));
        [
            vec![put(&a, delay)],
            vec![put(&b, delay - 1_000), put(&format!("c {delay}"), delay)],
            vec![moved(&a, delay - 2_000)],
            vec![moved(&a, delay - 3_000), moved(&b, delay - 3_000)],
            vec![Change::Put(Put { replace: true, ..job(&a, delay - 4_000) })],
        ]
    }

    #[test]
    fn a_job_that_is_far_in_the_future_sends_no_notification() {
        let Some(server) = Server::shared_postgres() else { return };
        let (url, queue) = (server.url(), queue());
        let [mut store, mut waits] =
            [(); 2].map(|()| PostgresStore::connect(&url, &queue).unwrap());
        let calls = count_wakes(&mut waits);
        let calls = || calls.load(Ordering::SeqCst);
        // A busy machine may need longer than the timeout for the connection.
        wait_until("it listens", || calls() == 1);
        for changes in commits(3_600_000) {
            commit(&mut store, &changes);
        }
        // Notifications arrive in the order of commits.
        for (before, changes) in (1..).zip(commits(1_000_000)) {
            commit(&mut store, &changes);
            wait_until("a near job wakes", || calls() > before);
            assert_eq!(calls(), before + 1, "{changes:?}");
        }
    }
}
