//! Listening for notifications that a job is visible earlier than the last claim said.

use crate::error::{Result, store_error};
use crate::floor::NONE;
use crate::greeting::is_direct;
use crate::settings::Builder;
use crate::sockets::{Task, run_on_thread};
use crate::tls::connector;
use std::future::poll_fn;
use std::sync::{Arc, mpsc};
use std::time::Duration;
use tokio_postgres::AsyncMessage;
use wheelhouse_durable::store::StoreError;

/// Is called with the time when a job becomes visible, in milliseconds, or with [`NONE`] if that
/// may be at any time.
pub(crate) type Hear = Arc<dyn Fn(i64) + Send + Sync>;

/// The pause after an error.
const PAUSE: Duration = Duration::from_millis(500);

/// How often the waker is called without a notification.
const WAKE_EACH: Duration = Duration::from_secs(600);

/// A commit sends no notification for a job that is visible after this duration. Waiting programs
/// find the job in time: they are woken after at most [`WAKE_EACH`], and the commit becomes
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

/// Starts a task that calls `hear` at each notification of the queue, and each [`WAKE_EACH`]. It
/// also calls it after each new connection, because a notification may have been missed before.
/// Returns when the task listens and has called it, or when its first attempt has failed.
pub(crate) fn listen(settings: &Builder, hear: Hear) -> Listener {
    let listen = ListenTask { settings: settings.clone(), hear, wake_each: WAKE_EACH };
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
    hear: Hear,
    wake_each: Duration,
}

impl ListenTask {
    async fn run(self, mut begun: Option<mpsc::Sender<()>>) {
        let (hear, wake_each) = (Arc::clone(&self.hear), self.wake_each);
        // Ends with the runtime of this task.
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(wake_each).await;
                hear(NONE);
            }
        });
        // Callers of the store get errors from their own connection.
        while self.listen(&mut begun).await.map_or_else(|error| error.is_transient(), |()| true) {
            begun = None;
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Listens until the connection ends. When it listens, it calls `hear` and drops the sender.
    async fn listen(&self, begun: &mut Option<mpsc::Sender<()>>) -> Result<()> {
        let timeout = |_| StoreError::Unavailable("no answer".into());
        let connect = self.settings.config.connect(connector(&self.settings)?);
        let connected =
            tokio::time::timeout(self.settings.timeout, connect).await.map_err(timeout)?;
        let (client, mut connection) = connected.map_err(store_error)?;
        let (queue, hear) = (self.settings.queue.clone(), Arc::clone(&self.hear));
        // Ends with the runtime of this task.
        let messages = tokio::spawn(async move {
            while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await
            {
                let AsyncMessage::Notification(its) = message else { continue };
                if its.payload() == queue {
                    // Sent by an older version.
                    hear(NONE);
                } else if let Some((named, visible_at)) = its.payload().rsplit_once(' ')
                    && named == queue
                {
                    hear(visible_at.parse().unwrap_or(NONE));
                }
            }
        });
        if !is_direct(&client).await? {
            let why = "a pooler lends sessions, and `LISTEN` would stay in one of them";
            return Err(StoreError::Refused(why.into()));
        }
        client.batch_execute("LISTEN wheelhouse").await.map_err(store_error)?;
        // Before `listen` returns: from then on it is called for news only.
        (self.hear)(NONE);
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
    use wheelhouse_durable::store::{Change, ClaimLimit, Kinds, Put, Store, Timestamp, When};
    use wheelhouse_store_conformance::jobs::*;
    use wheelhouse_test_servers::{Server, queue};

    /// So programs find the jobs for which no notification was sent.
    #[test]
    fn the_waker_is_called_without_a_notification() {
        let Some(server) = Server::shared_postgres() else { return };
        let settings = PostgresStore::builder(&server.url(), &queue()).unwrap();
        let (sender, woken) = mpsc::channel();
        let hear = Arc::new(move |_| sender.send(()).unwrap_or_default());
        let listen = ListenTask { settings, hear, wake_each: Duration::from_millis(10) };
        let _task = run_on_thread(listen.run(None)).unwrap();
        for _ in 0..3 {
            woken.recv_timeout(Duration::from_secs(60)).expect("the waker is called");
        }
    }

    /// A claim of a store that is notified does not search again where it has found nothing before,
    /// but at the jobs of which it has heard.
    #[test]
    fn a_claim_returns_the_job_of_a_notification() {
        let Some(server) = Server::shared_postgres() else { return };
        let (url, queue) = (server.url(), queue());
        let at = Timestamp::from_millis;
        let [mut store, mut other] = [(); 2].map(|()| {
            let builder = PostgresStore::builder(&url, &queue).unwrap();
            builder.clock(move || at(1_000_000)).connect().unwrap()
        });
        store.floors.lock().use_always(true);
        let calls = count_wakes(&mut store);
        wait_until("it listens", || calls.load(Ordering::SeqCst) == 1);
        let (kinds, limit) = (Kinds::new([KIND]), ClaimLimit::jobs(9));
        let mut next = || store.claim(&kinds, limit, LEASE).unwrap().1.visible_at.unwrap();
        commit(&mut other, &[put("far", 900_000)]);
        wait_until("the far job wakes", || calls.load(Ordering::SeqCst) == 2);
        assert_eq!(next(), at(1_900_000));
        // Other programs may have leases before that, so the claim is repeated after a pause. In
        // this test the pause is almost 10,000 seconds.
        commit(&mut other, &[put("near", 500)]);
        wait_until("the near job wakes", || calls.load(Ordering::SeqCst) == 3);
        assert_eq!(next(), at(1_000_500));
        assert_eq!(next(), at(1_000_500), "the search begins at that job");
        // A job that is due in a moment may be claimed before the next commit is visible.
        for (name, delay, woken) in [("at once", 10, 4), ("soon", 50, 5)] {
            commit(&mut other, &[put(name, delay)]);
            wait_until(name, || calls.load(Ordering::SeqCst) == woken);
            assert_eq!(next(), at(1_000_010), "{name}");
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
