//! The Pod of an operator and its dogwatch: an object in the real API server, with nothing behind it but this harness.

use std::time::Duration;

use http::Method;
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::time::sleep;

use super::kubelet::{Numbers, Probe};
use crate::admin::Admin;
use crate::task::Task;

/// The operator's container.
pub(crate) const OPERATOR: &str = "manager";
/// The name of every Pod; each has a namespace of its own.
pub(crate) const NAME: &str = "operator-0";

/// The state of the operator's container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum State {
    Running,
    /// With an exit code.
    Ended(i32),
    /// Waiting to be started again.
    BackOff,
}

/// Writes the Pod's status, again and again until the API server has taken it.
pub(crate) struct Pod {
    status: watch::Sender<Value>,
    _task: Task,
}

impl Pod {
    /// Creates the Pod, as a scheduler would have left it.
    pub(crate) async fn create(admin: Admin, namespace: &str, numbers: Numbers, probe: Option<&Probe>) -> Self {
        let pods = format!("/api/v1/namespaces/{namespace}/pods");
        let mut operator = json!({"name": OPERATOR, "image": "operator"});
        if let Some(probe) = probe {
            operator["livenessProbe"] = liveness(numbers, probe);
        }
        let pod = json!({
            "metadata": {"name": NAME, "labels": {"app": "operator"}},
            "spec": {
                "nodeName": "node",
                "terminationGracePeriodSeconds": numbers.termination_grace.as_secs(),
                "containers": [operator, {"name": "dogwatch", "image": "dogwatch"}],
            },
        });
        let (status, answer) = admin.ask(Method::POST, &pods, &pod).await;
        assert!(status.is_success(), "{status} {}", answer["message"]);
        let (sender, receiver) = watch::channel(Value::Null);
        let task = Task::spawn(write(admin, format!("{pods}/{NAME}/status"), receiver));
        Self { status: sender, _task: task }
    }

    /// Tells the state of the operator's container, the `number`-th of the Pod's life, from zero.
    pub(crate) fn report(&self, number: u32, state: &State) {
        let now = Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        let id = format!("harness://{number}");
        let before = &self.status.borrow().clone();
        let old = &before["containerStatuses"][0];
        let mut operator = json!({
            "name": OPERATOR, "image": "operator", "imageID": "", "containerID": id, "restartCount": number,
            "started": false, "ready": false, "lastState": old["lastState"],
        });
        match state {
            State::Running => {
                operator["state"] = json!({"running": {"startedAt": now}});
                operator["started"] = true.into();
                operator["ready"] = true.into();
                let end = &old["state"]["terminated"];
                if end.is_object() {
                    operator["lastState"] = json!({"terminated": end});
                }
            }
            State::Ended(code) => {
                let started = &old["state"]["running"]["startedAt"];
                operator["state"] = json!({"terminated": {
                    "exitCode": code, "reason": "Error", "startedAt": started, "finishedAt": now, "containerID": id,
                }});
            }
            State::BackOff => {
                operator["state"] = json!({"waiting": {"reason": "CrashLoopBackOff"}});
                operator["lastState"] = json!({"terminated": old["state"]["terminated"]});
            }
        }
        let started = before["containerStatuses"][1]["state"]["running"]["startedAt"].as_str().unwrap_or(&now);
        let dogwatch = json!({
            "name": "dogwatch", "image": "dogwatch", "imageID": "", "containerID": "harness://dogwatch",
            "restartCount": 0, "started": true, "ready": true, "state": {"running": {"startedAt": started}},
        });
        self.status.send_replace(json!({"phase": "Running", "containerStatuses": [operator, dogwatch]}));
    }
}

fn liveness(numbers: Numbers, probe: &Probe) -> Value {
    let mut liveness = json!({
        "initialDelaySeconds": numbers.initial_delay.as_secs(),
        "periodSeconds": numbers.period.as_secs(),
        "timeoutSeconds": numbers.timeout.as_secs(),
        "failureThreshold": numbers.failure_threshold,
    });
    match probe {
        Probe::Http { port, path } => liveness["httpGet"] = json!({"port": port, "path": path}),
        Probe::Exec { arguments, .. } => {
            let command: Vec<&str> =
                ["/dogwatch/dogwatch"].into_iter().chain(arguments.iter().map(String::as_str)).collect();
            liveness["exec"] = json!({"command": command});
        }
    }
    liveness
}

async fn write(admin: Admin, path: String, mut statuses: watch::Receiver<Value>) {
    while statuses.changed().await.is_ok() {
        loop {
            let status = statuses.borrow_and_update().clone();
            match admin.try_ask(Method::PATCH, &path, &json!({"status": status})).await {
                Some((answer, _)) if answer.is_success() => break,
                _ => sleep(Duration::from_millis(200)).await,
            }
        }
    }
}
