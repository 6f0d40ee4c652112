//! dogwatch itself: the real binary, beside an operator.

use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use super::pod;
use super::stage::{Stage, free_port};
use crate::api_server::User;
use crate::process::Process;

/// The binary under test.
pub(crate) const DOGWATCH: &str = env!("CARGO_BIN_EXE_dogwatch");

/// How the operator's liveness probe asks dogwatch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wiring {
    /// `dogwatch probe` in the operator's container.
    Exec,
    /// `/healthz` of dogwatch's port.
    Http,
}

/// When dogwatch speaks up. Seconds in place of the minutes of real life.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Thresholds {
    pub(crate) overdue_after: Duration,
    pub(crate) asleep_after: Duration,
    pub(crate) max_attempt: Duration,
}

impl Default for Thresholds {
    fn default() -> Self {
        let (overdue_after, asleep_after) = (Duration::from_secs(4), Duration::from_secs(8));
        Self { overdue_after, asleep_after, max_attempt: Duration::from_secs(6) }
    }
}

/// A dogwatch that can be killed and started again. Gone when dropped.
pub(crate) struct Sidecar {
    process: Mutex<Option<Process>>,
    /// Where it serves, on loopback.
    pub(crate) port: u16,
    namespace: String,
    kubeconfig: PathBuf,
    folder: PathBuf,
}

impl Sidecar {
    /// Prepares one: rights, configuration, a port. [`Sidecar::start`] starts it.
    pub(crate) async fn new(stage: &Stage, thresholds: Thresholds) -> Self {
        // What `check --print-rbac` would print: no more.
        let rules = json!([
            {"apiGroups": [stage.operator.group], "resources": stage.operator.plurals, "verbs": ["get", "list", "watch"]},
            {"apiGroups": [""], "resources": ["pods"], "resourceNames": [pod::NAME], "verbs": ["get", "watch"]},
            {"apiGroups": ["", "events.k8s.io"], "resources": ["events"], "verbs": ["create", "patch"]},
        ]);
        stage.admin.grant_rules(&format!("dogwatch-{}", stage.name), rules).await;
        let port = free_port();
        let folder = stage.folder().to_owned();
        let config = configuration(stage, thresholds, port);
        // JSON is YAML.
        std::fs::write(folder.join("config.yaml"), config.to_string()).expect("the folder can be written to");
        let kubeconfig = stage.kubeconfig(User::Limited);
        Self { process: Mutex::default(), port, namespace: stage.name.clone(), kubeconfig, folder }
    }

    /// Starts it; what it prints goes to `dogwatch.log`.
    pub(crate) fn start(&self) {
        let mut command = Command::new(DOGWATCH);
        command.arg("run").arg("--config").arg(self.folder.join("config.yaml"));
        command.arg("--kubeconfig").arg(&self.kubeconfig);
        command.env_clear().env("HOME", &self.folder);
        command.env("POD_NAME", pod::NAME).env("POD_NAMESPACE", &self.namespace);
        let process = Process::spawn(command, "dogwatch", &self.folder);
        *self.process.lock().unwrap_or_else(PoisonError::into_inner) = Some(process);
    }

    /// Ends it without a word, as the kernel does.
    pub(crate) fn kill(&self) {
        *self.process.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Whether it has ended by itself.
    pub(crate) fn has_ended(&self) -> bool {
        let mut process = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        process.as_mut().is_some_and(Process::has_ended)
    }

    /// The end of what it printed.
    pub(crate) fn last_words(&self) -> String {
        let process = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        process.as_ref().map(Process::last_words).unwrap_or_default()
    }
}

fn configuration(stage: &Stage, thresholds: Thresholds, port: u16) -> Value {
    let show = |duration: Duration| format!("{}ms", duration.as_millis());
    let resources: Vec<Value> = stage
        .operator
        .plurals
        .iter()
        .map(|plural| {
            json!({
                "resource": format!("{plural}.{}", stage.operator.group),
                "namespaces": [stage.name],
                "rule": {stage.operator.make.rule: {"maxAttempt": show(thresholds.max_attempt)}},
                "overdueAfter": show(thresholds.overdue_after),
                "asleepAfter": show(thresholds.asleep_after),
            })
        })
        .collect();
    json!({
        "apiVersion": "dogwatch/v1",
        "kind": "Config",
        "operator": {"name": stage.name, "container": pod::OPERATOR},
        "resources": resources,
        "list": {"interval": "1s"},
        "restart": {
            "confirm": "2s",
            // With `asleepAfter` the time to the first object that proves a cure: Python may need it to start.
            "grace": "15s",
            "jitter": "500ms",
            "budget": {"max": 3, "window": "24h", "minGap": "1s"},
        },
        "server": {"listen": format!("127.0.0.1:{port}")},
    })
}
