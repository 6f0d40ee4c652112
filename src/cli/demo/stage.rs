//! The story: three boats are served, the operator goes deaf, dogwatch has it restarted, and the boats are served again.

use std::ffi::OsStr;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use serde_json::json;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::process::Child;

use super::kubelet::{self, CONTAINER, Kubelet, POD};
use super::show::{Show, Views};
use super::{Error, boats, process};
use crate::clock::{self, Clock};
use crate::endpoint::Target;
use crate::sim::operator::{self, client::Client};
use crate::sim::{Fault, Scope, Simulation};

const BOATS: [&str; 5] = ["anna", "berta", "clara", "dora", "emma"];
/// The times of the demo; real ones are minutes. They stand in dogwatch's configuration as well.
const OVERDUE_AFTER: &str = "3s";
const ASLEEP_AFTER: &str = "8s";
/// No chapter of the story takes longer, on a machine that is not overloaded.
const PATIENCE: Duration = Duration::from_secs(40);

/// Plays the story to its end.
pub(super) async fn play(program: &str) -> Result<(), Error> {
    let simulation = Simulation::new(Clock::of_machine());
    simulation
        .define(&boats())
        .map_err(|source| Error::Refused { what: "the definition of boats", source: Box::new(source) })?;
    let listener = listen().await?;
    let url = format!("http://{}", address(&listener)?);
    let healthz = free_address().await?;
    let dogwatch_address = free_address().await?;
    let folder = tempfile::tempdir().map_err(Error::machine("make a temporary folder"))?;

    let status = Client::over_tcp(&format!("http://{dogwatch_address}"));
    let status = status.map_err(|source| operator::Error::Url { url: dogwatch_address.to_string(), source })?;
    let mut stage = Stage {
        kubelet: Kubelet::new(&simulation, &url, healthz, dogwatch_address.to_string())?,
        simulation: simulation.clone(),
        healthz,
        status,
        is_always_green: true,
        show: Show::new(),
    };
    let _dogwatch = start_dogwatch(&folder, &url, dogwatch_address)?;
    tokio::select! {
        source = simulation.serve(listener) => Err(Error::Machine { what: "serve the simulated API", source }),
        end = stage.acts(program) => end,
    }
}

struct Stage {
    simulation: Simulation,
    kubelet: Kubelet,
    healthz: SocketAddr,
    status: Client,
    /// Whether the operator's own check has passed whenever it was running.
    is_always_green: bool,
    show: Show,
}

impl Stage {
    async fn acts(&mut self, program: &str) -> Result<(), Error> {
        self.show.tell("three boats are wanted; the operator serves them");
        for name in &BOATS[..3] {
            self.create(name)?;
        }
        self.until("service of the first boats", |views, _| {
            views.unserved.0 == 0 && views.probe.starts_with("ok watching")
        })
        .await?;
        self.show.tell("the operator's watch goes silent; its connection stays open, its /healthz stays green");
        let silence = Fault::MuteOpen { bookmarks: false, new_streams: false };
        self.simulation.begin(silence, Scope { resource: Some(boats().name()), ..Scope::default() });
        self.show.tell("two more boats are wanted");
        for name in &BOATS[3..] {
            self.create(name)?;
        }
        self.until("a restart", |_, restarts| restarts > 0).await?;
        self.show.tell("the kubelet has restarted the operator's container");
        self.until("service after the restart", |views, _| {
            views.unserved.0 == 0 && views.is_ok && views.probe.starts_with("ok watching")
        })
        .await?;
        let seconds = self.show.elapsed().as_secs();
        let green = if self.is_always_green { " The operator's own check was green throughout." } else { "" };
        self.show.line("");
        self.show.line(&format!("Deaf, found, restarted and cured in {seconds} s.{green}"));
        self.show.line(&format!(
            "The demo is in a hurry: objects were overdue after {OVERDUE_AFTER} and the operator asleep after {ASLEEP_AFTER}, not 5m and 15m."
        ));
        self.show.line(&format!("To look at your own cluster, and change nothing there:  {program} audit"));
        Ok(())
    }

