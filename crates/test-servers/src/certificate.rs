//! A certificate for a test server, made by the command `openssl`.

use crate::keeper::program;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A self-signed certificate for 127.0.0.1, and its key.
pub(crate) struct Certificate {
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

impl Certificate {
    /// Creates both in a folder. `user` is the beginning of the command line, which sets the user.
    pub(crate) fn make(openssl: PathBuf, user: &[OsString], folder: &Path) -> Self {
        let (certificate, key) = (folder.join("certificate.pem"), folder.join("key.pem"));
        let mut command = user.to_vec();
        command.extend([openssl.into(), "req".into(), "-x509".into(), "-nodes".into()]);
        let kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-days", "2"];
        // Clients refuse a self-signed server certificate unless it says that it is not a CA.
        let subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"];
        let no_ca = ["-addext", "basicConstraints=critical,CA:FALSE"];
        command.extend(kind.into_iter().chain(subject).chain(no_ca).map(OsString::from));
        command.extend(["-out".into(), certificate.clone().into()]);
        command.extend(["-keyout".into(), key.clone().into()]);
        let output = Command::new(&command[0]).args(&command[1..]).output().expect("it starts");
        assert!(output.status.success(), "openssl: {}", String::from_utf8_lossy(&output.stderr));
        Self { certificate, key }
    }

    /// The path of `openssl`; `None` if it is not installed.
    pub(crate) fn openssl() -> Option<PathBuf> {
        program("openssl", &[], "openssl")
    }

    /// The root certificate that a client must trust, as PEM.
    pub(crate) fn root(&self) -> Vec<u8> {
        std::fs::read(&self.certificate).expect("openssl has made it")
    }
}
