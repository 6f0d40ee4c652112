//! The lease of an operator that has replicas.

use std::time::Duration;

use serde_json::{Value, json};

use super::client::Client;
use crate::clock::{self, Clock};

/// A `Lease` that must exist already; its `leaseDurationSeconds` counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Under which name this replica holds it.
    pub identity: String,
    /// Who holds it holds it for life: an old holder is waited for, however dead it is.
    pub for_life: bool,
}

/// From one attempt to the next; client-go's default.
const RETRY: Duration = Duration::from_secs(2);
/// Who could not renew for so long has lost it; client-go's default.
const DEADLINE: Duration = Duration::from_secs(10);
/// Where the lease does not say.
const DURATION: Duration = Duration::from_secs(15);

impl Lease {
    /// Returns once the lease is held. Whether another's has run out is seen from its standing still, as clocks differ.
    pub(super) async fn acquire(&self, client: &Client, clock: Clock) {
        let mut last = (Value::Null, clock.boot());
        loop {
            if let Ok(Some(lease)) = client.read(&self.path()).await {
                let spec = &lease["spec"];
                if last.0 != spec["renewTime"] {
                    last = (spec["renewTime"].clone(), clock.boot());
                }
                let duration = spec["leaseDurationSeconds"].as_u64().map_or(DURATION, Duration::from_secs);
                let holder = spec["holderIdentity"].as_str().unwrap_or_default();
                let is_free = holder.is_empty() || holder == self.identity;
                let is_over = !self.for_life && clock.boot().saturating_sub(last.1) > duration;
                if (is_free || is_over) && self.renew(client, clock).await {
                    return;
                }
            }
            clock::sleep(RETRY).await;
        }
    }

    /// Renews it, and returns when it is lost.
    pub(super) async fn keep(&self, client: &Client, clock: Clock) {
        let mut renewed = clock.boot();
        while clock.boot().saturating_sub(renewed) < DEADLINE {
            clock::sleep(RETRY).await;
            let attempt = clock::within(DEADLINE, self.renew(client, clock)).await;
            if attempt == Some(true) {
                renewed = clock.boot();
            }
        }
    }

    async fn renew(&self, client: &Client, clock: Clock) -> bool {
        let spec = json!({"spec": {"holderIdentity": self.identity, "renewTime": clock.wall().to_string()}});
        client.patch(&self.path(), &spec).await.is_ok()
    }

    fn path(&self) -> String {
        format!("/apis/coordination.k8s.io/v1/namespaces/{}/leases/{}", self.namespace, self.name)
    }
}
