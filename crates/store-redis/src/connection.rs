//! A connection that reconnects after an error, and the scripts that run on it.

use crate::error::{Result, lacks_queue, store_error};
use crate::row::LONGEST_IN_ROW;
use crate::servers::Servers;
use crate::settings::Builder;
use crate::{check, keys::Keys};
use redis::{Cmd, FromRedisValue, Script, ServerErrorKind};
use std::collections::BTreeSet;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::{Duration, Instant};
use wheelhouse_durable::store::{Kinds, StoreError, reconnect_backoff};

/// The format that this version writes.
const FORMAT: u32 = 2;

/// The last number drawn of a new queue, as the scripts pack it.
const NOTHING_DRAWN: &str = "\0\0\0\0\0\0\0\0";

/// A script, after the common beginning of all scripts.
macro_rules! script {
    ($file:literal) => {
        LazyLock::new(|| {
            Script::new(concat!(include_str!("scripts/common.lua"), include_str!($file)))
        })
    };
}

pub(crate) static COMMIT: LazyLock<Script> = script!("scripts/commit.lua");
pub(crate) static CLAIM: LazyLock<Script> = script!("scripts/claim.lua");
pub(crate) static KINDS: LazyLock<Script> = script!("scripts/kinds.lua");
pub(crate) static ROWS: LazyLock<Script> = script!("scripts/rows.lua");

/// How often the server's settings are checked.
pub(crate) const CHECK: Duration = Duration::from_secs(60);

/// A queue on a server.
pub(crate) struct Connection {
    pub(crate) settings: Builder,
    pub(crate) keys: Keys,
    pub(crate) servers: Arc<Servers>,
    /// `None` after an error, until the next call.
    open: Option<redis::Connection>,
    /// When the server's settings were last found durable; `None` if the next call must check them.
    checked: Option<Instant>,
    /// The epoch of the data when this value first connected, or last found them replaced.
    epoch: String,
    /// `true` if the data were found replaced, and neither a commit nor a claim has reported it.
    unreported: bool,
    /// The format of the data.
    pub(crate) format: u32,
    /// The number of failed attempts to connect since the last answer.
    failures: u32,
    /// The known kinds of the queue. A kind without jobs does no harm.
    pub(crate) kinds: BTreeSet<String>,
}

impl Connection {
    pub(crate) fn open(settings: Builder) -> Result<Self> {
        let mut new = Self::later(settings)?;
        new.open = Some(new.servers.connect()?);
        new.begin()?;
        Ok(new)
    }

    /// Connects at the first call.
    pub(crate) fn later(settings: Builder) -> Result<Self> {
        Ok(Self {
            keys: Keys::new(&settings.queue),
            servers: Arc::new(Servers::new(&settings)?),
            settings,
            open: None,
            checked: None,
            epoch: String::new(),
            unreported: false,
            format: FORMAT,
            failures: 0,
            kinds: BTreeSet::new(),
        })
    }

    /// Runs a command. Fails if the connection breaks: the server may have carried it out.
    pub(crate) fn query<T: FromRedisValue>(&mut self, command: &Cmd) -> Result<T> {
        self.ready()?;
        self.with(Instant::now(), |connection| command.query(connection))
    }

    /// Connects and opens the queue, if that has not succeeded before.
    fn ready(&mut self) -> Result<()> {
        if self.is_new() { self.begin() } else { Ok(()) }
    }

    /// Returns `true` until the queue was found.
    pub(crate) fn is_new(&self) -> bool {
        self.epoch.is_empty()
    }

    /// Runs the script of a commit or a claim. If the data were replaced since the last one, this
    /// fails once, without any effect.
    pub(crate) fn change<T: FromRedisValue>(
        &mut self,
        script: &Script,
        kinds: Option<&Kinds>,
        arguments: impl Fn(&mut Cmd) -> Result<()>,
    ) -> Result<T> {
        self.run(script, true, kinds, arguments)
    }

