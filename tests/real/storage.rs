//! Writes objects where the API server stores them, past the API server: ten times as fast, and with times, generations
//! and `managedFields` of the test's choosing, which the API server would set itself.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use dogwatch::cluster::discover::Resource;
use http::Request;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::connection;

/// etcd takes at most 128 writes in one transaction, and 1.5 MiB.
const AT_ONCE: usize = 100;
const BYTES_AT_ONCE: usize = 500_000;

/// One prepares its objects while another waits for etcd.
const CONNECTIONS: usize = 4;

/// The `etcd` of a test's API server.
#[derive(Clone)]
pub(crate) struct Storage {
    client: kube::Client,
}

impl Storage {
    /// At an address such as `http://127.0.0.1:2379`.
    pub(crate) fn new(address: &str) -> Self {
        Self { client: connection::open(&kube::Config::new(address.parse().expect("an address"))) }
    }

    /// Stores objects of a custom resource, new or in place of those of the same names. Each must carry
    /// `metadata.creationTimestamp`, which the API server does not check; a missing `generation` is 1 and a missing
    /// `uid` is made from the name.
    pub(crate) async fn put_many(&self, resource: &Resource, namespace: Option<&str>, objects: Vec<Value>) {
        let (mut writes, mut bytes, mut last) = (Vec::new(), 0, None);
        let mut under_way = JoinSet::new();
        for object in objects {
            let (key, value) = stored(resource, namespace, object);
            bytes += value.len();
            writes.push(json!({"requestPut": {"key": key, "value": value}}));
            last = writes.last().cloned();
            if writes.len() == AT_ONCE || bytes > BYTES_AT_ONCE {
                under_way.spawn(self.clone().commit(std::mem::take(&mut writes)));
                bytes = 0;
            }
            if under_way.len() == CONNECTIONS {
                under_way.join_next().await.expect("some are under way").expect("they are stored");
            }
        }
        if !writes.is_empty() {
            under_way.spawn(self.clone().commit(writes));
        }
        under_way.join_all().await;
        // All writes of one commit have the same revision, which the API server itself never makes: its cache counts as
        // fresh once it has seen one of them. It has seen them all once it has seen a later revision.
        if let Some(last) = last {
            self.clone().commit(vec![last]).await;
        }
    }

    /// Forgets everything that is older than a resourceVersion.
    pub(crate) async fn compact(&self, version: u64) {
        let body = json!({"revision": version.to_string(), "physical": true}).to_string().into_bytes();
        let request = Request::post("/v3/kv/compaction").body(kube::client::Body::from(body)).expect("a request");
        let response = self.client.send(request).await.expect("etcd answers");
        assert!(response.status().is_success(), "etcd: {}", response.status());
    }

    async fn commit(self, writes: Vec<Value>) {
        let body = json!({"success": writes}).to_string().into_bytes();
        let request = Request::post("/v3/kv/txn").body(kube::client::Body::from(body)).expect("a request");
        let response = self.client.send(request).await.expect("etcd answers");
        let status = response.status();
        let answer = response.into_body().collect_bytes().await.expect("etcd's answer is whole");
        assert!(status.is_success(), "etcd: {status} {}", String::from_utf8_lossy(&answer));
    }
}

/// Key and value, in the form in which etcd's gateway takes them.
fn stored(resource: &Resource, namespace: Option<&str>, mut object: Value) -> (String, String) {
    let metadata = &mut object["metadata"];
    let name = metadata["name"].as_str().expect("a name").to_owned();
    assert!(metadata["creationTimestamp"].is_string(), "{name} has no creationTimestamp");
    let namespace = namespace.map(|namespace| {
        metadata["namespace"] = namespace.into();
        format!("/{namespace}")
    });
    let key = format!("/registry/{}/{}{}/{name}", resource.group, resource.plural, namespace.unwrap_or_default());
    if metadata["generation"].is_null() {
        metadata["generation"] = 1.into();
    }
    if metadata["uid"].is_null() {
        metadata["uid"] = uid(&key).into();
    }
    (BASE64_STANDARD.encode(key), BASE64_STANDARD.encode(object.to_string()))
}

fn uid(key: &str) -> String {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    format!("00000000-0000-4000-8000-{:012x}", hasher.finish() & 0xffff_ffff_ffff)
}
