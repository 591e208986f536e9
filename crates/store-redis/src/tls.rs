//! Encryption of connections: with the feature `tls`, if the URL has the scheme `rediss`.

use crate::error::store_error;
use crate::settings::Builder;
use redis::{Client, RedisError};
use wheelhouse_durable::store::StoreError;

/// Returns `true` if the URL asks for encryption.
pub(crate) fn is_asked_for(url: &str) -> bool {
    ["rediss://", "valkeys://"].iter().any(|scheme| url.starts_with(scheme))
}

#[cfg(not(feature = "tls"))]
pub(crate) fn client(_: &Builder, url: &str) -> Result<Client, StoreError> {
    if is_asked_for(url) {
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
        Some(roots) if is_asked_for(url) => {
            let root_cert = Some(roots.to_vec());
            Client::build_with_tls(url, redis::TlsCertificates { client_tls: None, root_cert })
        }
        _ => Client::open(url),
    };
    client.map_err(store_error)
}

/// Returns `true` if the server's certificate was not accepted. A retry does not help.
pub(crate) fn is_untrusted(error: &RedisError) -> bool {
    #[cfg(feature = "tls")]
    {
        use std::error::Error;
        let source = error.source().and_then(|source| source.downcast_ref());
        let io = source.and_then(|source: &std::sync::Arc<dyn Error + Send + Sync>| {
            source.downcast_ref::<std::io::Error>()
        });
        io.and_then(std::io::Error::get_ref).is_some_and(|inner| inner.is::<rustls::Error>())
    }
    #[cfg(not(feature = "tls"))]
    {
        let _ = error;
        false
    }
}
