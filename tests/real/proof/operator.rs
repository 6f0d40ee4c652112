//! A real kopf operator, as a process.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::process::Process;

/// Which kopf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kopf {
    /// 1.43.0, the last that hangs for ever on a silent watch.
    Deaf,
    /// The newest, which gives up a watch that was silent for 70 s.
    Newest,
}

/// What the operator is like.
#[derive(Debug, Clone)]
pub(crate) struct Operator {
    pub(crate) kopf: Kopf,
    /// The API group of its resources.
    pub(crate) group: String,
    /// Their plurals.
    pub(crate) plurals: Vec<String>,
    /// The one namespace that it serves.
    pub(crate) namespace: String,
    /// Leads it to the API server, through the proxy.
    pub(crate) kubeconfig: PathBuf,
    /// Where its own liveness endpoint listens, on loopback.
    pub(crate) port: u16,
    pub(crate) habits: Habits,
}

/// How it behaves. `Habits::default()` handles every object at once.
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

impl Kopf {
    /// The folder of a Python that has it, installed where it is missing.
    fn installed(self) -> PathBuf {
        let name = match self {
            Self::Deaf => "kopf-1.43.0",
            Self::Newest => "kopf-1.45.2",
        };
        let output =
            Command::new(operators().join("install")).arg(name).output().expect("tests/operators/install runs");
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        PathBuf::from(String::from_utf8_lossy(&output.stdout).trim())
    }
}

impl Operator {
    /// Starts it, as a container of a Pod is started. What it prints goes to `operator.log` in `folder`.
    pub(crate) fn start(&self, folder: &Path) -> Process {
        let mut command = Command::new(self.kopf.installed().join("bin/python"));
        command.args(["-m", "kopf", "run", "--standalone", "--namespace", &self.namespace]);
        command.arg(format!("--liveness=http://127.0.0.1:{}/healthz", self.port));
        command.arg(operators().join("kopf_operator.py"));
        let path = std::env::var_os("PATH").unwrap_or_default();
        command.env_clear().env("PATH", path).env("HOME", folder).env("KUBECONFIG", &self.kubeconfig);
        command.env("PYTHONDONTWRITEBYTECODE", "1");
        command.env("OPERATOR_GROUP", &self.group).env("OPERATOR_PLURALS", self.plurals.join(","));
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
}

fn operators() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/operators")
}
