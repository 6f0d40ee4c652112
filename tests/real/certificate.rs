//! The keys of a test's API server.

use std::path::Path;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose};

/// Writes `ca.crt`, the server's `tls.crt` and `tls.key`, and the pair that signs service account tokens, `sa.key` and
/// `sa.pub`. EC P-256 throughout: made in no time.
pub(crate) fn write_all(folder: &Path) {
    let write = |name: &str, pem: String| std::fs::write(folder.join(name), pem).expect("the folder can be written to");

    let ca_key = KeyPair::generate().expect("a key");
    let mut ca = CertificateParams::new(Vec::new()).expect("no names");
    ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    // Python refuses an authority without it, and a certificate that does not name its authority's key, from 3.13 on.
    ca.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    ca.distinguished_name.push(DnType::CommonName, "test CA");
    write("ca.crt", ca.self_signed(&ca_key).expect("a certificate").pem());

    let key = KeyPair::generate().expect("a key");
    let mut server = CertificateParams::new(["127.0.0.1".to_owned(), "localhost".to_owned()]).expect("two names");
    server.use_authority_key_identifier_extension = true;
    let certificate = server.signed_by(&key, &Issuer::new(ca, ca_key)).expect("a certificate");
    write("tls.crt", certificate.pem());
    write("tls.key", key.serialize_pem());

    let tokens = KeyPair::generate().expect("a key");
    write("sa.key", tokens.serialize_pem());
    write("sa.pub", tokens.public_key_pem());
}
