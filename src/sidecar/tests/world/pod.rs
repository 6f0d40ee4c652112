//! The Pod, and the kubelet that probes it.

use serde_json::{Value, json};

use super::{OPERATOR, World};
use crate::sim::operator::{self, client::Client};

/// The Pod that the operator and dogwatch share.
pub(super) fn pod() -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "op-1", "namespace": "prod", "labels": {"pod-template-hash": "x"}, "ownerReferences": [
            {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "my-operator-x", "uid": "r", "controller": true},
        ]},
        "spec": {"containers": [
            {"name": "manager", "livenessProbe": {"httpGet": {"port": 11850}, "periodSeconds": 10}},
            {"name": "dogwatch"},
        ]},
    })
}

impl World {
    /// Asks every 10 s and kills at the third 500 in a row.
    pub(super) async fn step_kubelet(&mut self) {
        if let Some(at) = self.back_at {
            if self.second >= at {
                self.back_at = None;
                self.start_container();
            }
            return;
        }
        if !self.second.is_multiple_of(10) {
            return;
        }
        let (code, body) = self.ask_as("kube-probe/1.33", "/healthz").await;
        if code.is_success() {
            self.failures = 0;
            return;
        }
        self.failures += 1;
        self.failed.insert(body.lines().next().unwrap_or_default().to_owned());
        if self.failures >= 3 {
            self.restarts.push(self.second);
            self.kill(self.down);
        }
    }

    /// Ends the operator's container; it starts anew after so many seconds.
    pub(in crate::sidecar::tests) fn kill(&mut self, down: u64) {
        self.failures = 0;
        if let Some(operator) = self.operator.take() {
            operator.abort();
        }
        self.back_at = Some(self.second + down);
        let state = json!({"waiting": {"reason": "CrashLoopBackOff"}});
        self.write_status(&state);
    }

    pub(super) fn start_container(&mut self) {
        self.life += 1;
        for id in std::mem::take(&mut self.of_process) {
            self.sim.end(id);
        }
        self.kind.flaws.restarted();
        let started = jiff::Timestamp::from_second(self.clock.wall().as_second()).expect("a time").to_string();
        self.write_status(&json!({"running": {"startedAt": started}}));
        self.start_operator();
    }

    pub(super) fn start_operator(&mut self) {
        if let Some(operator) = self.operator.take() {
            operator.abort();
        }
        let client = Client::in_memory(self.sim.router()).user_agent(OPERATOR);
        let client = match (self.token, &self.mounted) {
            (Some(_), Some(mounted)) => client.token(mounted),
            (Some(_), None) => client.token("operator"),
            (None, _) => client,
        };
        let options = self.kind.clone();
        self.operator = Some(tokio::spawn(async move { drop(operator::run(client, options).await) }));
    }

    fn write_status(&self, state: &Value) {
        let life = self.life;
        let running = json!({"running": {"startedAt": "2026-03-04T07:00:00Z"}});
        let status = json!({"status": {"containerStatuses": [
            {"name": "manager", "containerID": format!("containerd://{life}"), "restartCount": life, "state": state},
            {"name": "dogwatch", "containerID": "containerd://dogwatch", "state": running},
        ]}});
        self.sim.patch("pods", Some("prod"), "op-1", status, "kubelet").expect("written");
    }
}
