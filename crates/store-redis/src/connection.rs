//! A connection that is made again when it breaks, and the scripts that run on it.

use crate::error::store_error;
use crate::settings::Builder;
use crate::{check, keys::Keys, tls};
use redis::{Client, Cmd, FromRedisValue, Script, ServerErrorKind};
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::thread;
use std::time::{Duration, Instant};
use wheelhouse_durable::store::StoreError;

/// The format that this version writes.
const FORMAT: u32 = 1;

/// The pause before a second try to connect; it doubles with each, up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// A script with what all of them begin with.
macro_rules! script {
    ($file:literal) => {
        Script::new(concat!(include_str!("scripts/common.lua"), include_str!($file)))
    };
}

pub(crate) struct Scripts {
    pub(crate) commit: Script,
    pub(crate) claim: Script,
    pub(crate) kinds: Script,
    pub(crate) rows: Script,
}

impl Scripts {
    pub(crate) fn new() -> Self {
        Self {
            commit: script!("scripts/commit.lua"),
            claim: script!("scripts/claim.lua"),
            kinds: script!("scripts/kinds.lua"),
            rows: script!("scripts/rows.lua"),
        }
    }
}

/// A queue on a server.
pub(crate) struct Connection {
    pub(crate) settings: Builder,
    pub(crate) keys: Keys,
    pub(crate) client: Client,
    /// `None` after an error, until the next call.
    open: Option<redis::Connection>,
    /// Of the data, as they were when this value connected first.
    epoch: String,
    /// In which the data are.
    pub(crate) format: u32,
    /// How long to wait before the next try to connect.
    pause: Duration,
}

impl Connection {
    pub(crate) fn open(settings: Builder) -> Result<Self, StoreError> {
        let client = tls::client(&settings)?;
        let keys = Keys::new(&settings.queue);
        let (epoch, pause) = (String::new(), FIRST_PAUSE);
        let mut new = Self { settings, keys, client, open: None, epoch, format: FORMAT, pause };
        let connection = new.connect()?;
        new.begin(connection)?;
        Ok(new)
    }

    /// Runs a command. If the connection breaks, it fails: the server may have carried it out.
    pub(crate) fn query<T: FromRedisValue>(&mut self, command: &Cmd) -> Result<T, StoreError> {
        self.with(|connection| command.query(connection))
    }

    /// Runs a script with its keys, the epoch, the clock, and what `arguments` adds; loads it where
    /// the server does not know it, or no longer.
    pub(crate) fn run<T: FromRedisValue>(
        &mut self,
        script: &Script,
        arguments: impl FnOnce(&mut Cmd),
    ) -> Result<T, StoreError> {
        let mut command = redis::cmd("EVALSHA");
        command.arg(script.get_hash());
        self.keys.add_to(&mut command);
        command.arg(&self.epoch).arg(self.settings.clock.argument());
        arguments(&mut command);
        let answer = self.with(|connection| match command.query(connection) {
            Err(error) if error.kind() == ServerErrorKind::NoScript.into() => {
                script.load(connection)?;
                command.query(connection)
            }
            answer => answer,
        });
        match answer {
            Err(StoreError::Foreign(_)) => Err(self.replaced()),
            answer => answer,
        }
    }

    fn with<T>(
        &mut self,
        call: impl FnOnce(&mut redis::Connection) -> redis::RedisResult<T>,
    ) -> Result<T, StoreError> {
        let mut connection = match self.open.take() {
            Some(connection) => connection,
            None => self.connect_again()?,
        };
        let answer = call(&mut connection);
        // After a timeout the answer may still come, to the wrong question.
        let broken = answer.as_ref().is_err_and(|error| error.is_io_error() || error.is_timeout());
        if !broken {
            self.open = Some(connection);
        }
        answer.map_err(store_error)
    }

    /// Connects; waits before that if the last try failed, so that a caller who tries again at once
    /// does not keep a server busy that is about to start.
    fn connect_again(&mut self) -> Result<redis::Connection, StoreError> {
        let begun = Instant::now();
        loop {
            let error = match self.connect() {
                Ok(connection) => {
                    self.pause = FIRST_PAUSE;
                    return Ok(connection);
                }
                Err(error) => error,
            };
            let pause = jitter(self.pause);
            self.pause = (self.pause * 2).min(LONGEST_PAUSE);
            if !error.is_transient() || begun.elapsed() + pause > self.settings.timeout {
                return Err(error);
            }
            thread::sleep(pause);
        }
    }

    fn connect(&self) -> Result<redis::Connection, StoreError> {
        let timeout = self.settings.timeout;
        let mut connection =
            self.client.get_connection_with_timeout(timeout).map_err(store_error)?;
        connection.set_read_timeout(Some(timeout)).map_err(store_error)?;
        connection.set_write_timeout(Some(timeout)).map_err(store_error)?;
        // A server that still reads its files takes connections, and refuses all else.
        redis::cmd("PING").exec(&mut connection).map_err(store_error)?;
        Ok(connection)
    }

    /// Checks the server, makes the queue if there is none and this may write, and takes its
    /// format and epoch.
    fn begin(&mut self, mut connection: redis::Connection) -> Result<(), StoreError> {
        if !self.settings.unchecked {
            check::is_durable(&mut connection)?;
        }
        if !self.settings.only_reads {
            let script = Script::new(include_str!("scripts/open.lua"));
            let mut call = script.key(&self.keys.meta);
            let new = format!("{:016x}", random());
            let made = call.arg(FORMAT).arg(new).invoke::<()>(&mut connection);
            made.map_err(store_error)?;
        }
        let mut command = redis::cmd("HMGET");
        command.arg(&self.keys.meta).arg("format").arg("epoch");
        let found: (Option<u32>, Option<String>) =
            command.query(&mut connection).map_err(store_error)?;
        let (Some(found), Some(epoch)) = found else {
            let queue = &self.settings.queue;
            let why = format!("the server has no queue `{queue}`: name the one of the programs");
            return Err(StoreError::Refused(why));
        };
        if found > FORMAT {
            return Err(StoreError::Format { found, known: FORMAT });
        }
        (self.format, self.epoch, self.open) = (found, epoch, Some(connection));
        Ok(())
    }

    /// The data are not those that this value connected to: tells so once, and takes them.
    fn replaced(&mut self) -> StoreError {
        let begun = self.connect().and_then(|connection| self.begin(connection));
        if let Err(error) = begun {
            return error;
        }
        StoreError::Unavailable(
            format!(
                "the data of queue {} were emptied or replaced; jobs may be missing, and leases of \
                 before are void",
                self.settings.queue
            )
            .into(),
        )
    }
}

/// A random part, half at least, of a pause.
fn jitter(pause: Duration) -> Duration {
    let half = pause / 2;
    half + half.mul_f64((random() >> 11) as f64 / (1_u64 << 53) as f64)
}

/// A number that nobody can foresee, from the standard library's random keys.
fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}
