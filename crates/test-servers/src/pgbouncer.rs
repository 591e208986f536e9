//! Starts a pgbouncer, a connection pooler, in front of a PostgreSQL.

use crate::keeper::{Keeper, folder, program};
use crate::{Server, free_port, postgres, skipped};
use std::ffi::OsString;
use std::net::SocketAddr;

pub(crate) fn server(behind: SocketAddr, mode: &str, sessions: usize) -> Option<Server> {
    let Some(pgbouncer) = program("pgbouncer", &["/usr/sbin".into()]) else {
        skipped("pgbouncer", "apt-get install pgbouncer");
        return None;
    };
    let (folder, port) = (folder(), free_port());
    // pgbouncer refuses to run as root, as PostgreSQL does.
    let mut command = postgres::other_user(&folder)?;
    let (host, behind) = (behind.ip(), behind.port());
    let settings = format!(
        "[databases]\n* = host={host} port={behind} user=postgres\n[pgbouncer]\n\
         listen_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = any\n\
         pool_mode = {mode}\ndefault_pool_size = {sessions}\nserver_login_retry = 1\n"
    );
    let file = folder.join("pgbouncer.ini");
    std::fs::write(&file, settings).expect("our folder");
    command.extend([pgbouncer.into(), OsString::from("-q"), file.into()]);
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    let answers = postgres::answers;
    let server = Server { keeper: Keeper::new(folder, &command), address, answers };
    server.start();
    Some(server)
}
