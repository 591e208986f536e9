//! Settings of a store.

use std::time::Duration;
use wheelhouse_durable::store::{StoreError, Timestamp};

/// Configures and connects a [`RedisStore`](crate::RedisStore): see
/// [`RedisStore::builder`](crate::RedisStore::builder).
#[derive(Clone)]
#[must_use = "nothing is connected before `connect`"]
pub struct Builder {
    pub(crate) url: String,
    /// Further addresses of the same data.
    pub(crate) more: Vec<String>,
    /// The addresses of Sentinels.
    pub(crate) sentinels: Vec<String>,
    pub(crate) queue: String,
    pub(crate) timeout: Duration,
    pub(crate) unchecked: bool,
    pub(crate) only_reads: bool,
    /// As PEM; `None` for the machine's roots.
    #[cfg(feature = "tls")]
    pub(crate) roots: Option<std::sync::Arc<[u8]>>,
    pub(crate) clock: Option<std::sync::Arc<Now>>,
}

impl Builder {
    pub(crate) fn new(url: &str, queue: &str) -> Self {
        Self {
            url: url.to_owned(),
            more: Vec::new(),
            sentinels: Vec::new(),
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

    /// Adds addresses of the same data, as URLs: a primary and its replicas, or nodes of a cluster.
    /// Each new connection uses the first server that answers and is a primary (`ROLE`), so the
    /// store follows when a replica is promoted.
    ///
    /// ```no_run
    /// use wheelhouse_store_redis::RedisStore;
    ///
    /// let store = RedisStore::builder("redis://a.example/", "orders")
    ///     .also(["redis://b.example/", "redis://c.example/"])
    ///     .connect()?;
    /// # Ok::<(), wheelhouse_durable::store::StoreError>(())
    /// ```
    pub fn also<U: Into<String>>(mut self, urls: impl IntoIterator<Item = U>) -> Self {
        self.more.extend(urls.into_iter().map(Into::into));
        self
    }

    /// Adds Sentinels. Each new connection asks them, in order, for the primary. The host of the
    /// store's URL is then the name by which they know the primary. User, password, database and
    /// encryption of that URL are for the servers.
    ///
    /// ```no_run
    /// use wheelhouse_store_redis::RedisStore;
    ///
    /// let store = RedisStore::builder("redis://:secret@shop/", "orders")
    ///     .sentinels(["redis://a.example:26379/", "redis://b.example:26379/"])
    ///     .connect()?;
    /// # Ok::<(), wheelhouse_durable::store::StoreError>(())
    /// ```
    pub fn sentinels<U: Into<String>>(mut self, urls: impl IntoIterator<Item = U>) -> Self {
        self.sentinels.extend(urls.into_iter().map(Into::into));
        self
    }

    /// Connects even if the server may lose what it has acknowledged, or does not say whether it
    /// may: for trials, and for managed servers that forbid `CONFIG`.
    pub fn unchecked(mut self) -> Self {
        self.unchecked = true;
        self
    }

    /// Trusts a server whose certificate one of these roots has signed, instead of the machine's
    /// roots: PEM, one or several. For `rediss://`.
    #[cfg(feature = "tls")]
    pub fn root_certificates(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.roots = Some(pem.into().into());
        self
    }

    /// Sets a clock to use instead of the server's: for tests.
    pub fn clock(mut self, clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        self.clock = Some(std::sync::Arc::new(clock));
        self
    }

    pub(crate) fn checked(self) -> Result<Self, StoreError> {
        if self.queue.is_empty() || self.queue.contains(['{', '}']) {
            let why = "the name of a queue must not be empty or have braces, which Redis parses";
            return Err(StoreError::Refused(why.into()));
        }
        if self.timeout.is_zero() {
            let why = "`timeout` of zero: leave it out for 10 seconds, or set a longer one";
            return Err(StoreError::Refused(why.into()));
        }
        #[cfg(feature = "tls")]
        if self.roots.is_some() && !is_encrypted(&self.url) {
            let why = "root certificates need encryption: write rediss:// in the URL";
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

    /// The argument for the scripts: the time in milliseconds, or empty for the server's clock.
    pub(crate) fn now(&self) -> String {
        self.clock.as_ref().map_or_else(String::new, |now| now().as_millis().to_string())
    }
}

impl std::fmt::Debug for Builder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The URL may have a password.
        let Self { queue, timeout, unchecked, .. } = self;
        let mut all = f.debug_struct("Builder");
        all.field("queue", queue).field("timeout", timeout);
        all.field("unchecked", unchecked).finish_non_exhaustive()
    }
}

type Now = dyn Fn() -> Timestamp + Send + Sync;

pub(crate) fn is_encrypted(url: &str) -> bool {
    ["rediss://", "valkeys://"].iter().any(|scheme| url.starts_with(scheme))
}

#[cfg(test)]
mod tests {
    use crate::RedisStore;
    use std::time::Duration;
    use wheelhouse_durable::store::StoreError;

    #[test]
    fn a_setting_that_cannot_be_used_is_refused() {
        for (queue, seconds, cause) in [("", 1, "the name"), ("a{b", 1, "braces"), ("a", 0, "zero")]
        {
            let builder = RedisStore::builder("redis://localhost/", queue);
            let error = builder.timeout(Duration::from_secs(seconds)).connect_later().unwrap_err();
            assert!(matches!(&error, StoreError::Refused(why) if why.contains(cause)), "{error}");
        }
    }
}
