//! A connection that reconnects after an error, and transactions that are repeated on it.

use crate::error::{Retry, Timeout, retry};
use crate::index::Index;
use crate::listen::{Listener, listen};
use crate::settings::Builder;
use crate::setup::{check_and_make, move_numbers};
use crate::sockets::{self, Sockets, Task, deadline, wait};
use crate::tls::connector;
use crate::transaction::{Failed, transact};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_postgres::Client;
use wheelhouse_durable::store::{StoreError, Waker, reconnect_backoff};

/// A queue on a server.
pub(crate) struct Session {
    pub(crate) settings: Builder,
    /// The format of the tables; `None` until the database was checked.
    pub(crate) format: Option<u32>,
    /// `None` after an error, until the next call.
    open: Option<Open>,
    listener: Option<Listener>,
    pub(crate) index: Index,
    /// The last field, so that the connections end before the thread that does their I/O.
    sockets: Arc<Sockets>,
}

/// A connection.
struct Open {
    client: Client,
    #[expect(dead_code, reason = "does the socket I/O until it is dropped")]
    task: Task<()>,
}

impl Session {
    pub(crate) fn open(settings: Builder) -> Result<Self, StoreError> {
        let mut new = Self::later(settings)?;
        // Not retried, so that a program with a wrong URL fails at once.
        new.open = Some(new.connect(deadline(new.settings.timeout))?);
        Ok(new)
    }

    /// Connects at the first call.
    pub(crate) fn later(settings: Builder) -> Result<Self, StoreError> {
        let sockets = Sockets::shared()?;
        // Refuses a wrong setting here, not at the first call.
        connector(&settings)?;
        let index = Index::default();
        Ok(Self { settings, format: None, open: None, listener: None, index, sockets })
    }

    /// Carries out a transaction. If it fails before its commit was sent, it has changed nothing.
    /// Then the call is repeated until the timeout, if that may help. After a conflict with another
    /// transaction it is repeated on the same connection, with `true` as its last argument.
    /// Otherwise it is repeated on a new connection, to the address that the host name has then.
    pub(crate) fn run<T>(
        &mut self,
        call: impl AsyncFn(&Client, &Builder, bool) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let until = deadline(self.settings.timeout);
        let (mut failures, mut exclusive) = (0, false);
        loop {
            let answer = match self.open.take() {
                Some(open) if !open.client.is_closed() => self.once(open, until, exclusive, &call),
                _ => self
                    .connect(until)
                    .map_err(Failed::Undone)
                    .and_then(|open| self.once(open, until, exclusive, &call)),
            };
            let error = match answer {
                Ok(answer) => return Ok(answer),
                Err(Failed::Unknown(error)) => return Err(error),
                Err(Failed::Undone(error)) => error,
            };
            let how = retry(&error);
            // After the first conflict there is no pause: the repeated call waits by a lock.
            let first_conflict =
                how == Retry::SameConnection && !std::mem::replace(&mut exclusive, true);
            failures += u32::from(!first_conflict);
            let pause =
                if first_conflict { Duration::ZERO } else { reconnect_backoff().wait(failures) };
            if how == Retry::Never || Instant::now() + pause > until {
                return Err(error);
            }
            std::thread::sleep(pause);
        }
    }

    /// Calls the waker when a job is visible earlier than the last claim said, if the server can
    /// notify.
    pub(crate) fn wake_by(&mut self, waker: Waker) {
        self.listener = Some(listen(&self.sockets, &self.settings, waker));
    }

    /// Builds the index by which jobs are claimed, in the background, if it is missing.
    pub(crate) fn ensure_index(&mut self) {
        // Before the check of the database it is not known whether the index exists.
        if self.format.is_some() {
            self.index.ensure(&self.sockets, &self.settings);
        }
    }

    /// Carries out a transaction on a connection. Keeps the connection if it is still usable.
    fn once<T>(
        &mut self,
        open: Open,
        until: Instant,
        exclusive: bool,
        call: &impl AsyncFn(&Client, &Builder, bool) -> Result<T, StoreError>,
    ) -> Result<T, Failed> {
        let (client, settings) = (&open.client, &self.settings);
        let (answer, usable) = wait(until, async {
            let answer = transact(client, settings, call(client, settings, exclusive)).await;
            let usable = match &answer {
                Ok(_) => true,
                Err(Failed::Undone(error)) if retry(error) != Retry::NewConnection => {
                    client.batch_execute("ROLLBACK").await.is_ok()
                }
                Err(_) => false,
            };
            (answer, usable)
        })
        // After a timeout the connection is dropped: a late answer would be taken for that of the
        // next statement.
        .unwrap_or_else(|| (Err(Failed::Unknown(timeout(settings))), false));
        self.open = usable.then_some(open);
        answer
    }

    /// Connects, and checks the database if that has not succeeded before.
    fn connect(&mut self, until: Instant) -> Result<Open, StoreError> {
        let open = connect(&self.sockets, &self.settings, until)?;
        let (client, settings) = (&open.client, &self.settings);
        let answered = wait(until, async {
            match self.format {
                None => {
                    transact(client, settings, check_and_make(client, settings)).await.map(Some)
                }
                Some(_) if settings.only_reads => Ok(None),
                Some(_) => transact(client, settings, move_numbers(client)).await.map(|()| None),
            }
        });
        let answered = answered.ok_or_else(|| timeout(settings))?.map_err(Failed::into_error)?;
        if let Some((format, has_index)) = answered {
            self.format = Some(format);
            self.index.found(has_index);
        }
        if let Some(listener) = &mut self.listener {
            listener.reconnect(&self.sockets);
        }
        Ok(open)
    }
}

fn timeout(settings: &Builder) -> StoreError {
    Timeout(settings.timeout).into()
}

fn connect(sockets: &Sockets, settings: &Builder, until: Instant) -> Result<Open, StoreError> {
    let its = settings.clone();
    let mut connected = sockets.spawn(async move { sockets::connect(&its, "").await });
    let connected = wait(until, &mut connected.0).ok_or_else(|| timeout(settings))?;
    let ended = |_| StoreError::Unavailable("the socket thread has ended".into());
    let (client, task) = connected.map_err(ended)??;
    Ok(Open { client, task })
}
