//! How soon the real `dogwatch run` knows of what is pending, and of what is served.

use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::time::{Instant, sleep};

use super::api_server::{ApiServer, User};
use super::crd::Crd;
use super::process::Process;
use super::proof::stage::free_port;
use super::proof::web;

/// What is promised.
const PROMPT: Duration = Duration::from_secs(2);

struct Dogwatch {
    process: Process,
    port: u16,
    _folder: TempDir,
}

impl Dogwatch {
    /// One that lists every ten minutes, so that what it knows soon it knows from its watch.
    fn start(server: &ApiServer, resource: &str) -> Self {
        let folder = TempDir::with_prefix("dogwatch-detection-").expect("a temporary folder");
        let port = free_port();
        let config = json!({
            "apiVersion": "dogwatch/v1",
            "kind": "Config",
            "operators": [{"name": "it", "resources": [resource]}],
            "list": {"interval": "10m"},
            "server": {"listen": format!("127.0.0.1:{port}")},
        });
        std::fs::write(folder.path().join("config.yaml"), config.to_string()).expect("the folder can be written to");
        let mut command = Command::new(env!("CARGO_BIN_EXE_dogwatch"));
        command.arg("run").arg("--config").arg(folder.path().join("config.yaml"));
        command.arg("--kubeconfig").arg(server.kubeconfig(User::Admin));
        command.env_clear().env("HOME", folder.path());
        let process = Process::spawn(command, "dogwatch", folder.path());
        Self { process, port, _folder: folder }
    }

    /// Waits until something holds of its first stream; how long that took.
    async fn until(&self, patience: Duration, holds: impl Fn(&Value) -> bool) -> Duration {
        let begun = Instant::now();
        loop {
            let answer = web::get(self.port, "/status", "dogwatch-tests", Duration::from_secs(2)).await;
            let shown: Value = answer.and_then(|(_, text)| serde_json::from_str(&text).ok()).unwrap_or_default();
            if holds(&shown["operators"][0]["streams"][0]) {
                return begun.elapsed();
            }
            assert!(begun.elapsed() < patience, "{shown:#}\n{}", self.process.last_words());
            sleep(Duration::from_millis(10)).await;
        }
    }
}

#[tokio::test]
#[ignore = "needs a real kube-apiserver: see tests/cluster/README.md"]
async fn what_is_pending_and_what_is_served_is_known_within_two_seconds() {
    let server = ApiServer::shared().await;
    let admin = server.admin().await;
    let crd = Crd::new("Widget", "detection.example.com");
    admin.create_crd(&crd).await;
    let resource = crd.resource();
    let reconciled = json!({"observedGeneration": 1});
    admin.create(&resource, Some("default"), &crd.object("first")).await;
    admin.set_status(&resource, Some("default"), "first", &reconciled).await;
    let dogwatch = Dogwatch::start(&server, &resource.name());
    dogwatch.until(Duration::from_mins(1), |stream| stream["watch"]["open"] == 1).await;

    let (mut slowest, mut count) = (Duration::ZERO, 0);
    for index in 0..10 {
        let name = format!("w{index}");
        admin.create(&resource, Some("default"), &crd.object(&name)).await;
        let seen = dogwatch.until(PROMPT, |stream| stream["pending"] == 1).await;
        admin.set_status(&resource, Some("default"), &name, &reconciled).await;
        let acked = dogwatch.until(PROMPT, |stream| stream["pending"] == 0).await;
        slowest = slowest.max(seen).max(acked);
        count += 2;
    }
    println!("{count} changes, the slowest known after {slowest:?}");
    admin.create(&resource, Some("default"), &crd.object("short")).await;
    dogwatch.until(PROMPT, |stream| stream["pending"] == 1).await;
    admin.delete(&resource, Some("default"), "short").await;
    dogwatch.until(PROMPT, |stream| stream["pending"] == 0).await;

    // All of that without a second list.
    let lists = |stream: &Value| stream["list"]["results"]["complete"].as_u64();
    dogwatch.until(PROMPT, |stream| lists(stream) == Some(1)).await;
}
