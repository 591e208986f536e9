//! Settings of a store.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tokio_postgres::Config;
use tokio_postgres::config::SslMode;
use wheelhouse_durable::store::{StoreError, Timestamp};

type Now = dyn Fn() -> Timestamp + Send + Sync;

/// Configures and connects a [`PostgresStore`](crate::PostgresStore): see
/// [`PostgresStore::builder`](crate::PostgresStore::builder).
#[derive(Clone)]
#[must_use = "nothing is connected before `connect`"]
pub struct Builder {
    pub(crate) config: Config,
    pub(crate) queue: String,
    pub(crate) timeout: Duration,
    pub(crate) unchecked: bool,
    pub(crate) only_reads: bool,
    /// As PEM; `None` for the machine's roots.
    #[cfg(feature = "tls")]
    pub(crate) roots: Option<Arc<[u8]>>,
    pub(crate) clock: Option<Arc<Now>>,
}

impl Builder {
    pub(crate) fn new(mut config: Config, queue: &str) -> Self {
        if config.get_ssl_mode() != SslMode::Require {
            // `prefer` would refuse a server with a self-signed certificate, as on Debian.
            config.ssl_mode(SslMode::Disable);
        }
        Self {
            config,
            queue: queue.to_owned(),
            timeout: Duration::from_secs(10),
            unchecked: false,
            only_reads: false,
            #[cfg(feature = "tls")]
            roots: None,
            clock: None,
        }
    }

    /// Sets how long a call waits for the server before it fails: 10 seconds by default.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Connects even if the server may lose what it has acknowledged (`fsync` or
    /// `full_page_writes` off): for trials.
    pub fn unchecked(mut self) -> Self {
        self.unchecked = true;
        self
    }

    /// Trusts a server whose certificate one of these roots has signed, instead of the machine's
    /// roots: PEM, one or several. For `sslmode=require`.
    #[cfg(feature = "tls")]
    pub fn root_certificates(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.roots = Some(pem.into().into());
        self
    }

    /// Sets a clock to use instead of the server's: for tests.
    pub fn clock(mut self, clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        self.clock = Some(Arc::new(clock));
        self
    }

    pub(crate) fn checked(self) -> Result<Self, StoreError> {
        if self.queue.is_empty() || self.queue.len() > 512 || self.queue.contains('\0') {
            let why = "the name of a queue must have 1 to 512 bytes, none of them zero";
            return Err(StoreError::Refused(why.into()));
        }
        if self.timeout.is_zero() {
            let why = "`timeout` of zero: leave it out for 10 seconds, or set a longer one";
            return Err(StoreError::Refused(why.into()));
        }
        #[cfg(feature = "tls")]
        if self.roots.is_some() && self.config.get_ssl_mode() != SslMode::Require {
            let why = "root certificates need encryption: add `sslmode=require` to the URL";
            return Err(StoreError::Refused(why.into()));
        }
        Ok(self)
    }

    /// Fails if the store is connected to read.
    pub(crate) fn may_write(&self) -> Result<(), StoreError> {
        if self.only_reads {
            return Err(StoreError::Refused("connected to read: connect to write".into()));
        }
        Ok(())
    }

    /// The time of the clock that replaces the server's, as a parameter of statements.
    pub(crate) fn now(&self) -> Option<i64> {
        self.clock.as_ref().map(|now| now().as_millis().cast_signed())
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The configuration shows no password.
        let Self { config, queue, timeout, unchecked, .. } = self;
        let mut all = f.debug_struct("Builder");
        all.field("config", config).field("queue", queue).field("timeout", timeout);
        all.field("unchecked", unchecked).finish_non_exhaustive()
    }
}
