//! The own Pod: the operator's container and its liveness probe, who owns the Pod, and whether it is being deleted.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Deserializer};

use super::discover::Resource;

/// The annotation by which a person stops restarts without a rollout.
pub const MODE_ANNOTATION: &str = "dogwatch/mode";

/// More bytes of a Pod are not read; etcd's own limit for one object is 1.5 MiB.
pub const MAX_BYTES: usize = 4 * 1024 * 1024;

/// What Kubernetes takes where `terminationGracePeriodSeconds` is not written.
const TERMINATION_GRACE: Duration = Duration::from_secs(30);

/// What is of use of a Pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pod {
    /// `metadata.uid`.
    pub uid: String,
    /// `metadata.resourceVersion`.
    pub resource_version: String,
    /// The name of what controls the Pod. Of a Deployment's `ReplicaSet` it is the Deployment's: the name without the
    /// hash that the Pod carries as a label.
    pub owner: Option<String>,
    /// The annotation [`MODE_ANNOTATION`].
    pub mode: Option<String>,
    /// Whether `metadata.deletionTimestamp` is set.
    pub is_terminating: bool,
    /// Whether it shares the network of its node, `spec.hostNetwork`.
    pub has_host_network: bool,
    /// All containers that run beside each other, sidecars among the init containers included.
    pub containers: Vec<Container>,
}

/// One container with its status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Container {
    /// Its name.
    pub name: String,
    /// Its liveness probe.
    pub probe: Option<Probe>,
    /// Its status; absent before the kubelet has written one.
    pub status: Option<Status>,
}

/// The numbers of a liveness probe, the defaults of Kubernetes filled in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Probe {
    /// `periodSeconds`.
    pub period: Duration,
    /// `failureThreshold`.
    pub failure_threshold: u32,
    /// `terminationGracePeriodSeconds` of the probe or else of the Pod.
    pub termination_grace: Duration,
}

/// The life that a container is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    /// `containerID`: another value is another life. Empty before the first.
    pub id: String,
    /// `state.running.startedAt`, by the kubelet's clock; absent while it does not run.
    pub started_at: Option<Timestamp>,
}

/// The resource `pods`.
pub fn resource() -> Resource {
    Resource {
        group: String::new(),
        version: "v1".to_owned(),
        kind: "Pod".to_owned(),
        plural: "pods".to_owned(),
        singular: "pod".to_owned(),
        short_names: Vec::new(),
        categories: Vec::new(),
        namespaced: true,
        verbs: Vec::new(),
        has_status: true,
    }
}

impl Pod {
    /// Reads a Pod as the API server writes it.
    ///
    /// # Errors
    /// When it is no Pod.
    pub fn read(json: &[u8]) -> Result<Self, serde_json::Error> {
        let raw: Raw = serde_json::from_slice(json)?;
        let statuses = raw.status.init_container_statuses.into_iter().chain(raw.status.container_statuses);
        let mut statuses: BTreeMap<String, RawStatus> = statuses.map(|status| (status.name.clone(), status)).collect();
        let grace = raw.spec.termination_grace_period_seconds.map_or(TERMINATION_GRACE, Duration::from_secs);
        // An init container that never ends by itself is a sidecar.
        let sidecars = raw.spec.init_containers.into_iter().filter(|it| it.restart_policy.as_deref() == Some("Always"));
        let containers = raw.spec.containers.into_iter().chain(sidecars).map(|container| Container {
            probe: container.liveness_probe.map(|probe| probe.numbers(grace)),
            status: statuses.remove(&container.name).map(RawStatus::life),
            name: container.name,
        });
        Ok(Self {
            owner: owner(&raw.metadata),
            mode: raw.metadata.annotations.get(MODE_ANNOTATION).cloned(),
            is_terminating: raw.metadata.deletion_timestamp.is_some(),
            has_host_network: raw.spec.host_network,
            uid: raw.metadata.uid,
            resource_version: raw.metadata.resource_version,
            containers: containers.collect(),
        })
    }
}

fn owner(metadata: &Metadata) -> Option<String> {
    let owner = metadata.owner_references.iter().find(|owner| owner.controller == Some(true))?;
    let hash = metadata.labels.get("pod-template-hash").filter(|_| owner.kind == "ReplicaSet");
    let deployment = hash.and_then(|hash| owner.name.strip_suffix(hash.as_str())?.strip_suffix('-'));
    Some(deployment.unwrap_or(&owner.name).to_owned())
}

#[derive(Deserialize)]
struct Raw {
    metadata: Metadata,
    #[serde(default)]
    spec: Spec,
    #[serde(default)]
    status: PodStatus,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    #[serde(default)]
    uid: String,
    #[serde(default)]
    resource_version: String,
    #[serde(default, deserialize_with = "or_default")]
    annotations: BTreeMap<String, String>,
    #[serde(default, deserialize_with = "or_default")]
    labels: BTreeMap<String, String>,
    #[serde(default, deserialize_with = "or_default")]
    owner_references: Vec<OwnerReference>,
    deletion_timestamp: Option<String>,
}

