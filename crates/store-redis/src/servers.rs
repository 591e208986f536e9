//! Finding the server that has the queue.
//!
//! A queue moves to another server when a replica is promoted, or a slot of a cluster moves. The
//! connections to the old server stay open, and it refuses their calls. So each new connection
//! looks for the server again: it resolves the names, asks the Sentinels, and asks each server for
//! its role.

use crate::error::{Result, connect_error, store_error, url_error};
use crate::settings::{Builder, is_encrypted};
use redis::{Client, ConnectionAddr, ErrorKind, RedisError, ServerErrorKind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use wheelhouse_durable::store::StoreError;

/// The servers of a queue, shared by the connections of a store.
pub(crate) struct Servers {
    /// A client with the user, the password and the encryption of the URL. The address may be
    /// replaced.
    template: Client,
    /// The addresses of the servers, or of the Sentinels, that the caller gave.
    given: Vec<Client>,
    /// The name by which Sentinels know the primary.
    watched: Option<String>,
    timeout: Duration,
    only_reads: bool,
    /// The server that had the queue last, or that another server has named.
    last: Mutex<Option<Client>>,
    /// The number of connections made.
    changes: AtomicU64,
}

impl Servers {
    pub(crate) fn new(settings: &Builder) -> Result<Self> {
        let template = client(settings, &settings.url)?;
        let more = settings.sentinels.iter().chain(&settings.more);
        let more: Result<Vec<_>, _> = more.map(|url| client(settings, url)).collect();
        let (mut given, mut watched) = (more?, None);
        if settings.sentinels.is_empty() {
            given.insert(0, template.clone());
        } else {
            watched = match template.get_connection_info().addr() {
                ConnectionAddr::Tcp(name, _) => Some(name.clone()),
                ConnectionAddr::TcpTls { host, .. } => Some(host.clone()),
                _ => {
                    let why = "Sentinels need no socket URL: write redis://NAME/ with the name \
                               by which they know the primary";
                    return Err(StoreError::Refused(why.into()));
                }
            };
        }
        let (timeout, only_reads) = (settings.timeout, settings.only_reads);
        let (last, changes) = (Mutex::new(None), AtomicU64::new(0));
        Ok(Self { template, given, watched, timeout, only_reads, last, changes })
    }

    /// Connects to the server that has the queue. Otherwise returns the error of the last attempt.
    pub(crate) fn connect(&self) -> Result<redis::Connection> {
        // The last server is tried first, and forgotten until it has shown that it still has the
        // queue.
        let last = self.lock().take();
        let mut answer = Err(StoreError::Unavailable("no server address is known".into()));
        // Each is determined only when the one before has failed.
        let others = self.given.iter().map(|given| match &self.watched {
            None => Ok(given.clone()),
            Some(name) => self.ask_sentinel(given, name),
        });
        for client in last.into_iter().map(Ok).chain(others) {
            answer = client.and_then(|client| Ok((self.try_one(&client)?, client)));
            match answer {
                Ok((connection, client)) => {
                    *self.lock() = Some(client);
                    self.changes.fetch_add(1, Ordering::Release);
                    return Ok(connection);
                }
                // A wrong password or certificate is an error of the caller, and is reported, even
                // if the next address might accept it.
                Err(error) if !error.is_transient() => return Err(error),
                Err(_) => {}
            }
        }
        answer.map(|(connection, _)| connection)
    }

    pub(crate) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    /// The server that had the queue last; `None` during a search for it.
    pub(crate) fn last(&self) -> Option<Client> {
        self.lock().clone()
    }

    /// Takes the address that a server of a cluster has named: `MOVED 3999 127.0.0.1:6381`.
    pub(crate) fn redirect(&self, error: &RedisError) {
        let named = match error.kind() {
            ErrorKind::Server(ServerErrorKind::Moved) => error.redirect_node(),
            _ => None,
        };
        let mut last = self.lock();
        // Without a host name, it is the host that has answered.
        let from = last.as_ref().unwrap_or(&self.template);
        let named = named.and_then(|(address, _)| address.rsplit_once(':'));
        *last = named.and_then(|(host, port)| at(from, host, port.parse().ok()?));
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Client>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The primary, according to a Sentinel.
    fn ask_sentinel(&self, sentinel: &Client, name: &str) -> Result<Client> {
        let mut connection = self.open(sentinel)?;
        let mut command = redis::cmd("SENTINEL");
        let command = command.arg("get-master-addr-by-name").arg(name);
        let found: Option<(String, u16)> = command.query(&mut connection).map_err(store_error)?;
        let (host, port) = found.ok_or_else(|| {
            StoreError::Refused(format!(
                "a Sentinel knows no primary `{name}`: write its name as the host of the URL"
            ))
        })?;
        let unreadable = || StoreError::Damaged("unreadable address from a Sentinel".into());
        at(&self.template, &host, port).ok_or_else(unreadable)
    }

    /// Opens a connection on which each answer may take this server's share of the timeout, so that
    /// silent servers do not use up the time of the others.
    fn open(&self, client: &Client) -> Result<redis::Connection> {
        let servers = u32::try_from(self.given.len()).unwrap_or(u32::MAX);
        let part = (self.timeout / servers.max(1)).max(Duration::from_millis(1));
        let connection = client.get_connection_with_timeout(part).map_err(connect_error)?;
        wait_at_most(&connection, part)?;
        Ok(connection)
    }

    fn try_one(&self, client: &Client) -> Result<redis::Connection> {
        let mut connection = self.open(client)?;
        // A server that still loads its files accepts connections, and refuses all commands.
        redis::cmd("PING").exec(&mut connection).map_err(store_error)?;
        if !self.only_reads && is_replica(&mut connection) {
            return Err(StoreError::Unavailable(
                "the server is a replica, which takes no jobs: name the primary, or several \
                 addresses that include it (`Builder::also`, `Builder::sentinels`)"
                    .into(),
            ));
        }
        wait_at_most(&connection, self.timeout)?;
        Ok(connection)
    }
}

fn wait_at_most(connection: &redis::Connection, timeout: Duration) -> Result<()> {
    connection.set_read_timeout(Some(timeout)).map_err(store_error)?;
    connection.set_write_timeout(Some(timeout)).map_err(store_error)
}

/// The same client with another address.
fn at(client: &Client, host: &str, port: u16) -> Option<Client> {
    let info = client.get_connection_info().clone();
    let address = match info.addr().clone() {
        ConnectionAddr::Tcp(old, _) => ConnectionAddr::Tcp(named(host, old), port),
        ConnectionAddr::TcpTls { host: old, insecure, tls_params, .. } => {
            let host = named(host, old);
            ConnectionAddr::TcpTls { host, port, insecure, tls_params }
        }
        _ => return None,
    };
    Client::open(info.set_addr(address)).ok()
}

fn named(new: &str, old: String) -> String {
    if new.is_empty() { old } else { new.trim_matches(['[', ']']).to_owned() }
}

/// Returns `true` for a replica outside of a cluster. In a cluster, a replica names the server that
/// has the queue, which the store follows.
fn is_replica(connection: &mut redis::Connection) -> bool {
    // A server that does not answer `ROLE` is taken for a primary: a replica would refuse writes.
    let role: Vec<redis::Value> = redis::cmd("ROLE").query(connection).unwrap_or_default();
    let role = role.first().and_then(|role| redis::from_redis_value_ref::<String>(role).ok());
    role.as_deref() == Some("slave")
        && redis::cmd("CLUSTER").arg("KEYSLOT").arg("a").exec(connection).is_err()
}

/// A client. With the feature `tls` it encrypts if the URL has the scheme `rediss`.
#[cfg(not(feature = "tls"))]
fn client(_: &Builder, url: &str) -> Result<Client> {
    if is_encrypted(url) {
        let why = "the URL asks for TLS: build with the feature `tls` of wheelhouse-store-redis \
                   (or of the command `wheelhouse`)";
        return Err(StoreError::Refused(why.into()));
    }
    Client::open(url).map_err(|error| url_error(&error))
}

#[cfg(feature = "tls")]
fn client(settings: &Builder, url: &str) -> Result<Client> {
    // Fails if the program has installed another provider, which is then used.
    let _ = rustls::crypto::ring::default_provider().install_default();
    match &settings.roots {
        Some(roots) if is_encrypted(url) => {
            let root_cert = Some(roots.to_vec());
            let certificates = redis::TlsCertificates { client_tls: None, root_cert };
            Client::build_with_tls(url, certificates).map_err(store_error)
        }
        _ => Client::open(url).map_err(|error| url_error(&error)),
    }
}
