//! The harness does what it says, before dogwatch comes in: else the proof would prove nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::time::{Instant, sleep};

use super::kubelet::{Kubelet, Numbers, Probe, Seen};
use super::make::{self, Make};
use super::operator::Habits;
use super::pod::{self, Pod};
use super::rules::{Client, Mute, Which};
use super::stage::{PATIENCE, Stage};
use super::web;
use crate::admin::Admin;
use crate::api_server::ApiServer;
use crate::process::Process;
use crate::task::Task;

const NUMBERS: Numbers = Numbers {
    initial_delay: Duration::from_millis(500),
    period: Duration::from_millis(300),
    timeout: Duration::from_secs(1),
    failure_threshold: 3,
    termination_grace: Duration::from_secs(1),
    back_off: (Duration::from_secs(2), Duration::from_mins(1)),
};

pub(super) fn mute(plural: &str, which: Which) -> Mute {
    Mute { client: Client::Operator, plural: plural.to_owned(), which }
}

pub(super) async fn staged(name: &str, make: &'static Make, habits: Habits) -> Stage {
    Stage::new(ApiServer::shared().await, name, &["Widget"], make, habits).await
}

pub(super) async fn is_alive(stage: &Stage) -> bool {
    let answer = web::get(stage.operator.port, "/healthz", "kube-probe/1.36", Duration::from_secs(5)).await;
    answer.is_some_and(|(status, _)| status.is_success())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a real kube-apiserver: see tests/cluster/README.md"]
async fn on_a_silent_watch_the_old_kopf_is_deaf_for_ever_and_the_newest_for_70_seconds() {
    let habits = Habits { timer: Some(Duration::from_secs(5)), ..Habits::default() };
    let (old, new) = tokio::join!(
        staged("silent-old", &make::KOPF_1_43_0, habits),
        staged("silent-new", &make::KOPF_NEWEST, Habits::default())
    );
    let (old_operator, new_operator) = (old.operator.start(old.folder()), new.operator.start(new.folder()));
    for (stage, operator) in [(&old, &old_operator), (&new, &new_operator)] {
        stage.create(0, "first", json!({})).await;
        assert!(stage.are_served(0, &["first"], PATIENCE).await, "{}", operator.last_words());
        stage.proxy.mute(mute("widgets", Which::Open));
        stage.create(0, "missed", json!({})).await;
    }
    let silent_since = Instant::now();
    assert!(new.are_served(0, &["missed"], Duration::from_secs(90)).await, "{}", new_operator.last_words());
    let took = silent_since.elapsed();
    // The silence began with the last event before it, a little earlier.
    assert!((60..85).contains(&took.as_secs()), "healed after {took:?}");

    sleep(Duration::from_secs(90).saturating_sub(silent_since.elapsed())).await;
    assert!(!old.is_served(0, "missed").await, "{}", old_operator.last_words());
    assert!(is_alive(&old).await, "its liveness says that all is well");
    let ticked = old.admin.get(&old.resource(0), Some("silent-old"), "first").await["status"]["tickedAt"].clone();
    sleep(Duration::from_secs(6)).await;
    let later = old.admin.get(&old.resource(0), Some("silent-old"), "first").await["status"]["tickedAt"].clone();
    assert_ne!(ticked, later, "its timer goes on writing");
    assert!(old.proxy.counters(Client::Operator, "widgets").swallowed > 0);

    drop(old_operator);
    let operator = old.operator.start(old.folder());
    assert!(old.are_served(0, &["missed"], PATIENCE).await, "a restart cures: {}", operator.last_words());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a real kube-apiserver: see tests/cluster/README.md"]
async fn the_proxy_mutes_new_watches_breaks_open_ones_and_refuses() {
    let stage = staged("broken", &make::KOPF_1_43_0, Habits::default()).await;
    let operator = stage.operator.start(stage.folder());
    stage.create(0, "a", json!({})).await;
    assert!(stage.are_served(0, &["a"], PATIENCE).await, "{}", operator.last_words());
    let watches = || stage.proxy.counters(Client::Operator, "widgets").watches;
    let before = watches();
    stage.proxy.mute(mute("widgets", Which::New));
    stage.create(0, "b", json!({})).await;
    assert!(stage.are_served(0, &["b"], PATIENCE).await, "the open watch still hears");

    stage.proxy.drop_watches(Client::Operator, "widgets");
    let until = Instant::now() + PATIENCE;
    while watches() == before {
        assert!(Instant::now() < until, "no new watch\n{}", operator.last_words());
        sleep(Duration::from_millis(50)).await;
    }
    stage.create(0, "c", json!({})).await;
    assert!(!stage.are_served(0, &["c"], Duration::from_secs(3)).await, "the new watch hears nothing");
    stage.proxy.unmute();
    stage.create(0, "d", json!({})).await;
    assert!(stage.are_served(0, &["d"], PATIENCE).await, "{}", operator.last_words());
    assert!(!stage.is_served(0, "c").await, "what was swallowed stays lost");

    stage.proxy.refuse(true);
    stage.create(0, "e", json!({})).await;
    assert!(!stage.are_served(0, &["e"], Duration::from_secs(3)).await);
    assert_eq!(stage.proxy.counters(Client::Operator, "widgets").open, 0);
    stage.proxy.refuse(false);
    assert!(stage.are_served(0, &["e"], PATIENCE).await, "{}", operator.last_words());
}

/// An endpoint that answers 200 or 500 as it is told, and counts.
struct Endpoint {
    port: u16,
    fails: Arc<AtomicBool>,
    asked: Arc<AtomicU32>,
    _task: Task,
}

impl Endpoint {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let port = listener.local_addr().expect("a bound socket").port();
        let (fails, asked) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU32::new(0)));
        let (says, counts) = (Arc::clone(&fails), Arc::clone(&asked));
        let task = Task::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.expect("a connection");
                let mut head = vec![0; 4096];
                let read = stream.read(&mut head).await.unwrap_or_default();
                assert!(String::from_utf8_lossy(&head[..read]).contains("user-agent: kube-probe/1.36"));
                counts.fetch_add(1, Ordering::SeqCst);
                let status = if says.load(Ordering::SeqCst) { "500 Internal Server Error" } else { "200 OK" };
                let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 5\r\nconnection: close\r\n\r\nasked");
                let _ = stream.write_all(answer.as_bytes()).await;
            }
        });
        Self { port, fails, asked, _task: task }
    }
}

