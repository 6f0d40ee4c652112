//! Keeps an eye on the own Pod: the operator's container, its probe, the annotation that stops restarts, the deletion.

use std::sync::Arc;
use std::time::Duration;

use super::shared::Shared;
use crate::clock;
use crate::cluster::access::{self, Found};
use crate::cluster::connect::Cluster;
use crate::cluster::pod::{self, Pod};
use crate::cluster::request::{self, Client, Reach};
use crate::cluster::watch::{self, End, Event, Query};
use crate::cluster::{chain, event};
use crate::config::operator::Operator as Beside;
use crate::judge::decision::{self, Container, Mode, Probe};
use crate::judge::state::Moment;
use crate::judge::tick::Tick;

/// The name under which `inject` adds dogwatch's own container.
const OWN_CONTAINER: &str = "dogwatch";
/// How long the API server shall keep a watch open; bookmarks come about every 60 s.
const WATCH_LASTS: Duration = Duration::from_mins(5);
const IDLE_AFTER: Duration = Duration::from_secs(150);
/// From one watch to the next.
const PAUSE: Duration = Duration::from_secs(1);
/// After a failure, and from one GET to the next where watching is not allowed.
const AGAIN: Duration = Duration::from_secs(10);

/// What is known of the own Pod.
#[derive(Debug, Default)]
pub(super) struct OwnPod {
    pod: Option<Pod>,
    /// The container's life on the boot clock, by its id, so that a jump of the wall clock does not move it.
    life: Option<(String, Tick)>,
    container: Option<Container>,
    probe: Option<Probe>,
    /// Why the Pod, or the operator's container in it, cannot be seen.
    pub(super) problem: Option<String>,
    /// Whether there was an answer about the Pod, be it a refusal.
    pub(super) is_answered: bool,
}

impl OwnPod {
    /// Takes in the Pod as it is now. `now` is on this machine's clock, by which the kubelet writes.
    fn see(&mut self, pod: Pod, beside: &Beside, now: Moment) {
        let own = pick(&pod, beside.container.as_deref());
        self.problem = own.as_ref().err().cloned();
        let own = own.ok();
        self.probe = own.and_then(|container| container.probe).map(|probe| Probe {
            period: probe.period,
            failure_threshold: probe.failure_threshold,
            termination_grace: probe.termination_grace,
        });
        if let (Some(own), None, None) = (own, self.probe, beside.probe) {
            let problem = format!("the container {:?} has no livenessProbe: no restart can be requested", own.name);
            self.problem = Some(problem);
        }
        let status = own.and_then(|container| container.status.as_ref()).filter(|status| !status.id.is_empty());
        self.container = status.map(|status| {
            let started = match &self.life {
                Some((id, started)) if *id == status.id => *started,
                _ => status.started_at.map_or(now.tick(), |at| now.tick_at(at)),
            };
            self.life = Some((status.id.clone(), started));
            Container { id: status.id.clone(), is_running: status.started_at.is_some(), started }
        });
        self.pod = Some(pod);
        self.is_answered = true;
    }

    fn vanished(&mut self) {
        self.is_answered = true;
        let Some(pod) = &mut self.pod else {
            let problem = "the own Pod does not exist; see POD_NAME and POD_NAMESPACE";
            if self.problem.replace(problem.to_owned()).is_none() {
                tracing::warn!(problem, "cannot read the own Pod");
            }
            return;
        };
        pod.is_terminating = true;
    }

    /// For the decision.
    pub(super) fn judged(&self) -> decision::Pod {
        self.pod.as_ref().map_or(decision::Pod::Unread, |pod| decision::Pod::Read {
            container: self.container.clone(),
            is_terminating: pod.is_terminating,
        })
    }

    /// The numbers of the container's liveness probe.
    pub(super) const fn probe(&self) -> Option<Probe> {
        self.probe
    }

    /// The mode in force. The annotation can only stop restarts: what is neither absent nor `enforce` means `observe`,
    /// since a misspelt word must not have anything restarted.
    pub(super) fn mode(&self, configured: Mode) -> Mode {
        let annotation = self.pod.as_ref().and_then(|pod| pod.mode.as_deref());
        if annotation.is_none_or(|word| word == "enforce") { configured } else { Mode::Observe }
    }

    /// The name of the Pod's owner.
    pub(super) fn owner(&self) -> Option<&str> {
        self.pod.as_ref()?.owner.as_deref()
    }