    /// Lets time pass until the views are as wanted.
    async fn until(&mut self, what: &'static str, is_there: impl Fn(&Views, u32) -> bool) -> Result<(), Error> {
        let begun = clock::elapsed();
        loop {
            let probed = self.kubelet.probe().await?;
            let own = self.own_check().await;
            let views = Views {
                operator: own,
                unserved: (BOATS.iter().filter(|name| self.is_unserved(name)).count(), self.boats()),
                diagnosis: self.diagnosis().await,
                is_ok: probed.is_ok,
                probe: probed.line,
            };
            self.show.views(views.clone());
            if is_there(&views, self.kubelet.restarts) {
                return Ok(());
            }
            if clock::elapsed().saturating_sub(begun) > PATIENCE {
                return Err(Error::Stuck { waited_for: what, after: PATIENCE });
            }
            clock::sleep(kubelet::PERIOD).await;
        }
    }

    fn create(&self, name: &str) -> Result<(), Error> {
        let boat = json!({"apiVersion": "demo.example.com/v1", "kind": "Boat",
            "metadata": {"name": name, "namespace": "default"}, "spec": {"sails": 2}});
        let created = self.simulation.create(boat, "kubectl");
        created.map(drop).map_err(|source| Error::Refused { what: "a boat", source: Box::new(source) })
    }

    fn boats(&self) -> usize {
        BOATS.iter().filter(|name| self.simulation.read(&boats().name(), Some("default"), name).is_some()).count()
    }

    fn is_unserved(&self, name: &str) -> bool {
        let boat = self.simulation.read(&boats().name(), Some("default"), name);
        boat.is_some_and(|boat| boat["status"]["observedGeneration"] != boat["metadata"]["generation"])
    }

    /// What dogwatch says of the boats.
    async fn diagnosis(&self) -> String {
        let status = self.status.read("/status").await.ok().flatten().unwrap_or_default();
        let stream = &status["operators"][0]["streams"][0];
        match (stream["diagnosis"].as_str(), stream["overdue"].as_u64()) {
            (Some(diagnosis), Some(overdue)) if overdue > 0 => format!("{diagnosis}, {overdue} overdue"),
            (Some(diagnosis), _) => diagnosis.to_owned(),
            _ => "-".to_owned(),
        }
    }

    async fn own_check(&mut self) -> String {
        let Ok(uri) = format!("http://{}/healthz", self.healthz).parse() else { return "?".to_owned() };
        match (Target { uri, agent: "kube-probe/demo" }).get(Duration::from_secs(1)).await {
            Ok(reply) => {
                self.is_always_green &= reply.status.is_success();
                format!("{} {}", reply.status.as_u16(), reply.line)
            }
            Err(_) => "no answer".to_owned(),
        }
    }
}

/// The real `dogwatch run`, beside the operator as in a Pod.
fn start_dogwatch(folder: &TempDir, url: &str, address: SocketAddr) -> Result<Child, Error> {
    let write = |name: &str, text: String| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).map_err(Error::machine("write the demo's configuration"))?;
        Ok::<_, Error>(path)
    };
    let kubeconfig = write(
        "kubeconfig",
        format!(
            "{{apiVersion: v1, kind: Config, current-context: demo,\nclusters: [{{name: demo, cluster: {{server: '{url}'}}}}], users: [{{name: demo, user: {{}}}}],\ncontexts: [{{name: demo, context: {{cluster: demo, user: demo}}}}]}}\n"
        ),
    )?;
    let config = write("config.yaml", format!("apiVersion: dogwatch/v1
kind: Config
operator: {{name: harbour, container: {CONTAINER}}}
resources:
- {{resource: {boats}, rule: {{generation: {{maxAttempt: 2s}}}}, overdueAfter: {OVERDUE_AFTER}, asleepAfter: {ASLEEP_AFTER}}}
list: {{interval: 1s}}
restart: {{confirm: 2s, grace: 2s, jitter: 0s}}
server: {{listen: '{address}'}}
", boats = boats().name()))?;
    let arguments = [
        OsStr::new("run"),
        OsStr::new("--config"),
        config.as_os_str(),
        OsStr::new("--kubeconfig"),
        kubeconfig.as_os_str(),
    ];
    let mut command = process::command(&arguments)?;
    command.env("POD_NAME", POD).env("POD_NAMESPACE", "default");
    command.spawn().map_err(Error::machine("start dogwatch"))
}

async fn listen() -> Result<TcpListener, Error> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(Error::machine("listen on a port of this machine"))
}

fn address(listener: &TcpListener) -> Result<SocketAddr, Error> {
    listener.local_addr().map_err(Error::machine("listen on a port of this machine"))
}

/// A port that was free a moment ago.
async fn free_address() -> Result<SocketAddr, Error> {
    address(&listen().await?)
}
