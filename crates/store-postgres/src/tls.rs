//! Encryption of connections: with the feature `tls`, if the URL has `sslmode=require`.

use crate::error::Result;
use crate::settings::Builder;
use tokio_postgres::config::SslMode;
use wheelhouse_durable::store::StoreError;

#[cfg(not(feature = "tls"))]
pub(crate) type Tls = tokio_postgres::NoTls;

#[cfg(feature = "tls")]
pub(crate) type Tls = tokio_postgres_rustls::MakeRustlsConnect;

#[cfg(not(feature = "tls"))]
pub(crate) fn connector(settings: &Builder) -> Result<Tls> {
    if settings.config.get_ssl_mode() == SslMode::Require {
        let why = "sslmode=require asks for TLS: build with the feature `tls` of \
                   wheelhouse-store-postgres (or of the command `wheelhouse`)";
        return Err(StoreError::Refused(why.into()));
    }
    Ok(tokio_postgres::NoTls)
}

/// Trusts the given roots, or otherwise those of the machine. The latter are read at each
/// connection, so that changes take effect.
#[cfg(feature = "tls")]
pub(crate) fn connector(settings: &Builder) -> Result<Tls> {
    use rustls::pki_types::{CertificateDer, pem::PemObject};
    use rustls::{ClientConfig, RootCertStore, crypto::ring};

    let mut roots = RootCertStore::empty();
    match &settings.roots {
        Some(pem) => {
            for root in CertificateDer::pem_slice_iter(pem) {
                let refused = |error: &dyn std::fmt::Display| {
                    StoreError::Refused(format!("the root certificates: {error}"))
                };
                let root = root.map_err(|error| refused(&error))?;
                roots.add(root).map_err(|error| refused(&error))?;
            }
            if roots.is_empty() {
                return Err(StoreError::Refused("no root certificate in the PEM".into()));
            }
        }
        None if settings.config.get_ssl_mode() == SslMode::Require => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
        // Without encryption no certificate is checked.
        None => {}
    }
    let unusable = |error| StoreError::Refused(format!("TLS: {error}"));
    let config = ClientConfig::builder_with_provider(ring::default_provider().into())
        .with_safe_default_protocol_versions()
        .map_err(unusable)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Tls::new(config))
}
