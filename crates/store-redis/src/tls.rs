//! Encryption of connections: with the feature `tls`, if the URL has the scheme `rediss`.

use crate::error::store_error;
use crate::settings::{Builder, is_encrypted};
use redis::Client;
use wheelhouse_durable::store::StoreError;

#[cfg(not(feature = "tls"))]
pub(crate) fn client(_: &Builder, url: &str) -> Result<Client, StoreError> {
    if is_encrypted(url) {
        let why = "the URL asks for TLS: build with the feature `tls` of wheelhouse-store-redis \
                   (or of the command `wheelhouse`)";
        return Err(StoreError::Refused(why.into()));
    }
    Client::open(url).map_err(store_error)
}

#[cfg(feature = "tls")]
pub(crate) fn client(settings: &Builder, url: &str) -> Result<Client, StoreError> {
    // Fails if the program has installed another provider, which is then used.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = match &settings.roots {
        Some(roots) if is_encrypted(url) => {
            let root_cert = Some(roots.to_vec());
            Client::build_with_tls(url, redis::TlsCertificates { client_tls: None, root_cert })
        }
        _ => Client::open(url),
    };
    client.map_err(store_error)
}
