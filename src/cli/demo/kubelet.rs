//! A kubelet as small as the demo: it probes the operator's container by exec, restarts it, and writes the Pod's status.

use std::ffi::OsStr;
use std::net::SocketAddr;
use std::process::Stdio;
use std::time::Duration;

use serde_json::json;
use tokio::process::Child;

use super::{Error, process};
use crate::clock;
use crate::sim::Simulation;

/// The Pod that the operator and dogwatch share.
pub(super) const POD: &str = "harbour-0";
/// The operator's container.
pub(super) const CONTAINER: &str = "operator";
/// How often the kubelet probes.
pub(super) const PERIOD: Duration = Duration::from_secs(1);
/// How many failures in a row restart the container.
pub(super) const FAILURE_THRESHOLD: u32 = 3;
/// A real kubelet waits 10 s before the first restart.
const BACK_OFF: Duration = Duration::from_secs(1);

/// What the last probe said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Probed {
    /// Whether it passed.
    pub(super) is_ok: bool,
    /// What it printed.
    pub(super) line: String,
}

/// The operator's container and its probe.
pub(super) struct Kubelet {
    simulation: Simulation,
    url: String,
    healthz: SocketAddr,
    dogwatch: String,
    operator: Child,
    failures: u32,
    /// How often it has restarted the container.
    pub(super) restarts: u32,
}

impl Kubelet {
    /// Makes the Pod and starts the operator.
    pub(super) fn new(
        simulation: &Simulation,
        url: &str,
        healthz: SocketAddr,
        dogwatch: String,
    ) -> Result<Self, Error> {
        let probe = json!({"exec": {"command": ["dogwatch", "probe"]}, "periodSeconds": PERIOD.as_secs(),
            "failureThreshold": FAILURE_THRESHOLD});
        let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": POD, "namespace": "default"},
            "spec": {"terminationGracePeriodSeconds": 1, "containers": [
                {"name": CONTAINER, "image": "demo", "livenessProbe": probe}, {"name": "dogwatch", "image": "demo"}]}});
        simulation
            .create(pod, "kubelet")
            .map_err(|source| Error::Refused { what: "the Pod", source: Box::new(source) })?;
        let operator = start_operator(url, healthz)?;
        let mut kubelet = Self {
            simulation: simulation.clone(),
            url: url.to_owned(),
            healthz,
            dogwatch,
            operator,
            failures: 0,
            restarts: 0,
        };
        kubelet.report_running()?;
        Ok(kubelet)
    }

    /// Probes once, and restarts the container where that is due.
    pub(super) async fn probe(&mut self) -> Result<Probed, Error> {
        let arguments = ["probe", "--address", &self.dogwatch].map(OsStr::new);
        let output = process::command(&arguments)?.stdout(Stdio::piped()).output();
        let output = output.await.map_err(Error::machine("run the probe"))?;
        let line = String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().to_owned();
        let is_ok = output.status.success();
        self.failures = if is_ok { 0 } else { self.failures + 1 };
        if self.failures >= FAILURE_THRESHOLD {
            self.restart().await?;
        }
        Ok(Probed { is_ok, line })
    }

    async fn restart(&mut self) -> Result<(), Error> {
        self.operator.kill().await.map_err(Error::machine("stop the operator"))?;
        let waiting = json!({"waiting": {"reason": "CrashLoopBackOff"}});
        self.restarts += 1;
        self.report(&waiting)?;
        clock::sleep(BACK_OFF).await;
        self.operator = start_operator(&self.url, self.healthz)?;
        self.failures = 0;
        self.report_running()
    }

    fn report_running(&mut self) -> Result<(), Error> {
        let started = clock::wall().round(jiff::Unit::Second).unwrap_or_default().to_string();
        self.report(&json!({"running": {"startedAt": started}}))
    }

    fn report(&self, state: &serde_json::Value) -> Result<(), Error> {
        let container = format!("demo://{}", self.restarts);
        let status = json!({"status": {"containerStatuses": [
            {"name": CONTAINER, "containerID": container, "restartCount": self.restarts, "state": state},
            {"name": "dogwatch", "containerID": "demo://dogwatch", "restartCount": 0,
                "state": {"running": {"startedAt": clock::wall().to_string()}}}]}});
        let written = self.simulation.patch("pods", Some("default"), POD, status, "kubelet");
        written.map(drop).map_err(|source| Error::Refused { what: "the Pod's status", source: Box::new(source) })
    }
}

fn start_operator(url: &str, healthz: SocketAddr) -> Result<Child, Error> {
    process::start(&["demo-operator", "--url", url, "--healthz", &healthz.to_string()].map(OsStr::new))
}
