//! The operator's Lease: who holds it, and whether that one still renews it.
//!
//! Its times are stamped by the holder's clock, so only that `renewTime` changes is of use; client-go judges leases in
//! the same way.

use std::time::Duration;

use serde::Deserialize;
use twox_hash::XxHash3_64;

use super::access::{self, Found};
use super::discover::Resource;
use super::request::{Client, ServerTime};

/// A Lease has a few hundred bytes; managedFields and annotations may add some.
const MAX_BYTES: usize = 1024 * 1024;

/// What client-go and controller-runtime take where `leaseDurationSeconds` is not written.
const DEFAULT_DURATION: Duration = Duration::from_secs(15);

/// A Lease as it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// `spec.holderIdentity`; empty where nobody holds it.
    pub holder: String,
    /// Changes its value whenever the lease is renewed.
    pub renewal: u64,
    /// `spec.leaseDurationSeconds`.
    pub duration: Duration,
}

/// Why there is no Lease to judge by.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It could not be read.
    #[error(transparent)]
    Access(#[from] access::Error),
    /// What was read is no Lease.
    #[error("the answer for lease {name} is no Lease")]
    Decode {
        /// `namespace/name`.
        name: String,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
}

#[derive(Deserialize)]
struct Raw {
    #[serde(default)]
    spec: Spec,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    holder_identity: Option<String>,
    lease_duration_seconds: Option<u64>,
    renew_time: Option<String>,
}

/// The resource `leases`.
fn resource() -> Resource {
    Resource {
        group: "coordination.k8s.io".to_owned(),
        version: "v1".to_owned(),
        kind: "Lease".to_owned(),
        plural: "leases".to_owned(),
        singular: "lease".to_owned(),
        short_names: Vec::new(),
        categories: Vec::new(),
        namespaced: true,
        verbs: Vec::new(),
        has_status: false,
    }
}

/// Reads a Lease; `None` where there is none. The API server's clock comes along.
///
/// # Errors
/// When it cannot be read, which says nothing about its holder.
pub async fn read(client: &Client, namespace: &str, name: &str) -> Result<(Option<Lease>, Option<ServerTime>), Error> {
    match access::read(client, &resource(), Some(namespace), name, MAX_BYTES).await? {
        Found::Nothing => Ok((None, None)),
        Found::Object(json, server) => {
            let decode = |source| Error::Decode { name: format!("{namespace}/{name}"), source };
            Ok((Some(Lease::parse(&json).map_err(decode)?), server))
        }
    }
}

impl Lease {
    fn parse(json: &[u8]) -> Result<Self, serde_json::Error> {
        let Raw { spec } = serde_json::from_slice(json)?;
        let holder = spec.holder_identity.unwrap_or_default();
        let renewed = format!("{holder}\n{}", spec.renew_time.unwrap_or_default());
        Ok(Self {
            holder,
            renewal: XxHash3_64::oneshot(renewed.as_bytes()),
            duration: spec
                .lease_duration_seconds
                .filter(|seconds| *seconds > 0)
                .map_or(DEFAULT_DURATION, Duration::from_secs),
        })
    }

    /// Whether the holder is the operator beside us: `identity` where it is configured, else the hostname, or what
    /// client-go makes of it, the hostname with `_` and a random part behind.
    pub fn is_held_by(&self, identity: Option<&str>, hostname: &str) -> bool {
        match identity {
            Some(identity) => self.holder == identity,
            None if hostname.is_empty() => false,
            None => self.holder.strip_prefix(hostname).is_some_and(|rest| rest.is_empty() || rest.starts_with('_')),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lease(holder: &str, renewed: &str) -> Lease {
        let json =
            format!(r#"{{"spec":{{"holderIdentity":"{holder}","leaseDurationSeconds":60,"renewTime":"{renewed}"}}}}"#);
        Lease::parse(json.as_bytes()).expect("a Lease")
    }

    #[test]
    fn a_renewal_shows_in_the_fingerprint_alone() {
        let (first, second) = (lease("web-0", "2026-03-04T07:00:00.000000Z"), lease("web-0", "2026-03-04T07:00:02Z"));
        assert_ne!(first.renewal, second.renewal);
        assert_eq!(first, lease("web-0", "2026-03-04T07:00:00.000000Z"));
        assert_eq!(first.duration, Duration::from_mins(1));
    }

    #[test]
    fn the_holder_is_known_by_identity_or_by_hostname() {
        let held = |holder: &str, identity| lease(holder, "").is_held_by(identity, "web-0");
        assert!(held("web-0", None) && held("web-0_5f3c", None));
        assert!(!held("web-01", None) && !held("web-0-5f3c", None) && !held("", None));
        assert!(held("custom", Some("custom")) && !held("web-0", Some("custom")));
        assert!(!lease("", "").is_held_by(None, ""), "an unknown hostname is nobody's");
    }

    #[test]
    fn a_lease_that_was_given_up_has_no_holder() {
        let lease = Lease::parse(br#"{"spec":{"holderIdentity":null}}"#).expect("a Lease");
        assert_eq!((lease.holder.as_str(), lease.duration), ("", DEFAULT_DURATION));
    }
}