#[derive(Deserialize)]
struct OwnerReference {
    kind: String,
    name: String,
    controller: Option<bool>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Spec {
    #[serde(deserialize_with = "or_default")]
    containers: Vec<RawContainer>,
    #[serde(deserialize_with = "or_default")]
    init_containers: Vec<RawContainer>,
    termination_grace_period_seconds: Option<u64>,
    host_network: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawContainer {
    name: String,
    liveness_probe: Option<RawProbe>,
    restart_policy: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawProbe {
    period_seconds: Option<u64>,
    failure_threshold: Option<u32>,
    termination_grace_period_seconds: Option<u64>,
}

impl RawProbe {
    /// The API server fills in the defaults; 0 means the same as nothing.
    fn numbers(&self, grace: Duration) -> Probe {
        Probe {
            period: Duration::from_secs(self.period_seconds.filter(|seconds| *seconds > 0).unwrap_or(10)),
            failure_threshold: self.failure_threshold.filter(|times| *times > 0).unwrap_or(3),
            termination_grace: self.termination_grace_period_seconds.map_or(grace, Duration::from_secs),
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PodStatus {
    #[serde(deserialize_with = "or_default")]
    container_statuses: Vec<RawStatus>,
    #[serde(deserialize_with = "or_default")]
    init_container_statuses: Vec<RawStatus>,
}

#[derive(Deserialize)]
struct RawStatus {
    name: String,
    #[serde(rename = "containerID", default)]
    container_id: String,
    #[serde(default)]
    state: ContainerState,
}

impl RawStatus {
    fn life(self) -> Status {
        let started_at = self.state.running.map(|running| running.started_at.unwrap_or(Timestamp::UNIX_EPOCH));
        Status { id: self.container_id, started_at }
    }
}

#[derive(Default, Deserialize)]
struct ContainerState {
    running: Option<Running>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Running {
    #[serde(default, deserialize_with = "time")]
    started_at: Option<Timestamp>,
}

fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(deserializer: D) -> Result<T, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Timestamp>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    Ok(text.and_then(|text| text.parse().ok()))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn pod(json: &Value) -> Pod {
        Pod::read(json.to_string().as_bytes()).expect("a Pod")
    }

    #[test]
    fn the_operators_container_is_read_with_its_probe_and_its_life() {
        let pod = pod(&json!({
            "metadata": {
                "uid": "u-1", "resourceVersion": "42", "annotations": {"dogwatch/mode": "observe"},
                "labels": {"pod-template-hash": "7d9f8c"},
                "ownerReferences": [{"kind": "ReplicaSet", "name": "my-operator-7d9f8c", "controller": true}],
            },
            "spec": {
                "terminationGracePeriodSeconds": 5,
                "containers": [{"name": "manager", "livenessProbe": {"periodSeconds": 20, "failureThreshold": 0}}],
                "initContainers": [{"name": "dogwatch", "restartPolicy": "Always"}, {"name": "setup"}],
            },
            "status": {"containerStatuses": [{
                "name": "manager", "containerID": "containerd://a",
                "state": {"running": {"startedAt": "2026-03-04T07:00:00Z"}},
            }]},
        }));
        assert_eq!((pod.owner.as_deref(), pod.mode.as_deref()), (Some("my-operator"), Some("observe")));
        assert_eq!((pod.uid.as_str(), pod.resource_version.as_str(), pod.is_terminating), ("u-1", "42", false));
        let names: Vec<_> = pod.containers.iter().map(|container| container.name.as_str()).collect();
        assert_eq!(names, ["manager", "dogwatch"], "an init container that ends is none of them");
        let seconds = Duration::from_secs;
        let numbers = Probe { period: seconds(20), failure_threshold: 3, termination_grace: seconds(5) };
        assert_eq!(pod.containers[0].probe, Some(numbers));
        let status = pod.containers[0].status.as_ref().expect("a status");
        assert_eq!(status.id, "containerd://a");
        assert_eq!(status.started_at, Some("2026-03-04T07:00:00Z".parse().expect("a time")));
    }

    #[test]
    fn a_container_in_back_off_keeps_its_id_and_does_not_run() {
        let pod = pod(&json!({
            "metadata": {"uid": "u-1", "deletionTimestamp": "2026-03-04T07:00:00Z"},
            "spec": {"containers": [{"name": "manager"}], "initContainers": null},
            "status": {"containerStatuses": [{
                "name": "manager", "containerID": "containerd://a", "state": {"waiting": {"reason": "CrashLoopBackOff"}},
            }]},
        }));
        assert!(pod.is_terminating);
        assert_eq!(pod.containers[0].status, Some(Status { id: "containerd://a".to_owned(), started_at: None }));
        assert_eq!(pod.containers[0].probe, None);
    }

    #[test]
    fn other_controllers_keep_their_name() {
        let owned = |kind: &str, name: &str, controller: bool| {
            pod(&json!({"metadata": {
                "labels": {"pod-template-hash": "0"},
                "ownerReferences": [{"kind": kind, "name": name, "controller": controller}],
            }}))
            .owner
        };
        assert_eq!(owned("StatefulSet", "db-0", true).as_deref(), Some("db-0"));
        assert_eq!(owned("ReplicaSet", "by-hand", true).as_deref(), Some("by-hand"));
        assert_eq!(owned("Job", "x", false), None);
    }
}
