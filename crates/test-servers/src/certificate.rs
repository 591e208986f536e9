//! A certificate for a server of a test, by the command `openssl`.

use crate::keeper::program;
use crate::skipped;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A certificate of 127.0.0.1 that nobody has signed but itself, and its key.
pub(crate) struct Certificate {
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

impl Certificate {
    /// Makes both in a folder, by a command that begins with `user`; `None`, and a line on standard
    /// error, if there is no `openssl`.
    pub(crate) fn make(user: &[OsString], folder: &Path) -> Option<Self> {
        let Some(openssl) = program("openssl", &[]) else {
            skipped("openssl", "apt-get install openssl");
            return None;
        };
        let (certificate, key) = (folder.join("certificate.pem"), folder.join("key.pem"));
        let mut command = user.to_vec();
        command.extend([openssl.into(), "req".into(), "-x509".into(), "-nodes".into()]);
        let kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-days", "2"];
        // A root that is a server, too, is refused by clients unless it says that it is no root.
        let whose = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"];
        let no_root = ["-addext", "basicConstraints=critical,CA:FALSE"];
        command.extend(kind.into_iter().chain(whose).chain(no_root).map(OsString::from));
        command.extend(["-out".into(), certificate.clone().into()]);
        command.extend(["-keyout".into(), key.clone().into()]);
        let output = Command::new(&command[0]).args(&command[1..]).output().expect("it starts");
        assert!(output.status.success(), "openssl: {}", String::from_utf8_lossy(&output.stderr));
        Some(Self { certificate, key })
    }

    /// What a client is to trust, as PEM.
    pub(crate) fn root(&self) -> Vec<u8> {
        std::fs::read(&self.certificate).expect("openssl has made it")
    }
}
