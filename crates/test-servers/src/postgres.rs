//! Starting a PostgreSQL.

use crate::certificate::Certificate;
use crate::keeper::{Keeper, folder, program};
use crate::{Server, free_port, skipped};
use std::ffi::OsString;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::{MetadataExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

pub(crate) fn server() -> Option<Server> {
    start(false).map(|(server, _)| server)
}

pub(crate) fn server_with_tls() -> Option<(Server, Vec<u8>)> {
    let (server, certificate) = start(true)?;
    Some((server, certificate?.root()))
}

fn start(with_tls: bool) -> Option<(Server, Option<Certificate>)> {
    let folders = installed();
    let both = program("initdb", &folders).zip(program("postgres", &folders));
    let Some((initdb, postgres)) = both else {
        skipped("PostgreSQL", "apt-get install postgresql");
        return None;
    };
    let folder = folder();
    let Some(user) = other_user(&folder) else {
        skipped("user postgres", "apt-get install postgresql, or run the tests as another user");
        std::fs::remove_dir(&folder).expect("an empty folder");
        return None;
    };
    let data = folder.join("data");
    initialise(&user, &initdb, &data);
    let port = free_port();
    let certificate = with_tls.then(|| Certificate::make(&user, &folder)).flatten();
    let mut command = user;
    command.extend([postgres.into(), "-D".into(), data.into()]);
    // After a crash it would else sync each of its thousand files by itself. Since PostgreSQL 14.
    command.extend(["-c", "recovery_init_sync_method=syncfs"].map(OsString::from));
    command.extend(["-h", "127.0.0.1", "-p", &port.to_string(), "-k", ""].map(OsString::from));
    if let Some(Certificate { certificate, key }) = &certificate {
        command.extend(["-c", "ssl=on"].map(OsString::from));
        for (setting, path) in [("ssl_cert_file", certificate), ("ssl_key_file", key)] {
            command.extend(["-c".into(), format!("{setting}={}", path.display()).into()]);
        }
    }
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    let server = Server { keeper: Keeper::new(folder, &command), address, answers };
    server.start();
    Some((server, certificate))
}

/// Where Debian keeps the programs that are not on the path, the newest version first.
fn installed() -> Vec<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut folders: Vec<_> = versions.map(|version| version.path().join("bin")).collect();
    folders.sort();
    folders.reverse();
    folders
}

/// Words before a command, so that it is not run as root; the folder belongs to that user then.
pub(crate) fn other_user(folder: &Path) -> Option<Vec<OsString>> {
    if std::fs::metadata(folder).expect("our folder").uid() != 0 {
        return Some(Vec::new());
    }
    let id = |option| {
        let output = Command::new("id").args([option, "postgres"]).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let (user, group) = id("-u").zip(id("-g"))?;
    chown(folder, user.parse().ok(), group.parse().ok()).expect("root may do it");
    let options = [format!("--reuid={user}"), format!("--regid={group}"), "--clear-groups".into()];
    let mut command = vec![OsString::from("setpriv")];
    command.extend(options.map(OsString::from));
    Some(command)
}

/// Makes the files of a new server, in about a second.
fn initialise(user: &[OsString], initdb: &Path, data: &Path) {
    let mut command = user.to_vec();
    command.extend([initdb.into(), "-D".into(), data.into()]);
    let options = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "-N"];
    command.extend(options.map(OsString::from));
    let output = Command::new(&command[0]).args(&command[1..]).output().expect("initdb starts");
    assert!(output.status.success(), "initdb: {}", String::from_utf8_lossy(&output.stderr));
}

/// Returns `true` if it takes a connection: a startup message, and the answer begins with `R`, a
/// request for authentication. While it still starts, that is an error, `E`.
pub(crate) fn answers(address: SocketAddr) -> bool {
    let answer = || {
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(Duration::from_secs(1)))?;
        let body = b"\0\x03\0\0user\0postgres\0\0";
        let length = u32::try_from(body.len() + 4).expect("short");
        stream.write_all(&[&length.to_be_bytes(), body.as_slice()].concat())?;
        let mut answer = [0; 1];
        stream.read_exact(&mut answer)?;
        Ok::<_, std::io::Error>(&answer == b"R")
    };
    answer().unwrap_or(false)
}
