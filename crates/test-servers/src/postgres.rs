//! Starts a PostgreSQL.

use crate::certificate::Certificate;
use crate::keeper::{folder, program};
use crate::{Protocol, Server, free_port};
use std::ffi::OsString;
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
        let openssl = Certificate::openssl()?;
        let files = ServerFiles::initialized("UTF8")?;
        let certificate = Certificate::make(openssl, &files.user, &files.folder);
        let setting = |name, path: &Path| format!("{name}={}", path.display());
        let server = files.start(&[
            "ssl=on".into(),
            setting("ssl_cert_file", &certificate.certificate),
            setting("ssl_key_file", &certificate.key),
        ]);
        Some((server, certificate.root()))
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
}

/// A server that is not started yet.
struct ServerFiles {
    folder: PathBuf,
    /// The beginning of a command line, so that the command does not run as root.
    user: Vec<OsString>,
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

    fn command(&self, name: &str) -> Vec<OsString> {
        let program = program(name, &self.programs, "postgresql").expect("PostgreSQL has it");
        let mut command = self.user.clone();
        command.extend([program.into(), "-D".into(), self.folder.join("data").into()]);
        command
    }

    /// Runs a program that creates the files of the server, which takes about a second.
    fn run(&self, name: &str, options: &[&str]) {
        let command = self.command(name);
        let made = Command::new(&command[0]).args(&command[1..]).args(options).output();
        let made = made.expect("it starts");
        assert!(made.status.success(), "{name}: {}", String::from_utf8_lossy(&made.stderr));
    }

    fn start(self, settings: &[String]) -> Server {
        let (mut command, port) = (self.command("postgres"), free_port());
        command.extend(["-h", "127.0.0.1", "-p", &port.to_string(), "-k", ""].map(OsString::from));
        // Without this setting it would sync each of its thousand files separately after a crash.
        // It exists since PostgreSQL 14.
        let all = std::iter::once("recovery_init_sync_method=syncfs");
        for setting in all.chain(settings.iter().map(String::as_str)) {
            command.extend(["-c", setting].map(OsString::from));
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
pub(crate) fn other_user(folder: &Path) -> Vec<OsString> {
    if std::fs::metadata(folder).expect("our folder").uid() != 0 {
        return Vec::new();
    }
    let id = |option| -> u32 {
        let output = Command::new("id").args([option, "postgres"]).output().expect("`id`");
        String::from_utf8_lossy(&output.stdout).trim().parse().expect(NO_USER)
    };
    let (user, group) = (id("-u"), id("-g"));
    chown(folder, Some(user), Some(group)).expect("root may do it");
    let options = [format!("--reuid={user}"), format!("--regid={group}"), "--clear-groups".into()];
    let mut command = vec![OsString::from("setpriv")];
    command.extend(options.map(OsString::from));
    command
}
