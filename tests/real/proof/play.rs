//! One scenario while it runs: everybody on the stage, and what is told of it afterwards.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::json;
use tokio::time::{Instant, sleep};

use super::kubelet::{Kubelet, Numbers, Probe};
use super::make::{self, Make};
use super::operator::{Fault, Habits};
use super::pod::Pod;
use super::record::Recorder;
use super::rules::{Client, Mute, Which};
use super::sidecar::{DOGWATCH, Sidecar, Thresholds, Wiring};
use super::stage::{PATIENCE, Stage};
use crate::api_server::ApiServer;
use crate::task::Task;

/// A probe every second, and a tenth of a kubelet's back-off.
const NUMBERS: Numbers = Numbers {
    // Python starts slowly on a busy machine, and a container that does not answer yet would be killed for that.
    initial_delay: Duration::from_secs(20),
    period: Duration::from_secs(1),
    timeout: Duration::from_secs(5),
    failure_threshold: 3,
    termination_grace: Duration::from_secs(5),
    back_off: (Duration::from_secs(1), Duration::from_secs(30)),
};

/// From the silence to the answer 500. Before it, dogwatch reads the objects again at least three times, 10 s apart.
const TO_FAILURE: Duration = Duration::from_mins(2);

/// What a scenario begins with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setting {
    pub(crate) make: &'static Make,
    pub(crate) kinds: &'static [&'static str],
    pub(crate) habits: Habits,
    pub(crate) wiring: Wiring,
    pub(crate) thresholds: Thresholds,
    /// Whether it needs an API server that nobody else uses.
    pub(crate) own_server: bool,
}

impl Default for Setting {
    fn default() -> Self {
        Self {
            make: &make::KOPF_1_43_0,
            kinds: &["Widget"],
            habits: Habits::default(),
            wiring: Wiring::Exec,
            thresholds: Thresholds::default(),
            own_server: false,
        }
    }
}

/// A running scenario.
pub(crate) struct Play {
    // Dropped first: nobody restarts or asks any more when the rest goes.
    pub(crate) kubelet: Kubelet,
    pub(crate) recorder: Recorder,
    pub(crate) sidecar: Sidecar,
    pub(crate) stage: Arc<Stage>,
    /// What the steps are counted from: the beginning, or the moment of the fault.
    pub(crate) origin: Instant,
    /// When the backlog was served.
    pub(crate) served: Option<Instant>,
}

impl Play {
    /// Brings everybody on the stage.
    pub(crate) async fn begin(name: &str, setting: Setting) -> Self {
        let server = if setting.own_server { Arc::new(ApiServer::start().await) } else { ApiServer::shared().await };
        let stage = Arc::new(Stage::new(server, name, setting.kinds, setting.make, setting.habits).await);
        let sidecar = Sidecar::new(&stage, setting.thresholds).await;
        let probe = probe(&stage, &sidecar, setting.wiring);
        let pod = Pod::create(stage.admin.clone(), name, NUMBERS, Some(&probe)).await;
        let recorder = Recorder::start(sidecar.port, stage.admin.clone(), name);
        let (operator, folder) = (stage.operator.clone(), stage.folder().to_owned());
        let kubelet = Kubelet::start(NUMBERS, Some(probe), Box::new(move || operator.start(&folder)), pod);
        sidecar.start();
        Self { kubelet, recorder, sidecar, stage, origin: Instant::now(), served: None }
    }

    /// Waits until the operator has served an object of each resource and dogwatch watches; steps are counted from
    /// then.
    pub(crate) async fn settle(&mut self) {
        let label = self.stage.operator.habits.labels.and_then(|label| label.split_once('='));
        let labels = label.map_or_else(|| json!({}), |(key, value)| json!({key: value}));
        for index in 0..self.stage.operator.plurals.len() {
            self.stage.create_labelled(index, "first", json!({}), labels.clone()).await;
            assert!(self.stage.are_served(index, &["first"], PATIENCE * 2).await, "the operator serves at first");
        }
        self.until("decision watching", PATIENCE).await;
        // Two complete lists: the second sees what the first was there before.
        sleep(Duration::from_secs(3)).await;
        self.begin_story();
    }

    /// Makes the operator's open watch of the `index`-th resource silent; steps are counted from here.
    pub(crate) fn mute(&mut self, index: usize) {
        self.silence(index, Which::Open);
    }

    /// The same with every watch that is opened later.
    pub(crate) fn mute_all(&mut self, index: usize) {
        self.silence(index, Which::All);
    }

