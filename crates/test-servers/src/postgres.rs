//! Starts a PostgreSQL, and a pooler in front of it.

use crate::keeper::{folder, program, run, text};
use crate::{Protocol, Server, certificate, free_port};
use std::os::unix::fs::{MetadataExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

impl Server {
    /// Starts a PostgreSQL with the user `postgres`, who needs no password, and a database of that
    /// name.
    #[must_use]
    pub fn postgres() -> Option<Self> {
        Self::postgres_with_encoding("UTF8")
    }

    /// The same, whose databases have this encoding, such as `SQL_ASCII` or `LATIN1`.
    #[must_use]
    pub fn postgres_with_encoding(encoding: &str) -> Option<Self> {
        Some(ServerFiles::initialized(encoding)?.start(&[]))
    }

    /// The same with TLS. Also returns the root certificate that a client must trust, as PEM.
    /// `None` also if `openssl` is not installed.
    #[must_use]
    pub fn postgres_with_tls() -> Option<(Self, Vec<u8>)> {
        let openssl = program("openssl", &[], "openssl")?;
        let files = ServerFiles::initialized("UTF8")?;
        let (made, root) = certificate::make(openssl, &files.user, &files.folder);
        let [certificate, key] =
            [format!("ssl_cert_file={}", made[0]), format!("ssl_key_file={}", made[1])];
        Some((files.start(&["ssl=on", &certificate, &key]), root))
    }

    /// Starts a standby of a PostgreSQL. It streams the commits of the primary and answers queries.
    /// `SELECT pg_promote()` makes it a primary.
    #[must_use]
    pub fn postgres_standby(primary: &Self) -> Option<Self> {
        let files = ServerFiles::find()?;
        let host = primary.address.ip().to_string();
        let port = primary.address.port().to_string();
        // `-R` writes the settings of a standby.
        let options = ["-R", "-c", "fast", "-U", "postgres", "-h", &host, "-p", &port];
        files.run("pg_basebackup", &options);
        Some(files.start(&[]))
    }

    /// Starts a pgbouncer, a connection pooler, in front of a PostgreSQL, with a mode
    /// (`transaction` or `session`) and at most this number of sessions for each database. It maps
    /// every user to `postgres`.
    #[must_use]
    pub fn pgbouncer(behind: &Self, mode: &str, sessions: usize) -> Option<Self> {
        let pgbouncer = program("pgbouncer", &["/usr/sbin".into()], "pgbouncer")?;
        let (folder, port) = (folder(), free_port());
        // pgbouncer refuses to run as root, as PostgreSQL does.
        let mut command = other_user(&folder);
        let (host, behind) = (behind.address.ip(), behind.address.port());
        let settings = format!(
            "[databases]\n* = host={host} port={behind} user=postgres\n[pgbouncer]\n\
             listen_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = any\n\
             pool_mode = {mode}\ndefault_pool_size = {sessions}\nserver_login_retry = 1\n"
        );
        let file = folder.join("pgbouncer.ini");
        std::fs::write(&file, settings).expect("our folder");
        command.extend([pgbouncer, "-q".into(), text(&file)]);
        Some(Self::run((folder, port), &command, Protocol::Postgres))
    }
}

/// A server that is not started yet.
struct ServerFiles {
    folder: PathBuf,
    /// The beginning of a command line, so that the command does not run as root.
    user: Vec<String>,
    programs: Vec<PathBuf>,
}

impl ServerFiles {
    /// `None` if PostgreSQL is not installed.
    fn find() -> Option<Self> {
        let programs = installed();
        program("initdb", &programs, "postgresql")?;
        let folder = folder();
        let user = other_user(&folder);
        Some(Self { folder, user, programs })
    }

    fn initialized(encoding: &str) -> Option<Self> {
        let files = Self::find()?;
        let options = ["-U", "postgres", "-A", "trust", "-E", encoding, "--no-locale", "-N"];
        files.run("initdb", &options);
        Some(files)
    }

    fn command(&self, name: &str) -> Vec<String> {
        let program = program(name, &self.programs, "postgresql").expect("PostgreSQL has it");
        [&self.user[..], &[program, "-D".into(), text(&self.folder.join("data"))]].concat()
    }

    /// Runs a program that creates the files of the server, which takes about a second.
    fn run(&self, name: &str, options: &[&str]) {
        let mut command = self.command(name);
        command.extend(options.iter().copied().map(String::from));
        run(&command);
    }

    fn start(self, settings: &[&str]) -> Server {
        let (mut command, port) = (self.command("postgres"), free_port());
        command.extend(["-h", "127.0.0.1", "-p", &port.to_string(), "-k", ""].map(String::from));
        // Without this setting it would sync each of its thousand files separately after a crash.
        // It exists since PostgreSQL 14.
        for setting in ["recovery_init_sync_method=syncfs"].iter().chain(settings) {
            command.extend(["-c", setting].map(String::from));
        }
        Server::run((self.folder, port), &command, Protocol::Postgres)
    }
}

/// The folders in which Debian puts the programs that are not in `PATH`, the newest version first.
fn installed() -> Vec<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut folders: Vec<_> = versions.map(|version| version.path().join("bin")).collect();
    folders.sort();
    folders.reverse();
    folders
}

/// The remedy if root has no other user for the server.
const NO_USER: &str =
    "no user `postgres`: apt-get install postgresql, or run the tests as another user";

/// The beginning of a command line, so that the command does not run as root. Gives the folder to
/// the user `postgres`, whom its package has created.
fn other_user(folder: &Path) -> Vec<String> {
    if std::fs::metadata(folder).expect("our folder").uid() != 0 {
        return Vec::new();
    }
    let id = |option| -> u32 {
        let output = Command::new("id").args([option, "postgres"]).output().expect("`id`");
        String::from_utf8_lossy(&output.stdout).trim().parse().expect(NO_USER)
    };
    let (user, group) = (id("-u"), id("-g"));
    chown(folder, Some(user), Some(group)).expect("root may do it");
    let (user, group) = (format!("--reuid={user}"), format!("--regid={group}"));
    vec!["setpriv".into(), user, group, "--clear-groups".into()]
}