    /// Whether the Pod is known to share the network of its node.
    pub(super) fn has_host_network(&self) -> bool {
        self.pod.as_ref().is_some_and(|pod| pod.has_host_network)
    }

    /// The Pod's uid; empty until it was read.
    pub(super) fn uid(&self) -> String {
        self.pod.as_ref().map(|pod| pod.uid.clone()).unwrap_or_default()
    }
}

/// The operator's container: the one that is named, or the only other one.
fn pick<'p>(pod: &'p Pod, named: Option<&str>) -> Result<&'p pod::Container, String> {
    let all = || pod.containers.iter().map(|container| container.name.as_str()).collect::<Vec<_>>().join(", ");
    if let Some(named) = named {
        let found = pod.containers.iter().find(|container| container.name == named);
        return found
            .ok_or_else(|| format!("operator.container: the Pod has no container {named:?}; it has {}", all()));
    }
    let mut others = pod.containers.iter().filter(|container| container.name != OWN_CONTAINER);
    match (others.next(), others.next()) {
        (Some(only), None) => Ok(only),
        _ => Err(format!("which container is the operator's? name it in operator.container; the Pod has {}", all())),
    }
}

/// Which Pod is ours.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) namespace: String,
    pub(super) name: String,
}

impl Place {
    /// As an Event is about it.
    pub(super) fn about(&self, uid: String) -> event::About {
        event::About { namespace: self.namespace.clone(), name: self.name.clone(), uid }
    }
}

/// Reads and watches the own Pod for ever.
pub(super) async fn keep(shared: Arc<Shared>, cluster: Arc<Cluster>, place: Place, beside: Beside) {
    loop {
        if let Ok(client) = fresh(&shared, &cluster).await
            && let Some(version) = read(&shared, &client, &place, &beside).await
        {
            follow(&shared, &client, &place, &beside, version).await;
        }
        clock::sleep(AGAIN).await;
    }
}

/// Reads the own Pod until there is an answer, be it a refusal: only then is the operator's name known.
pub(super) async fn first(shared: &Shared, cluster: &Cluster, place: &Place, beside: &Beside) {
    loop {
        if let Ok(client) = fresh(shared, cluster).await {
            read(shared, &client, place, beside).await;
        }
        if shared.with(|known| known.pod.is_answered) {
            return;
        }
        clock::sleep(AGAIN).await;
    }
}

async fn fresh(shared: &Shared, cluster: &Cluster) -> Result<Client, ()> {
    cluster.client().await.map_err(|error| {
        shared.heard(Err(error.reach()));
        shared.with(|known| known.pod.problem = Some(chain(&error)));
    })
}

/// Reads it once; returns its version.
async fn read(shared: &Shared, client: &Client, place: &Place, beside: &Beside) -> Option<String> {
    let found = access::read(client, &pod::resource(), Some(&place.namespace), &place.name, pod::MAX_BYTES).await;
    let now = shared.machine_now();
    let version = match found {
        Ok(Found::Object(json, server)) => {
            shared.heard(Ok(server));
            see(shared, &json, beside, now)
        }
        Ok(Found::Nothing) => {
            shared.heard(Ok(None));
            shared.with(|known| known.pod.vanished());
            None
        }
        Err(error) => {
            let reach = error.request().map_or(Reach::Neither, request::Error::reach);
            shared.heard(Err(reach));
            shared.with(|known| {
                let problem = chain(&error);
                if known.pod.problem.as_ref() != Some(&problem) {
                    tracing::warn!(problem, "cannot read the own Pod");
                }
                known.pod.problem = Some(problem);
                known.pod.is_answered |= reach == Reach::Neither;
            });
            None
        }
    };
    shared.changed.notify_one();
    version
}

fn see(shared: &Shared, json: &[u8], beside: &Beside, now: Moment) -> Option<String> {
    match Pod::read(json) {
        Ok(pod) => {
            let version = pod.resource_version.clone();
            let problem = shared.with(|known| {
                let before = known.pod.problem.clone();
                known.pod.see(pod, beside, now);
                known.pod.problem.clone().filter(|problem| Some(problem) != before.as_ref())
            });
            if let Some(problem) = problem {
                tracing::warn!(problem, "the own Pod");
            }
            Some(version)
        }
        Err(error) => {
            shared.with(|known| known.pod.problem = Some(format!("the own Pod cannot be understood: {error}")));
            None
        }
    }
}

