//! The operators that there are: how each is installed and started, how it says that it has handled an object, and which
//! rule reads that.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;

use super::operator::Operator;

/// One kind of operator.
#[derive(Debug)]
pub(crate) struct Make {
    /// What `tests/operators/install` takes.
    pub(crate) name: &'static str,
    /// The rule by which dogwatch judges its objects.
    pub(crate) rule: &'static str,
    /// The command that starts it, without the environment that all operators share; the path is where it was installed.
    command: fn(&Path, &Operator) -> Command,
    /// Whether an object says that its newest desired state has been handled.
    pub(crate) has_served: fn(&Value) -> bool,
    installed: OnceLock<PathBuf>,
}

/// Hangs for ever on a silent watch, as every kopf up to 1.43.
pub(crate) static KOPF_1_37_5: Make = Make::kopf("kopf-1.37.5");
/// The last that hangs for ever on a silent watch.
pub(crate) static KOPF_1_43_0: Make = Make::kopf("kopf-1.43.0");
/// The newest, which gives up a watch that was silent for 70 s.
pub(crate) static KOPF_NEWEST: Make = Make::kopf("kopf-1.45.2");
/// Written in Go, over HTTP/2.
pub(crate) static CONTROLLER_RUNTIME: Make = Make::compiled("controller-runtime");
/// Written in Rust, over HTTP/1.1.
pub(crate) static KUBE_RS: Make = Make::compiled("kube-rs");

/// All of them.
pub(crate) static ALL: [&Make; 5] = [&KOPF_1_37_5, &KOPF_1_43_0, &KOPF_NEWEST, &CONTROLLER_RUNTIME, &KUBE_RS];

impl PartialEq for Make {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Make {
    const fn kopf(name: &'static str) -> Self {
        Self { name, rule: "kopf", command: kopf, has_served: kopf_has_served, installed: OnceLock::new() }
    }

    const fn compiled(name: &'static str) -> Self {
        let (command, has_served) = (program as fn(&Path, &Operator) -> Command, generation_was_observed);
        Self { name, rule: "generation", command, has_served, installed: OnceLock::new() }
    }

    /// Installs it where it is missing, which takes minutes at first; the folder in which it is.
    pub(crate) fn install(&self) -> &Path {
        self.installed.get_or_init(|| {
            let output = Command::new(operators().join("install")).arg(self.name).output();
            let output = output.expect("tests/operators/install runs");
            assert!(output.status.success(), "{}: {}", self.name, String::from_utf8_lossy(&output.stderr));
            PathBuf::from(String::from_utf8_lossy(&output.stdout).trim())
        })
    }

    /// The command that starts `operator`, which is of this make.
    pub(crate) fn command(&self, operator: &Operator) -> Command {
        (self.command)(self.install(), operator)
    }
}

fn operators() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/operators")
}

fn kopf(folder: &Path, operator: &Operator) -> Command {
    let mut command = Command::new(folder.join("bin/python"));
    command.args(["-m", "kopf", "run", "--standalone", "--namespace", &operator.namespace]);
    command.arg(format!("--liveness=http://127.0.0.1:{}/healthz", operator.port));
    command.arg(operators().join("kopf_operator.py"));
    command
}

fn program(folder: &Path, _: &Operator) -> Command {
    Command::new(folder.join("operator"))
}

/// kopf keeps a copy of the spec that it has handled last.
fn kopf_has_served(object: &Value) -> bool {
    let mark = object["metadata"]["annotations"]["kopf.zalando.org/last-handled-configuration"].as_str();
    let mark: Value = serde_json::from_str(mark.unwrap_or("null")).expect("kopf writes JSON");
    mark["spec"] == object["spec"]
}

fn generation_was_observed(object: &Value) -> bool {
    let seen = &object["status"]["observedGeneration"];
    seen.is_number() && *seen == object["metadata"]["generation"]
}
