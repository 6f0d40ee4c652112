//! A real operator, as a process.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::make::Make;
use super::web;
use crate::process::Process;

/// Until the control port has answered. On a busy machine Python takes its time.
const PATIENCE: Duration = Duration::from_secs(10);

/// What the operator is like.
#[derive(Debug, Clone)]
pub(crate) struct Operator {
    pub(crate) make: &'static Make,
    /// The API group of its resources.
    pub(crate) group: String,
    /// Their kinds.
    pub(crate) kinds: Vec<String>,
    /// Their plurals.
    pub(crate) plurals: Vec<String>,
    /// The one namespace that it serves.
    pub(crate) namespace: String,
    /// Leads it to the API server, through the proxy.
    pub(crate) kubeconfig: PathBuf,
    /// Where its own liveness endpoint listens, on loopback.
    pub(crate) port: u16,
    /// Where it is told what to break, on loopback.
    pub(crate) control: u16,
    pub(crate) habits: Habits,
}

/// How it behaves. `Habits::default()` handles every object at once. All but the first are habits of kopf operators.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Habits {
    /// How long each handler takes.
    pub(crate) duration: Duration,
    /// The label, `key=value`, without which an object is left alone.
    pub(crate) labels: Option<&'static str>,
    /// How often a timer writes to every object.
    pub(crate) timer: Option<Duration>,
    /// When the process ends by itself.
    pub(crate) crash_after: Option<Duration>,
}

/// What breaks inside an operator, for the rest of its process's life. Its liveness endpoint answers as before.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fault {
    /// Every worker waits for ever, from its next object on.
    WorkersBlocked,
    /// The same with the workers of one resource, by its plural.
    WorkersOfOneKindBlocked(&'static str),
    /// The worker of one object, by its name.
    KeyBlocked(&'static str),
    /// The task that watches one resource, by its plural, has ended, and nobody has noticed.
    WatchDead(&'static str),
}

impl Fault {
    fn path(self) -> String {
        match self {
            Self::WorkersBlocked => "/workers-blocked".to_owned(),
            Self::WorkersOfOneKindBlocked(plural) => format!("/workers-blocked?plural={plural}"),
            Self::KeyBlocked(name) => format!("/key-blocked?name={name}"),
            Self::WatchDead(plural) => format!("/watch-dead?plural={plural}"),
        }
    }
}

impl Operator {
    /// Starts it, as a container of a Pod is started. What it prints goes to `operator.log` in `folder`.
    pub(crate) fn start(&self, folder: &Path) -> Process {
        let mut command = self.make.command(self);
        let path = std::env::var_os("PATH").unwrap_or_default();
        command.env_clear().env("PATH", path).env("HOME", folder).env("KUBECONFIG", &self.kubeconfig);
        command.env("PYTHONDONTWRITEBYTECODE", "1");
        command.env("OPERATOR_GROUP", &self.group).env("OPERATOR_KINDS", self.kinds.join(","));
        command.env("OPERATOR_NAMESPACE", &self.namespace);
        command.env("OPERATOR_PORT", self.port.to_string()).env("OPERATOR_CONTROL_PORT", self.control.to_string());
        let seconds = |duration: Duration| duration.as_secs_f64().to_string();
        command.env("OPERATOR_DURATION", seconds(self.habits.duration));
        if let Some(labels) = self.habits.labels {
            command.env("OPERATOR_LABELS", labels);
        }
        if let Some(timer) = self.habits.timer {
            command.env("OPERATOR_TIMER", seconds(timer));
        }
        if let Some(crash_after) = self.habits.crash_after {
            command.env("OPERATOR_CRASH_AFTER", seconds(crash_after));
        }
        Process::spawn(command, "operator", folder)
    }

    /// Breaks something in the running process.
    pub(crate) async fn suffer(&self, fault: Fault) {
        let answer = web::post(self.control, &fault.path(), PATIENCE).await;
        assert!(answer.as_ref().is_some_and(|(status, _)| status.is_success()), "{fault:?}: {answer:?}");
    }
}