/// Watches it until that ends for a reason for which it must be read again.
async fn follow(shared: &Shared, client: &Client, place: &Place, beside: &Beside, mut version: String) {
    let resource = pod::resource();
    loop {
        let query = Query {
            resource: &resource,
            namespace: Some(&place.namespace),
            name: Some(&place.name),
            labels: None,
            from: &version,
            lasts: WATCH_LASTS,
            idle_after: IDLE_AFTER,
            max_object_bytes: pod::MAX_BYTES,
        };
        let mut each = |event: Event<'_>| {
            match event {
                Event::Added(json) | Event::Modified(json) => drop(see(shared, json, beside, shared.machine_now())),
                Event::Deleted(_) => shared.with(|known| known.pod.vanished()),
                Event::Begun | Event::Bookmark | Event::TooLarge | Event::Failed => return,
            }
            shared.changed.notify_one();
        };
        let watched = watch::watch(client, &query, &mut each).await;
        match (watched.end, watched.version) {
            // A Pod that nobody changes may have no newer version, and still be in the watch cache.
            (Ok(End::Closed), newest) => version = newest.unwrap_or(version),
            (Ok(End::Idle) | Err(_), _) => return,
        }
        if version.is_empty() {
            return;
        }
        // An API server or a proxy that ends every watch at once must not be asked without end.
        clock::sleep(PAUSE).await;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pod(containers: &[(&str, &str, bool)], mode: Option<&str>) -> Pod {
        let specs: Vec<_> = containers.iter().map(|(name, ..)| json!({"name": name})).collect();
        let statuses: Vec<_> = containers
            .iter()
            .map(|(name, id, is_running)| {
                let running = json!({"running": {"startedAt": "1970-01-01T00:01:00Z"}});
                json!({"name": name, "containerID": id, "state": if *is_running { running } else { json!({}) }})
            })
            .collect();
        let annotations = mode.map_or_else(|| json!({}), |mode| json!({"dogwatch/mode": mode}));
        let pod = json!({
            "metadata": {"uid": "u", "resourceVersion": "1", "annotations": annotations},
            "spec": {"containers": specs}, "status": {"containerStatuses": statuses},
        });
        Pod::read(pod.to_string().as_bytes()).expect("a Pod")
    }

    fn at(second: i64) -> Moment {
        let wall = jiff::Timestamp::from_second(second).expect("a time");
        Moment { wall, elapsed: Duration::from_secs(1000) }
    }

    #[test]
    fn a_jump_of_the_clock_does_not_move_the_start_of_a_life() {
        let mut own = OwnPod::default();
        let running = pod(&[("manager", "a", true), ("dogwatch", "b", true)], None);
        own.see(running.clone(), &Beside::default(), at(160));
        let started = own.container.clone().expect("a container").started;
        assert_eq!(started.as_millis(), 900_000);
        own.see(running, &Beside::default(), at(99_999));
        assert_eq!(own.container.expect("a container").started, started);
    }

    #[test]
    fn a_container_that_waits_does_not_run_and_is_the_same_life() {
        let mut own = OwnPod::default();
        own.see(pod(&[("manager", "a", true)], None), &Beside::default(), at(160));
        own.see(pod(&[("manager", "a", false)], None), &Beside::default(), at(170));
        let container = own.container.expect("a container");
        assert_eq!((container.id.as_str(), container.is_running, container.started.as_millis()), ("a", false, 900_000));
    }

    #[test]
    fn among_several_containers_the_operators_must_be_named() {
        let three = pod(&[("manager", "a", true), ("proxy", "c", true), ("dogwatch", "b", true)], None);
        assert!(pick(&three, None).is_err());
        assert_eq!(pick(&three, Some("proxy")).expect("named").name, "proxy");
        let problem = pick(&three, Some("other")).expect_err("not there");
        assert!(problem.contains("manager, proxy, dogwatch"), "{problem}");
    }

    #[test]
    fn the_annotation_can_only_stop_restarts() {
        let mode = |annotation, configured| {
            let mut own = OwnPod::default();
            own.see(pod(&[("manager", "a", true)], annotation), &Beside::default(), at(160));
            own.mode(configured)
        };
        assert_eq!(mode(None, Mode::Enforce), Mode::Enforce);
        assert_eq!(mode(Some("observe"), Mode::Enforce), Mode::Observe);
        assert_eq!(mode(Some("Observ"), Mode::Enforce), Mode::Observe, "misspelt");
        assert_eq!(mode(Some("enforce"), Mode::Observe), Mode::Observe, "the configuration says so");
        assert_eq!(mode(Some("enforce"), Mode::Enforce), Mode::Enforce);
    }
}
