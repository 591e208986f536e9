//! Listening for jobs that are visible earlier than was said.

use crate::settings::Builder;
use crate::tls::connector;
use std::future::poll_fn;
use std::sync::{Arc, Weak, mpsc};
use std::thread;
use std::time::Duration;
use tokio::runtime;
use tokio_postgres::{AsyncMessage, Error};
use wheelhouse_durable::store::Waker;

/// How often the thread looks whether its store is still there, and the pause after an error.
const LOOK: Duration = Duration::from_millis(500);

/// Keeps the listening thread, which ends within half a second after this value.
pub(crate) struct Listener(#[expect(dead_code, reason = "that it ends is what matters")] Arc<()>);

/// Calls the waker at each notification of the queue, and after each new connection, before which
/// one may have been missed. Returns when it listens, or when that has failed once.
pub(crate) fn listen(settings: &Builder, waker: Waker) -> Listener {
    let alive = Arc::new(());
    let ear = Ear { settings: settings.clone(), alive: Arc::downgrade(&alive), waker };
    let (begun, listens) = mpsc::channel();
    // Without a thread nobody is woken; the store is asked once a second anyhow.
    let thread = thread::Builder::new().name("wheelhouse-postgres".into());
    if thread.spawn(move || ear.run(&begun)).is_ok() {
        let _ = listens.recv();
    }
    Listener(alive)
}

struct Ear {
    settings: Builder,
    alive: Weak<()>,
    waker: Waker,
}

impl Ear {
    fn run(&self, begun: &mpsc::Sender<()>) {
        let runtime = runtime::Builder::new_current_thread().enable_all().build();
        while let Ok(runtime) = &runtime
            && self.alive.strong_count() > 0
        {
            // An error has been told to whoever commits and claims.
            let _ = runtime.block_on(self.hear(begun));
            let _ = begun.send(());
            thread::sleep(LOOK);
        }
    }

    /// Listens until an error or the end of the store.
    async fn hear(&self, begun: &mpsc::Sender<()>) -> Result<(), Error> {
        let Ok(tls) = connector(&self.settings) else { return Ok(()) };
        let connect = self.settings.config.connect(tls);
        let Ok(connected) = tokio::time::timeout(self.settings.timeout, connect).await else {
            return Ok(());
        };
        let (client, mut connection) = connected?;
        let (queue, waker) = (self.settings.queue.clone(), self.waker.clone());
        let messages = tokio::spawn(async move {
            while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await
            {
                if matches!(&message, AsyncMessage::Notification(its) if its.payload() == queue) {
                    waker();
                }
            }
        });
        client.batch_execute("LISTEN wheelhouse").await?;
        let _ = begun.send(());
        (self.waker)();
        while self.alive.strong_count() > 0 && !messages.is_finished() {
            tokio::time::sleep(LOOK).await;
        }
        messages.abort();
        Ok(())
    }
}