    fn silence(&mut self, index: usize, which: Which) {
        let plural = self.stage.operator.plurals[index].clone();
        self.stage.proxy.mute(Mute { client: Client::Operator, plural, which });
        self.begin_story();
    }

    /// Breaks something in the operator; steps are counted from here.
    pub(crate) async fn suffer(&mut self, fault: Fault) {
        self.stage.operator.suffer(fault).await;
        self.begin_story();
    }

    fn begin_story(&mut self) {
        self.origin = Instant::now();
        self.recorder.forget_worst();
    }

    /// Waits until dogwatch says a fact.
    pub(crate) async fn until(&self, fact: &str, patience: Duration) {
        let until = Instant::now() + patience;
        while !self.recorder.is(fact) {
            assert!(Instant::now() < until, "dogwatch did not say {fact:?} within {patience:?}");
            assert!(!self.sidecar.has_ended(), "dogwatch has ended");
            sleep(Duration::from_millis(50)).await;
        }
    }

    /// Waits until `/healthz` has said 500, which it may say for a moment only.
    pub(crate) async fn until_failed(&self) {
        let until = Instant::now() + TO_FAILURE;
        while self.recorder.log().first(self.origin, "healthz 500").is_none() {
            assert!(Instant::now() < until, "dogwatch never said 500");
            sleep(Duration::from_millis(50)).await;
        }
    }

    /// Waits until the objects of the `index`-th resource are served, and remembers when.
    pub(crate) async fn until_served(&mut self, index: usize, names: &[&str], patience: Duration) {
        assert!(self.stage.are_served(index, names, patience).await, "{names:?} were not served within {patience:?}");
        self.served = Some(Instant::now());
    }

    /// Creates an object of the `index`-th resource every `period`, until what is returned is dropped. `object` gives
    /// the labels of each.
    pub(crate) fn load(&self, index: usize, period: Duration, labels: serde_json::Value) -> Load {
        let (stage, count) = (Arc::clone(&self.stage), Arc::new(AtomicU32::new(0)));
        let created = Arc::clone(&count);
        let task = Task::spawn(async move {
            for number in 0.. {
                let name = format!("load-{number}");
                stage.create_labelled(index, &name, json!({"size": number}), labels.clone()).await;
                created.fetch_add(1, Ordering::SeqCst);
                sleep(period).await;
            }
        });
        Load { index, created: count, stage: Arc::clone(&self.stage), task }
    }

    /// Changes an object of the `index`-th resource every `period`, until what is returned is dropped.
    pub(crate) fn change(&self, index: usize, name: &'static str, period: Duration) -> Task {
        let stage = Arc::clone(&self.stage);
        Task::spawn(async move {
            for number in 1.. {
                stage.change(index, name, json!({"size": number})).await;
                sleep(period).await;
            }
        })
    }

    /// Everything that may say why a scenario did not go as expected.
    pub(crate) fn told(&self) -> String {
        let (probe, status) = self.recorder.newest();
        let operator = std::fs::read_to_string(self.stage.folder().join("operator.log")).unwrap_or_default();
        let lines: Vec<&str> = operator.lines().collect();
        let operator = lines[lines.len().saturating_sub(15)..].join("\n");
        let log = self.recorder.log().told(self.origin);
        let seen = self.kubelet.seen();
        format!(
            "{log}{seen:?}\n--- /healthz?verbose\n{probe}\n--- /status\n{status:#}\n--- operator\n{operator}\n--- {}",
            self.sidecar.last_words()
        )
    }
}

/// Objects that are created all the time.
pub(crate) struct Load {
    index: usize,
    created: Arc<AtomicU32>,
    stage: Arc<Stage>,
    task: Task,
}

impl Load {
    /// Ends it; all of them must have been served soon.
    pub(crate) async fn end(self) {
        let Self { index, created, stage, task } = self;
        drop(task);
        let names: Vec<String> = (0..created.load(Ordering::SeqCst)).map(|number| format!("load-{number}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert!(!names.is_empty() && stage.are_served(index, &names, PATIENCE).await, "the load was not served");
    }
}

fn probe(stage: &Stage, sidecar: &Sidecar, wiring: Wiring) -> Probe {
    match wiring {
        Wiring::Http => Probe::Http { port: sidecar.port, path: "/healthz".to_owned() },
        Wiring::Exec => {
            let address = format!("127.0.0.1:{}", sidecar.port);
            let own = format!("http://127.0.0.1:{}/healthz", stage.operator.port);
            let arguments = ["probe", "--address", &address, "--also", &own].map(str::to_owned).to_vec();
            Probe::Exec { program: PathBuf::from(DOGWATCH), arguments }
        }
    }
}
