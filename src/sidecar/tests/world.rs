//! A Pod with an operator and dogwatch in it, a kubelet that probes, and an API server; all in this process.

mod ask;
mod pod;

use std::cell::Cell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use http::{Request, header};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tower::ServiceBuilder;

use super::super::shared::Shared;
use super::super::{Options, decide, work};
use super::record::Record;
use crate::clock::{self, Clock};
use crate::cluster::connect;
use crate::judge::connection::Socket;
use crate::judge::state::Moment;
use crate::sim::operator;
use crate::sim::{Fault, Resource, Scope, Simulation, User};
use crate::sockets;
use crate::view::board::Board;
use crate::view::{Decision, View};

pub(super) const WIDGETS: &str = "widgets.example.com";
pub(super) const MINUTE: Duration = Duration::from_mins(1);
const SECOND: Duration = Duration::from_secs(1);
/// By which faults tell the operator's requests from dogwatch's.
const OPERATOR: &str = "operator/1";

thread_local! {
    /// The listener takes a function and no value; a test has a thread of its own.
    static CLOCK: Cell<Option<Clock>> = const { Cell::new(None) };
}

fn elapsed() -> Duration {
    CLOCK.get().map(|clock| clock.boot()).unwrap_or_default()
}

/// What the test is about.
pub(super) struct World {
    pub(super) sim: Simulation,
    pub(super) clock: Clock,
    pub(super) board: Arc<Board>,
    pub(super) options: Options,
    folder: tempfile::TempDir,
    shared: Option<Arc<Shared>>,
    /// dogwatch's token; nobody needs one while there is none.
    token: Option<&'static str>,
    /// The token that a process of the operator finds when it starts, if it is not always the same.
    pub(super) mounted: Option<String>,
    dogwatch: Option<(oneshot::Sender<()>, JoinHandle<()>)>,
    operator: Option<JoinHandle<()>>,
    /// What kind of operator it is.
    pub(super) kind: operator::Options,
    /// Faults that end with the operator's process, as those of its connections do.
    of_process: Vec<u64>,
    life: u32,
    back_at: Option<u64>,
    failures: u32,
    /// How many seconds the kubelet takes to start a container anew that it has killed.
    pub(super) down: u64,
    pub(super) second: u64,
    /// When the kubelet killed the operator.
    pub(super) restarts: Vec<u64>,
    /// Every decision that was in force after `starting`, in order.
    pub(super) decisions: Vec<Decision>,
    /// First lines of the 500s.
    pub(super) failed: BTreeSet<String>,
    /// What was seen and said, for the table.
    pub(super) record: Record,
}

/// What the command line of the sidecar says.
fn options(folder: &Path) -> Options {
    Options {
        config: folder.join("config.yaml"),
        is_config_named: true,
        resources: Vec::new(),
        listen: None,
        mode: None,
        state_file: None,
        connection: connect::Options::default(),
        pod_name: Some("op-1".to_owned()),
        pod_namespace: Some("prod".to_owned()),
        hostname: Some("op-1".to_owned()),
        install_probe: None,
        seed: Some(7),
    }
}

impl World {
    /// Two served widgets and an operator that serves a new one within a second; dogwatch is not started yet.
    pub(super) async fn new() -> Self {
        Self::with(|_| {}).await
    }

    /// The same with an operator of another kind.
    pub(super) async fn with(change: impl FnOnce(&mut operator::Options)) -> Self {
        let clock = Clock::of_tokio("2026-03-04T07:00:00Z".parse().expect("a time"));
        CLOCK.set(Some(clock));
        let sim = Simulation::new(clock);
        let mut kind = operator::Options::new(Resource::custom("example.com", "v1", "Widget"));
        kind.clock = clock;
        // Hours of failures once a second would take long to play.
        kind.back_off = Duration::from_secs(10);
        change(&mut kind);
        for resource in &kind.resources {
            sim.define(resource).expect("defined");
        }
        let folder = tempfile::tempdir().expect("a folder");
        let now = Moment { wall: clock.wall(), elapsed: clock.boot() };
        let mut world = Self {
            options: options(folder.path()),
            board: Board::new(View::starting(now, decide::PERIOD)),
            sim,
            clock,
            folder,
            shared: None,
            token: None,
            mounted: None,
            dogwatch: None,
            operator: None,
            kind,
            of_process: Vec::new(),
            life: 0,
            back_at: None,
            failures: 0,
            down: 3,
            second: 0,
            restarts: Vec::new(),
            decisions: Vec::new(),
            failed: BTreeSet::new(),
            record: Record::default(),
        };
        world.configure("resources: [widgets.example.com]");
        for name in ["a", "b"] {
            world.create(name);
        }
        world.sim.create(pod::pod(), "kubectl").expect("created");
        world.start_container();
        clock::sleep(Duration::from_mins(10)).await;
        world
    }

