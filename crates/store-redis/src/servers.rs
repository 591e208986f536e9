//! The server that has the queue: found by the addresses of the caller, and the answers of servers.
//!
//! A queue moves to another server when a replica is promoted, or a slot of a cluster moves. The
//! connections to the old server stay open, and it refuses what they ask for. So each new
//! connection looks for the server again: it resolves the names, asks the Sentinels, and asks each
//! server for its role.

use crate::error::store_error;
use crate::settings::Builder;
use crate::tls;
use redis::{Client, ConnectionAddr, ErrorKind, RedisError, ServerErrorKind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use wheelhouse_durable::store::StoreError;

/// The servers of a queue, shared by the connections of a store.
pub(crate) struct Servers {
    /// With the user, the password and the encryption of the URL; the address may be another's.
    template: Client,
    /// The addresses that the caller gave, or of the Sentinels.
    given: Vec<Client>,
    /// The name by which Sentinels know the primary.
    watched: Option<String>,
    timeout: Duration,
    only_reads: bool,
    /// The server that had the queue last, or that another one has named.
    last: Mutex<Option<Client>>,
    /// How many connections were made.
    changes: AtomicU64,
}

impl Servers {
    pub(crate) fn new(settings: &Builder) -> Result<Self, StoreError> {
        let template = tls::client(settings, &settings.url)?;
        let more = settings.sentinels.iter().chain(&settings.more);
        let more: Result<Vec<_>, _> = more.map(|url| tls::client(settings, url)).collect();
        let (mut given, mut watched) = (more?, None);
        if settings.sentinels.is_empty() {
            given.insert(0, template.clone());
        } else {
            watched = match template.get_connection_info().addr() {
                ConnectionAddr::Tcp(name, _) => Some(name.clone()),
                ConnectionAddr::TcpTls { host, .. } => Some(host.clone()),
                _ => {
                    let why = "Sentinels, and a URL of a socket: write redis://NAME/ with the \
                               name by which they know the primary";
                    return Err(StoreError::Refused(why.into()));
                }
            };
        }
        let (timeout, only_reads) = (settings.timeout, settings.only_reads);
        let (last, changes) = (Mutex::new(None), AtomicU64::new(0));
        Ok(Self { template, given, watched, timeout, only_reads, last, changes })
    }

    /// Connects to the server that has the queue; the error of the last that was tried.
    pub(crate) fn connect(&self) -> Result<redis::Connection, StoreError> {
        // A server that was right once is forgotten until it has shown that it still is.
        let last = self.lock().take();
        let mut answer = Err(StoreError::Unavailable("no address of a server".into()));
        for client in last.into_iter().map(Ok).chain(self.candidates()) {
            answer = client.and_then(|client| Ok((self.try_one(&client)?, client)));
            match answer {
                Ok((connection, client)) => {
                    *self.lock() = Some(client);
                    self.changes.fetch_add(1, Ordering::Release);
                    return Ok(connection);
                }
                // The next address may have another password or certificate. But a wrong one is an
                // error of the caller, and is reported.
                Err(error) if !error.is_transient() => return Err(error),
                Err(_) => {}
            }
        }
        answer.map(|(connection, _)| connection)
    }

    /// How many connections were made.
    pub(crate) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    /// The server that had the queue last; `None` while it is looked for.
    pub(crate) fn last(&self) -> Option<Client> {
        self.lock().clone()
    }

    /// Takes the address that a server of a cluster named: `MOVED 3999 127.0.0.1:6381`.
    pub(crate) fn redirect(&self, error: &RedisError) {
        let named = match error.kind() {
            ErrorKind::Server(ServerErrorKind::Moved) => error.redirect_node(),
            _ => None,
        };
        let mut last = self.lock();
        // No name of a host means the host that has answered.
        let from = last.as_ref().unwrap_or(&self.template);
        let named = named.and_then(|(address, _)| address.rsplit_once(':'));
        *last = named.and_then(|(host, port)| at(from, host, port.parse().ok()?));
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Client>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The addresses that may have the queue, each asked for when the one before has failed.
    fn candidates(&self) -> impl Iterator<Item = Result<Client, StoreError>> {
        self.given.iter().map(|given| match &self.watched {
            None => Ok(given.clone()),
            Some(name) => self.ask_sentinel(given, name),
        })
    }

    /// The primary as a Sentinel knows it.
    fn ask_sentinel(&self, sentinel: &Client, name: &str) -> Result<Client, StoreError> {
        let mut connection = self.open(sentinel)?;
        let mut command = redis::cmd("SENTINEL");
        let command = command.arg("get-master-addr-by-name").arg(name);
        let found: Option<(String, u16)> = command.query(&mut connection).map_err(store_error)?;
        let (host, port) = found.ok_or_else(|| {
            StoreError::Refused(format!(
                "a Sentinel knows no primary `{name}`: write its name as the host of the URL"
            ))
        })?;
        let unreadable = || StoreError::Damaged("an address of a Sentinel".into());
        at(&self.template, &host, port).ok_or_else(unreadable)
    }

    /// Opens a connection on which each answer may take this server's part of the timeout, so that
    /// servers that are silent do not use up the time for those that answer.
    fn open(&self, client: &Client) -> Result<redis::Connection, StoreError> {
        let servers = u32::try_from(self.given.len()).unwrap_or(u32::MAX);
        let part = (self.timeout / servers.max(1)).max(Duration::from_millis(1));
        let connection = client.get_connection_with_timeout(part).map_err(store_error)?;
        wait_at_most(&connection, part)?;
        Ok(connection)
    }

    fn try_one(&self, client: &Client) -> Result<redis::Connection, StoreError> {
        let mut connection = self.open(client)?;
        // A server that still reads its files takes connections, and refuses all else.
        redis::cmd("PING").exec(&mut connection).map_err(store_error)?;
        if !self.only_reads && is_replica(&mut connection) {
            return Err(StoreError::Unavailable(
                "the server is a replica, which takes no jobs: name the primary, or several \
                 addresses of which it is one (`Builder::also`, `Builder::sentinels`)"
                    .into(),
            ));
        }
        wait_at_most(&connection, self.timeout)?;
        Ok(connection)
    }
}

fn wait_at_most(connection: &redis::Connection, timeout: Duration) -> Result<(), StoreError> {
    connection.set_read_timeout(Some(timeout)).map_err(store_error)?;
    connection.set_write_timeout(Some(timeout)).map_err(store_error)
}

/// The same client for another address.
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

/// Returns `true` for a replica outside of a cluster. In a cluster a replica names the server that
/// has the queue.
fn is_replica(connection: &mut redis::Connection) -> bool {
    // A server that does not tell is taken for a primary: it refuses what it cannot do.
    let role: Vec<redis::Value> = redis::cmd("ROLE").query(connection).unwrap_or_default();
    let role = role.first().and_then(|role| redis::from_redis_value_ref::<String>(role).ok());
    role.as_deref() == Some("slave")
        && redis::cmd("CLUSTER").arg("KEYSLOT").arg("a").exec(connection).is_err()
}
