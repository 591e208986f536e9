//! A certificate for a test server, made by the command `openssl`.

use crate::keeper::{run, text};
use std::path::Path;

/// Creates a self-signed certificate for 127.0.0.1, and its key, in a folder. `user` is the
/// beginning of the command line, which sets the user. Returns the two paths, and the root
/// certificate that a client must trust, as PEM.
pub(crate) fn make(openssl: String, user: &[String], folder: &Path) -> ([String; 2], Vec<u8>) {
    let files = ["certificate.pem", "key.pem"].map(|name| text(&folder.join(name)));
    let kind = "req -x509 -nodes -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -days 2";
    // Clients refuse a self-signed server certificate unless it says that it is not a CA.
    let subject = "-subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 \
                   -addext basicConstraints=critical,CA:FALSE";
    let [certificate, key] = files.clone();
    let mut command = [user, &[openssl]].concat();
    command.extend(kind.split(' ').chain(subject.split(' ')).map(String::from));
    command.extend(["-out".into(), certificate, "-keyout".into(), key]);
    run(&command);
    let root = std::fs::read(&files[0]).expect("openssl has made it");
    (files, root)
}