    pub(super) fn folder(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    /// Writes the configuration, without its head.
    pub(super) fn configure(&self, text: &str) {
        let head = "apiVersion: dogwatch/v1\nkind: Config\n";
        std::fs::write(&self.options.config, format!("{head}{text}\n")).expect("written");
    }

    pub(super) fn create(&self, name: &str) {
        self.create_in("prod", name);
    }

    pub(super) fn create_in(&self, namespace: &str, name: &str) {
        self.put("Widget", json!({"name": name, "namespace": namespace}), json!({"size": 1}));
    }

    pub(super) fn put(&self, kind: &str, metadata: Value, spec: Value) {
        let mut object = json!({"apiVersion": "example.com/v1", "kind": kind});
        object["metadata"] = metadata;
        object["spec"] = spec;
        self.sim.create(object, "kubectl").expect("created");
    }

    pub(super) fn change(&self, name: &str, size: u32) {
        self.sim.patch(WIDGETS, Some("prod"), name, json!({"spec": {"size": size}}), "kubectl").expect("changed");
    }

    pub(super) fn annotate(&self, resource: &str, name: &str, key: &str, value: &str) {
        let patch = json!({"metadata": {"annotations": {key: value}}});
        self.sim.patch(resource, Some("prod"), name, patch, "kubectl").expect("annotated");
    }

    /// The operator's stream carries nothing any more; a new one would.
    pub(super) fn deafen(&self) -> u64 {
        self.sim.begin(Fault::MuteOpen { bookmarks: true, new_streams: false }, of_operator())
    }

    /// Something goes wrong for the operator's process alone, and ends with it.
    pub(super) fn begin_for_process(&mut self, fault: Fault) {
        let id = self.sim.begin(fault, of_operator());
        self.of_process.push(id);
    }

    /// Something goes wrong for dogwatch alone.
    pub(super) fn begin(&self, fault: Fault) -> u64 {
        self.sim.begin(fault, Scope { user_agent: Some("dogwatch/".to_owned()), ..Scope::default() })
    }

    /// From now on dogwatch may do this and nothing else.
    pub(super) fn allow(&mut self, user: User) {
        self.sim.set_token("operator", User::new("operator").allow("*", &["*"], &["*"]));
        self.sim.set_token("dogwatch", user);
        self.token = Some("dogwatch");
        self.start_operator();
    }

    /// A part of dogwatch ends.
    pub(super) fn end_task(&self, name: &str) {
        let shared = self.shared.as_ref().expect("started");
        shared.with(|known| known.task_ended(name, "panicked"));
        shared.changed.notify_one();
    }

    /// dogwatch looks at the connections beside it. `read`: what it finds there.
    pub(super) fn look(&self, read: impl FnOnce() -> Result<Vec<Socket>, sockets::Error>) {
        super::super::sockets::look(self.shared.as_ref().expect("started"), read);
    }

    /// Starts dogwatch.
    pub(super) fn start(&mut self) {
        let token = self.token;
        let service = ServiceBuilder::new()
            .map_request(move |mut request: Request<kube::client::Body>| {
                if let Some(token) = token {
                    let value = format!("Bearer {token}").parse().expect("a header");
                    request.headers_mut().insert(header::AUTHORIZATION, value);
                }
                request
            })
            .service(self.sim.router());
        let cluster = Arc::new(connect::from_service(service, Duration::from_secs(30)));
        let shared = Arc::new(Shared::new(self.options.clone(), self.clock, Arc::clone(&self.board)));
        self.shared = Some(Arc::clone(&shared));
        let (stop, stopped) = oneshot::channel();
        let shutdown = async move {
            let _ = stopped.await;
            "SIGTERM"
        };
        self.dogwatch = Some((stop, tokio::spawn(work(shared, Some(cluster), shutdown))));
    }

    /// Stops dogwatch as the kubelet does.
    pub(super) async fn stop(&mut self) {
        let (stop, ended) = self.dogwatch.take().expect("started");
        stop.send(()).expect("it listens");
        ended.await.expect("it ends well");
    }

    /// Ends dogwatch as SIGKILL does.
    pub(super) fn crash(&mut self) {
        let (_, running) = self.dogwatch.take().expect("started");
        running.abort();
    }

    /// Lets time pass.
    pub(super) async fn run(&mut self, duration: Duration) {
        for _ in 0..duration.as_secs() {
            clock::sleep(SECOND).await;
            self.second += 1;
            self.step_kubelet().await;
            let decision = self.decision();
            if decision != Decision::Starting && self.decisions.last() != Some(&decision) {
                self.decisions.push(decision);
            }
            self.record.note(self.second, &self.board.view());
            if self.second.is_multiple_of(30) {
                self.record.naive.look(self.second, &self.sim, &self.kind);
            }
        }
    }

    /// Lets time pass until something is true, at most so long.
    pub(super) async fn until(&mut self, limit: Duration, mut is_true: impl FnMut(&Self) -> bool) {
        for _ in 0..limit.as_secs() {
            if is_true(self) {
                return;
            }
            self.run(SECOND).await;
        }
        panic!("not within {limit:?}; the view is {:#?}", self.board.view());
    }
}

pub(super) fn of_operator() -> Scope {
    Scope { user_agent: Some(OPERATOR.to_owned()), ..Scope::default() }
}
