//! Listening for messages that a job is visible earlier than expected.

use crate::connection::Connection;
use crate::servers::Servers;
use redis::RedisResult;
use std::sync::{Arc, Weak, mpsc};
use std::thread;
use std::time::Duration;
use wheelhouse_durable::store::Waker;

/// How often the thread checks that its store still exists, and the pause after an error.
const LOOK: Duration = Duration::from_millis(500);

/// Keeps the listening thread alive. The thread ends within half a second after this value.
pub(crate) struct Listener(#[expect(dead_code, reason = "only its lifetime matters")] Arc<()>);

/// Starts a thread that calls the waker at each message of the queue's channel. It also calls the
/// waker after each new connection, because a message may have been missed before. Returns when the
/// thread listens, or when its first attempt has failed.
pub(crate) fn listen(connection: &Connection, waker: Waker) -> Listener {
    let alive = Arc::new(());
    let task = ListenTask {
        servers: Arc::clone(&connection.servers),
        timeout: connection.settings.timeout,
        channel: connection.keys.order.clone(),
        alive: Arc::downgrade(&alive),
        waker,
    };
    let (begun, listens) = mpsc::channel();
    // Without the thread, programs are not woken, but they poll the store once a second.
    let thread = thread::Builder::new().name("wheelhouse-redis".into());
    if thread.spawn(move || task.run(&begun)).is_ok() {
        let _ = listens.recv();
    }
    Listener(alive)
}

struct ListenTask {
    servers: Arc<Servers>,
    timeout: Duration,
    channel: String,
    alive: Weak<()>,
    waker: Waker,
}

impl ListenTask {
    fn run(&self, begun: &mpsc::Sender<()>) {
        while self.alive.strong_count() > 0 {
            // Commits and claims report the error to their callers.
            let _ = self.listen(begun);
            let _ = begun.send(());
            thread::sleep(LOOK);
        }
    }

    /// Listens until an error, the end of the store, or a new connection of the store, which may be
    /// to another server.
    fn listen(&self, begun: &mpsc::Sender<()>) -> RedisResult<()> {
        let changes = self.servers.changes();
        let Some(client) = self.servers.last() else { return Ok(()) };
        let mut connection = client.get_connection_with_timeout(self.timeout)?;
        let mut messages = connection.as_pubsub();
        messages.subscribe(&self.channel)?;
        messages.set_read_timeout(Some(LOOK))?;
        // Before `listen` returns: from then on the waker is called for news only.
        (self.waker)();
        let _ = begun.send(());
        while self.alive.strong_count() > 0 && self.servers.changes() == changes {
            match messages.get_message() {
                Ok(_) => (self.waker)(),
                Err(error) if error.is_timeout() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