async fn until(kubelet: &Kubelet, is_so: impl Fn(&Seen) -> bool) -> Seen {
    let until = Instant::now() + PATIENCE;
    loop {
        let seen = kubelet.seen();
        if is_so(&seen) {
            return seen;
        }
        assert!(Instant::now() < until, "{seen:?}");
        sleep(Duration::from_millis(20)).await;
    }
}

async fn container(admin: &Admin, namespace: &str) -> serde_json::Value {
    let path = format!("/api/v1/namespaces/{namespace}/pods/{}", pod::NAME);
    let (_, pod) = admin.ask(http::Method::GET, &path, &json!(null)).await;
    pod["status"]["containerStatuses"][0].clone()
}

fn sleeper(folder: &std::path::Path, script: &'static str) -> super::kubelet::Start {
    let folder = folder.to_owned();
    Box::new(move || {
        let mut command = std::process::Command::new("sh");
        command.args(["-c", script]);
        Process::spawn(command, "sleeper", &folder)
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a real kube-apiserver: see tests/cluster/README.md"]
async fn the_kubelet_restarts_after_the_threshold_backs_off_and_tells_the_pod() {
    let server = ApiServer::shared().await;
    let admin = server.admin().await;
    let folder = tempfile::tempdir().expect("a temporary folder");
    admin.create_namespace("kubelet").await;
    let endpoint = Endpoint::start().await;
    let probe = Probe::Http { port: endpoint.port, path: "/healthz".to_owned() };
    let pod = Pod::create(admin.clone(), "kubelet", NUMBERS, Some(&probe)).await;
    // It pays no heed to SIGTERM.
    let start = sleeper(folder.path(), "trap '' TERM; while true; do sleep 0.1; done");
    let kubelet = Kubelet::start(NUMBERS, Some(probe), start, pod);
    until(&kubelet, |seen| seen.probes.0 >= 3).await;
    let status = container(&admin, "kubelet").await;
    assert_eq!((&status["restartCount"], &status["containerID"]), (&json!(0), &json!("harness://0")));
    assert!(status["state"]["running"]["startedAt"].is_string());

    endpoint.fails.store(true, Ordering::SeqCst);
    let seen = until(&kubelet, |seen| seen.killed.len() == 1).await;
    assert_eq!((seen.probes.1, seen.killed[0].1.as_str()), (3, "500 asked"));
    let asked = endpoint.asked.load(Ordering::SeqCst);
    let seen = until(&kubelet, |seen| seen.started.len() == 2).await;
    assert_eq!(endpoint.asked.load(Ordering::SeqCst), asked, "nothing is probed without a container");
    assert!(seen.started[1] - seen.killed[0].0 >= NUMBERS.termination_grace, "SIGKILL comes after the grace");
    assert!(seen.started[1] - seen.killed[0].0 < Duration::from_millis(1900), "the first restart comes at once");

    let seen = until(&kubelet, |seen| seen.killed.len() == 2).await;
    let begun = Instant::now();
    while container(&admin, "kubelet").await["state"]["waiting"]["reason"] != "CrashLoopBackOff" {
        assert!(begun.elapsed() < Duration::from_secs(3));
    }
    endpoint.fails.store(false, Ordering::SeqCst);
    let after = until(&kubelet, |seen| seen.started.len() == 3).await;
    let waited = after.started[2] - seen.killed[1].0;
    assert!(waited >= NUMBERS.termination_grace + Duration::from_secs(2), "{waited:?}");
    sleep(Duration::from_millis(300)).await;
    let status = container(&admin, "kubelet").await;
    assert_eq!((&status["restartCount"], &status["containerID"]), (&json!(2), &json!("harness://2")));
    assert_eq!(status["lastState"]["terminated"]["exitCode"], 137);
    assert_eq!(kubelet.seen().crashes, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a real kube-apiserver: see tests/cluster/README.md"]
async fn the_kubelet_tells_crashes_from_restarts_by_the_probe() {
    let server = ApiServer::shared().await;
    let admin = server.admin().await;
    let folder = tempfile::tempdir().expect("a temporary folder");
    admin.create_namespace("crashes").await;
    let script = folder.path().join("fails");
    let probe = Probe::Exec {
        program: "/bin/sh".into(),
        arguments: vec!["-c".to_owned(), format!("echo no; test ! -e {}", script.display())],
    };
    let pod = Pod::create(admin.clone(), "crashes", NUMBERS, Some(&probe)).await;
    let kubelet = Kubelet::start(NUMBERS, Some(probe), sleeper(folder.path(), "sleep 1.5; exit 3"), pod);
    let seen = until(&kubelet, |seen| seen.crashes == 1 && seen.started.len() == 2).await;
    assert!(seen.probes.0 > 0 && seen.killed.is_empty(), "{seen:?}");
    // The Pod is told a moment after the container has started.
    let told = Instant::now() + Duration::from_secs(1);
    let exit_code = loop {
        let code = container(&admin, "crashes").await["lastState"]["terminated"]["exitCode"].clone();
        if !code.is_null() || Instant::now() > told {
            break code;
        }
        sleep(Duration::from_millis(20)).await;
    };
    assert_eq!(exit_code, 3);
    std::fs::write(&script, "").expect("the folder can be written to");
    let seen = until(&kubelet, |seen| seen.killed.len() == 1).await;
    assert_eq!((seen.crashes, seen.killed[0].1.as_str()), (1, "no"));
}
