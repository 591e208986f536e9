//! Starts a pgbouncer, a connection pooler, in front of a PostgreSQL.

use crate::keeper::{folder, program};
use crate::{Protocol, Server, free_port, postgres};
use std::ffi::OsString;

impl Server {
    /// Starts a pgbouncer in front of a PostgreSQL, with a mode (`transaction` or `session`) and at
    /// most this number of sessions for each database. It maps every user to `postgres`.
    #[must_use]
    pub fn pgbouncer(behind: &Self, mode: &str, sessions: usize) -> Option<Self> {
        let pgbouncer = program("pgbouncer", &["/usr/sbin".into()], "pgbouncer")?;
        let (folder, port) = (folder(), free_port());
        // pgbouncer refuses to run as root, as PostgreSQL does.
        let mut command = postgres::other_user(&folder);
        let (host, behind) = (behind.address.ip(), behind.address.port());
        let settings = format!(
            "[databases]\n* = host={host} port={behind} user=postgres\n[pgbouncer]\n\
             listen_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = any\n\
             pool_mode = {mode}\ndefault_pool_size = {sessions}\nserver_login_retry = 1\n"
        );
        let file = folder.join("pgbouncer.ini");
        std::fs::write(&file, settings).expect("our folder");
        command.extend([pgbouncer.into(), OsString::from("-q"), file.into()]);
        Some(Self::run((folder, port), &command, Protocol::Postgres))
    }
}