    /// Runs a script that only reads. If the data were replaced, it reads the new ones: callers may
    /// ignore the errors of a read, so the next [`change`](Self::change) fails instead.
    pub(crate) fn read<T: FromRedisValue>(
        &mut self,
        script: &Script,
        kinds: Option<&Kinds>,
        arguments: impl Fn(&mut Cmd) -> Result<()>,
    ) -> Result<T> {
        self.run(script, false, kinds, arguments)
    }

    /// Runs a script with its keys, the epoch, the clock, and further `arguments`, which begin with
    /// the keys of rows. Loads it if the server does not have it. The keys of the script include
    /// the orders of `kinds`, or of all known kinds.
    ///
    /// If the data were replaced, a script that `reports` it fails, and any other is repeated once.
    fn run<T: FromRedisValue>(
        &mut self,
        script: &Script,
        reports: bool,
        kinds: Option<&Kinds>,
        arguments: impl Fn(&mut Cmd) -> Result<()>,
    ) -> Result<T> {
        self.ready()?;
        let mut is_repeat = false;
        loop {
            if reports && std::mem::take(&mut self.unreported) {
                return Err(replaced(&self.settings.queue));
            }
            let mut command = redis::cmd("EVALSHA");
            command.arg(script.get_hash());
            match kinds {
                Some(kinds) => self.keys.add_to(&mut command, kinds.iter().map(|kind| &**kind)),
                None => self.keys.add_to(&mut command, self.kinds.iter().map(String::as_str)),
            }
            command.arg(&self.epoch).arg(self.settings.now());
            arguments(&mut command)?;
            let of_queue = &self.keys.kinds.clone();
            let once = |on: &mut redis::Connection| match run_once(&command, script, on) {
                // Another program has scheduled jobs of kinds that this one does not know.
                Err(error) if error.code() == Some("KINDS") => {
                    redis::cmd("SMEMBERS").arg(of_queue).query(on).map(Err)
                }
                answer => answer.map(Ok),
            };
            match self.with(Instant::now(), once) {
                Ok(Ok(answer)) => return Ok(answer),
                Ok(Err(kinds)) => self.kinds.extend::<Vec<String>>(kinds),
                Err(error @ StoreError::Foreign(_)) if !is_repeat => {
                    self.take_replaced(error)?;
                    is_repeat = true;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Runs a call that begins at `begun`, which a test sets for the next check. If the server no
    /// longer has the queue, looks for the server that has it, with growing pauses until the
    /// timeout, and runs the call there.
    pub(crate) fn with<T>(
        &mut self,
        begun: Instant,
        call: impl Fn(&mut redis::Connection) -> redis::RedisResult<T>,
    ) -> Result<T> {
        loop {
            let mut connection = match self.open.take() {
                Some(connection) => connection,
                None => self.connect_again(begun)?,
            };
            self.check(&mut connection, begun)?;
            let error = match call(&mut connection) {
                Ok(answer) => {
                    self.failures = 0;
                    self.open = Some(connection);
                    return Ok(answer);
                }
                Err(error) => error,
            };
            // The connection is dropped. After a timeout the answer may still arrive, and would be
            // taken for that of the next call.
            if error.is_io_error() || error.is_timeout() {
                return Err(store_error(error));
            }
            if !lacks_queue(&error) {
                self.open = Some(connection);
                return Err(store_error(error));
            }
            // The call was not carried out, and the connection is dropped.
            self.servers.redirect(&error);
            self.wait(begun, store_error(error))?;
        }
    }

    /// Connects, with pauses between failed attempts. The pause stays between calls, so a caller
    /// that retries at once does not overload a server that is about to start.
    fn connect_again(&mut self, begun: Instant) -> Result<redis::Connection> {
        loop {
            match self.servers.connect() {
                Ok(connection) => {
                    self.checked = None;
                    return Ok(connection);
                }
                Err(error) => self.wait(begun, self.refusal(error))?,
            }
        }
    }

    /// Waits before the next attempt of a call that began at `begun`. Returns `error` if that would
    /// be after the timeout, or if a retry does not help.
    fn wait(&mut self, begun: Instant, error: StoreError) -> Result<()> {
        self.failures = self.failures.saturating_add(1);
        let pause = reconnect_backoff().wait(self.failures);
        if !matches!(error, StoreError::Unavailable(_))
            || begun.elapsed() + pause > self.settings.timeout
        {
            return Err(error);
        }
        thread::sleep(pause);
        Ok(())
    }

    /// Checks the server's settings at each new connection and once a minute: `appendonly` can be
    /// switched off while the server runs.
    fn check(&mut self, connection: &mut redis::Connection, now: Instant) -> Result<()> {
        let fresh = self.checked.is_some_and(|at| now.saturating_duration_since(at) < CHECK);
        if !self.settings.unchecked && !fresh {
            check::is_durable(connection).map_err(|error| self.refusal(error))?;
            self.checked = Some(now);
        }
        Ok(())
    }

    /// Converts an error of a new connection or of the check of the settings. If the queue has been
    /// in use, a refusal is transient, so that the ends of runs are retried until the server is set
    /// as before.
    fn refusal(&self, error: StoreError) -> StoreError {
        match error {
            StoreError::Refused(why) if !self.is_new() => StoreError::Io(io::Error::other(why)),
            error => error,
        }
    }

    /// If this connection may write, creates the queue if there is none, or converts it. Then reads
    /// its format and epoch.
    fn begin(&mut self) -> Result<()> {
        if !self.settings.only_reads {
            let script = Script::new(include_str!("scripts/open.lua"));
            let new = format!("{}{:016x}", NOTHING_DRAWN, random());
            let Keys { meta, jobs, bodies, dead, states, .. } = &self.keys;
            let keys = [meta, jobs, bodies, dead, states].map(String::clone);
            let mut open = script.arg(FORMAT);
            open.arg(&new).arg(LONGEST_IN_ROW).key(&keys[..]);
            self.with(Instant::now(), |connection| open.invoke::<()>(connection))?;
        }
        let (mut format, mut drawn) = (redis::cmd("HGET"), redis::cmd("HGET"));
        format.arg(&self.keys.meta).arg("format");
        drawn.arg(&self.keys.jobs).arg("");
        let found: Option<u32> =
            self.with(Instant::now(), |connection| format.query(connection))?;
        let drawn: Option<Vec<u8>> =
            self.with(Instant::now(), |connection| drawn.query(connection))?;
        let Some(found) = found else {
            let queue = &self.settings.queue;
            let why = format!("the server has no queue `{queue}`: name the queue of the programs");
            return Err(StoreError::Refused(why));
        };
        if found > FORMAT {
            return Err(StoreError::Format { found, known: FORMAT });
        }
        if found < FORMAT {
            let why = format!("the queue has format {found}: start a program, which converts it");
            return Err(StoreError::Refused(why));
        }
        let drawn = drawn.unwrap_or_default();
        let epoch = drawn.get(NOTHING_DRAWN.len()..).and_then(|epoch| str::from_utf8(epoch).ok());
        let incomplete = || StoreError::Damaged("the queue is incomplete: it has no epoch".into());
        (self.format, self.epoch) = (found, epoch.ok_or_else(incomplete)?.to_owned());
        Ok(())
    }

    /// Reads the epoch after a script found other data than expected. If the epoch has changed,
    /// takes the new data. Otherwise returns `error`: another program has written to the data.
    fn take_replaced(&mut self, error: StoreError) -> Result<()> {
        let before = self.epoch.clone();
        self.checked = None;
        self.begin()?;
        if self.epoch == before {
            return Err(error);
        }
        self.unreported = true;
        Ok(())
    }
}

fn replaced(queue: &str) -> StoreError {
    let why = format!(
        "the data of queue {queue} were emptied or replaced; jobs may be missing, and earlier \
         leases are void"
    );
    StoreError::Unavailable(why.into())
}

/// Runs a script. Loads it first if the server does not have it.
fn run_once<T: FromRedisValue>(
    command: &Cmd,
    script: &Script,
    connection: &mut redis::Connection,
) -> redis::RedisResult<T> {
    match command.query(connection) {
        Err(error) if error.kind() == ServerErrorKind::NoScript.into() => {
            script.load(connection)?;
            command.query(connection)
        }
        answer => answer,
    }
}

/// An unpredictable number, from the standard library's random keys.
fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}
