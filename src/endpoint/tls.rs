//! TLS, with the certificate verified or not.
//!
//! The kubelet skips verification for `scheme: HTTPS` probes, since operators serve self-signed certificates for names
//! that are not their address; so does a check here. Metrics, for which a token may be sent, are verified unless the
//! configuration says otherwise.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};
use tokio_rustls::rustls::pki_types::pem::{self, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, InvalidDnsNameError, ServerName, UnixTime};
use tokio_rustls::rustls::{self, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

/// Why there is no TLS connection.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The host can be no name in TLS.
    #[error("the host is no name that TLS knows")]
    Name(#[source] InvalidDnsNameError),
    /// No common version.
    #[error("cannot set up TLS")]
    Setup(#[source] rustls::Error),
    /// The other side refused, or speaks no TLS.
    #[error("the handshake failed")]
    Handshake(#[source] io::Error),
    /// A file with certificates that holds none.
    #[error("cannot read certificates from {}", path.display())]
    Certificates {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: pem::Error,
    },
    /// Nothing can be verified.
    #[error("no certificate to trust in {from}")]
    NoCertificate {
        /// Where they were looked for.
        from: String,
    },
}

/// Which certificates are trusted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Trust {
    /// Any, as the kubelet does.
    Any,
    /// Those that the system trusts.
    #[default]
    System,
    /// Those that stand in a PEM file, read anew for every connection.
    File(PathBuf),
}

impl Trust {
    /// The roots; none where nothing is verified.
    fn roots(&self) -> Result<Option<RootCertStore>, Error> {
        let (found, from) = match self {
            Self::Any => return Ok(None),
            Self::System => (rustls_native_certs::load_native_certs().certs, "the system's store".to_owned()),
            Self::File(path) => {
                let failed = |source| Error::Certificates { path: path.clone(), source };
                let read = CertificateDer::pem_file_iter(path).map_err(failed)?;
                (read.collect::<Result<_, _>>().map_err(failed)?, path.display().to_string())
            }
        };
        let mut roots = RootCertStore::empty();
        let (added, _) = roots.add_parsable_certificates(found);
        if added == 0 { Err(Error::NoCertificate { from }) } else { Ok(Some(roots)) }
    }
}

/// Speaks TLS on `stream`.
pub(super) async fn connect(host: &str, stream: TcpStream, trust: &Trust) -> Result<TlsStream<TcpStream>, Error> {
    let name = ServerName::try_from(host.to_owned()).map_err(Error::Name)?;
    let provider = Arc::new(ring::default_provider());
    let config = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(Error::Setup)?;
    let config = match trust.roots()? {
        Some(roots) => config.with_root_certificates(roots),
        None => config.dangerous().with_custom_certificate_verifier(Arc::new(AnyCertificate(provider))),
    }
    .with_no_client_auth();
    TlsConnector::from(Arc::new(config)).connect(name, stream).await.map_err(Error::Handshake)
}

#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
