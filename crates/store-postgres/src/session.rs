//! A connection that reconnects after an error, and transactions that are repeated on it.

use crate::error::{Result, Retry, retry, store_error, timeout, was_refused};
use crate::greeting::is_direct;
use crate::listen::{Hear, Listener, listen};
use crate::settings::Builder;
use crate::setup::{check_and_make, move_numbers};
use crate::sockets::{self, Driver, Task, deadline};
use crate::statements::{Prepared, Statements};
use crate::tls::connector;
use crate::transaction::{Failed, own_session, transact};
use std::io;
use std::time::{Duration, Instant};
use tokio_postgres::Client;
use wheelhouse_durable::store::{StoreError, reconnect_backoff};

/// A queue on a server.
pub(crate) struct Session {
    pub(crate) settings: Builder,
    /// The format of the tables; `None` until the database was checked.
    pub(crate) format: Option<u32>,
    /// `None` after an error, until the next call.
    open: Option<Open>,
    listener: Option<Listener>,
    /// After the connection, so that this ends first.
    driver: Driver,
}

struct Open {
    client: Client,
    /// `None` if a pooler lends sessions: it may lend another one to the next transaction.
    prepared: Option<Prepared>,
    #[expect(dead_code, reason = "does the socket I/O until it is dropped")]
    task: Task,
}

/// The statements of a call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Several, in a transaction.
    Transaction,
    /// One that writes. It is a transaction by itself, if the session has all settings.
    Write,
    /// The same, but it only reads.
    Read,
}

impl Open {
    fn statements(&self) -> Statements<'_, Client> {
        Statements { client: &self.client, prepared: self.prepared.as_ref() }
    }

    async fn carry_out<T>(
        &self,
        scope: Scope,
        settings: &Builder,
        call: impl Future<Output = Result<T>>,
    ) -> Result<T, Failed> {
        if scope == Scope::Transaction || self.prepared.is_none() {
            return transact(&self.client, settings, self.prepared.is_some(), call).await;
        }
        call.await.map_err(|error| match error {
            // The server may have carried it out before the connection broke.
            StoreError::Unavailable(_) if scope == Scope::Write && !was_refused(&error) => {
                Failed::Unknown(error)
            }
            _ => Failed::Undone(error),
        })
    }
}

impl Session {
    pub(crate) fn open(settings: Builder) -> Result<Self> {
        let mut new = Self::later(settings)?;
        // Not retried, so that a program with a wrong URL fails at once.
        new.open = Some(new.connect(deadline(new.settings.timeout))?);
        Ok(new)
    }

    /// Connects at the first call.
    pub(crate) fn later(settings: Builder) -> Result<Self> {
        // Refuses a wrong setting here, not at the first call.
        connector(&settings)?;
        Ok(Self { settings, format: None, open: None, listener: None, driver: Driver::new()? })
    }

    /// Carries out a call. If it fails before its commit was sent, it has changed nothing.
    /// Then the call is repeated until the timeout, if that may help. After a conflict with another
    /// transaction it is repeated on the same connection, with `true` as its last argument.
    /// Otherwise it is repeated on a new connection, to the address that the host name has then.
    pub(crate) fn run<T>(
        &mut self,
        scope: Scope,
        call: impl AsyncFn(Statements<'_, Client>, &Builder, bool) -> Result<T>,
    ) -> Result<T> {
        let until = deadline(self.settings.timeout);
        let (mut failures, mut exclusive) = (0, false);
        loop {
            self.driver.look();
            let open = self.open.take().filter(|open| !open.client.is_closed());
            let open = open.map_or_else(|| self.connect(until).map_err(Failed::Undone), Ok);
            let answer = open.and_then(|open| self.once(open, until, (scope, exclusive), &call));
            let error = match answer {
                Ok(answer) => return Ok(answer),
                Err(Failed::Unknown(error)) => return Err(error),
                Err(Failed::Undone(error)) => error,
            };
            let how = retry(&error);
            // After the first conflict there is no pause: the repeated call waits by a lock.
            let is_first = how == Retry::SameConnection && !std::mem::replace(&mut exclusive, true);
            failures += u32::from(!is_first);
            let pause = if is_first { Duration::ZERO } else { reconnect_backoff().wait(failures) };
            if how == Retry::Never || Instant::now() + pause > until {
                return Err(error);
            }
            std::thread::sleep(pause);
        }
    }

    /// Calls `hear` when a job is visible earlier than the last claim said, if the server can
    /// notify.
    pub(crate) fn wake_by(&mut self, hear: Hear) {
        self.listener = Some(listen(&self.settings, hear));
    }

    /// Carries out a call on a connection. Keeps the connection if it is still usable.
    fn once<T>(
        &mut self,
        open: Open,
        until: Instant,
        (scope, exclusive): (Scope, bool),
        call: &impl AsyncFn(Statements<'_, Client>, &Builder, bool) -> Result<T>,
    ) -> Result<T, Failed> {
        let settings = &self.settings;
        let (answer, usable) = self
            .driver
            .wait(until, async {
                let call = call(open.statements(), settings, exclusive);
                let answer = open.carry_out(scope, settings, call).await;
                let usable = match &answer {
                    Ok(_) => true,
                    Err(Failed::Undone(error)) if retry(error) != Retry::NewConnection => {
                        scope != Scope::Transaction && open.prepared.is_some()
                            || open.client.batch_execute("ROLLBACK").await.is_ok()
                    }
                    Err(_) => false,
                };
                (answer, usable)
            })
            // After a timeout the connection is dropped: its answer would be taken for that of the
            // next statement.
            .unwrap_or_else(|| (Err(Failed::Unknown(timeout(settings.timeout))), false));
        self.open = usable.then_some(open);
        answer
    }

    /// Connects, and checks the database if that has not succeeded before. If it has, a refusal is
    /// transient, so that the ends of runs are retried until the server is set as before.
    fn connect(&mut self, until: Instant) -> Result<Open> {
        let is_new = self.format.is_none();
        self.connect_once(until).map_err(|error| match error {
            StoreError::Refused(why) if !is_new => StoreError::Io(io::Error::other(why)),
            error => error,
        })
    }

    fn connect_once(&mut self, until: Instant) -> Result<Open> {
        let settings = &self.settings;
        let connected = self.driver.wait(until, sockets::connect(settings));
        let (client, task) = connected.ok_or_else(|| timeout(settings.timeout))??;
        let answered = self.driver.wait(until, async {
            let client = &client;
            // Only a direct connection has its own session.
            let is_own = is_direct(client).await.map_err(Failed::Undone)?;
            if is_own {
                let set = client.batch_execute(&own_session(settings)).await;
                set.map_err(store_error).map_err(Failed::Undone)?;
            }
            let checked = match self.format {
                None => {
                    let check = check_and_make(client, settings);
                    transact(client, settings, is_own, check).await.map(Some)
                }
                Some(_) if settings.only_reads => Ok(None),
                Some(_) => {
                    let numbers = move_numbers(client);
                    transact(client, settings, is_own, numbers).await.map(|()| None)
                }
            };
            Ok((is_own, checked?))
        });
        let answered = answered.ok_or_else(|| timeout(settings.timeout))?;
        let (is_own, answered) =
            answered.map_err(|(Failed::Undone(error) | Failed::Unknown(error))| error)?;
        self.format = answered.or(self.format);
        self.listener.iter_mut().for_each(Listener::reconnect);
        Ok(Open { client, prepared: is_own.then(Prepared::default), task })
    }
}
