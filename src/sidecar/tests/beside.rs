//! What the operator shows beside its objects: its lease, its peers, its own check and its metrics.

use std::time::Duration;

use http::StatusCode;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::world::{MINUTE, World};
use crate::judge::decision::Outcome;
use crate::judge::diagnosis::Hold;
use crate::sim::{Resource, User};
use crate::view::{Decision, Peering};

const HOUR: Duration = Duration::from_hours(1);
const SECOND: Duration = Duration::from_secs(1);
const PEERINGS: &str = "clusterkopfpeerings.kopf.dev";

#[tokio::test(start_paused = true)]
async fn a_lease_of_ours_that_is_no_longer_renewed_has_the_operator_restarted() {
    let mut world = World::new().await;
    world.configure("operator: {lease: other/my-lock, identity: me}\nresources: [widgets.example.com]");
    let spec =
        |renewed: u32| json!({"holderIdentity": "me", "leaseDurationSeconds": 60, "renewTime": renewed.to_string()});
    let lease = json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {"name": "my-lock", "namespace": "other"}, "spec": spec(0)});
    world.sim.create(lease, "operator").expect("created");
    world.start();
    for renewed in 1..=120 {
        let patch = json!({"spec": spec(renewed)});
        world.sim.patch("leases.coordination.k8s.io", Some("other"), "my-lock", patch, "operator").expect("renewed");
        world.run(5 * SECOND).await;
    }
    assert_eq!((world.decision(), world.restarts.len()), (Decision::Watching, 0), "{:?}", world.decisions);
    world.run(5 * MINUTE).await;
    assert_eq!(world.restarts.len(), 1, "{:?}", world.decisions);
    let said = world.failed.first().cloned().unwrap_or_default();
    assert!(said.starts_with("asleep lease since") && said.contains("last seen renewed"), "{said}");
}

/// Serves peerings, with one object in which these records were written just now.
fn peer(world: &World, records: &[(&str, i64)]) {
    let now = world.clock.wall().to_string();
    let record = |priority: &i64| json!({"priority": priority, "lifetime": 60, "lastseen": now});
    let status: serde_json::Map<String, Value> =
        records.iter().map(|(identity, priority)| ((*identity).to_owned(), record(priority))).collect();
    if world.sim.read(PEERINGS, None, "main").is_some() {
        world.sim.patch(PEERINGS, None, "main", json!({"status": status}), "kopf").expect("written");
        return;
    }
    let mut resource = Resource::custom("kopf.dev", "v1", "ClusterKopfPeering");
    (resource.namespaced, resource.status) = (false, false);
    world.sim.define(&resource).expect("defined");
    let object = json!({"apiVersion": "kopf.dev/v1", "kind": "ClusterKopfPeering", "metadata": {"name": "main"}, "status": status});
    world.sim.create(object, "kopf").expect("created");
}

#[tokio::test(start_paused = true)]
async fn an_operator_that_waits_for_a_peer_is_not_restarted_until_the_peer_has_gone() {
    let mut world = World::new().await;
    let own = "root@op-1/20260304070000/k3f";
    peer(&world, &[(own, 0)]);
    world.configure("operator: {peering: main}\nresources: [widgets.example.com]");
    world.start();
    world.run(2 * MINUTE).await;
    assert_eq!(world.operator().peering.map(|seen| (seen.state, seen.own.is_some())), Some((Peering::Free, true)));
    world.deafen();
    world.create("unheard");
    for _ in 0..120 {
        peer(&world, &[(own, 0), ("dev@laptop/1/x", 666)]);
        world.run(30 * SECOND).await;
    }
    assert!(world.restarts.is_empty() && world.failed.is_empty());
    assert!(world.operator().verdict.holds.contains(&Hold::Paused));
    let (_, verbose) = world.ask("/healthz?verbose").await;
    assert!(verbose.contains("[+]hold/paused holding: the operator is paused by its peering"), "{verbose}");
    assert!(verbose.contains("peering main: paused by dev@laptop/1/x with priority 666; 2 live, ours is"), "{verbose}");
    let status: Value = serde_json::from_str(&world.ask("/status").await.1).expect("JSON");
    assert_eq!(status["operators"][0]["peering"]["pausedBy"]["priority"], 666);

    world.run(10 * MINUTE).await;
    assert_eq!(world.operator().peering.map(|seen| seen.state), Some(Peering::Free), "the peer is expired");
    assert!(world.restarts.is_empty(), "silence begins with the end of the pause");
    world.run(15 * MINUTE).await;
    assert_eq!(world.restarts.len(), 1, "{:?}", world.decisions);
}

#[tokio::test(start_paused = true)]
async fn a_peering_that_cannot_be_read_makes_blind_and_restarts_nothing() {
    for is_there in [false, true] {
        let mut world = World::new().await;
        if is_there {
            peer(&world, &[("op-1", 0)]);
        }
        world.configure("operator: {peering: main}\nresources: [widgets.example.com]");
        let user = User::new("dogwatch").allow("example.com", &["widgets"], &["list", "get"]);
        world.allow(user.allow("", &["pods"], &["get", "watch"]));
        world.start();
        world.run(5 * MINUTE).await;
        world.deafen();
        world.create("unheard");
        world.run(HOUR).await;
        assert_eq!(world.decision(), Decision::Blind, "{is_there}");
        assert!(world.restarts.is_empty());
        let (code, verbose) = world.ask("/healthz?verbose").await;
        assert_eq!(code, 200);
        assert!(
            verbose.contains("the peering cannot be read") && verbose.contains("peering main: unreadable: "),
            "{verbose}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn the_own_check_fails_beside_the_decision_in_every_mode_until_the_container_is_new() {
    let mut world = World::new().await;
    let open = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = open.local_addr().expect("an address");
    world.configure(&format!(
        "operator: {{healthz: {{url: \"tcp://{address}\", period: 10s, failureThreshold: 3, initialDelay: 40s}}}}\n\
         restart: {{mode: observe}}\nresources: [widgets.example.com]"
    ));
    world.start();
    world.run(5 * MINUTE).await;
    assert!(world.restarts.is_empty());
    assert_eq!(world.ask("/healthz/operator").await, (StatusCode::OK, "ok\n".to_owned()));

    drop(open);
    world.run(20 * SECOND).await;
    assert_eq!(world.ask("/healthz").await.0, 200, "twice is not yet three times");
    world.until(MINUTE, |world| !world.failed.is_empty()).await;
    let (code, line) = world.ask("/healthz/operator").await;
    assert_eq!(code, 500);
    assert!(
        line.starts_with("operator's own check failed since") && line.contains(&format!("tcp://{address}")),
        "{line}"
    );
    assert_eq!(world.ask("/healthz?exclude=operator").await.0, 200);
    let (_, metrics) = world.ask("/metrics").await;
    assert!(metrics.contains("dogwatch_operator_check_failures_total{operator=\"my-operator\"}"), "{metrics}");
    world.until(MINUTE, |world| world.restarts.len() == 1).await;
    world.run(2 * SECOND).await;
    assert_eq!(world.ask("/healthz").await.0, 200, "the container is down");
    world.run(40 * SECOND).await;
    assert_eq!((world.ask("/healthz").await.0, world.restarts.len()), (StatusCode::OK, 1), "initialDelay");

    let open = TcpListener::bind(address).await.expect("the port is free");
    world.run(10 * MINUTE).await;
    assert_eq!(world.restarts.len(), 1);
    assert_eq!(world.operator().verdict.budget_remaining, 3, "outside the budget");
    assert_eq!(world.operator().restarts.outcomes.of(Outcome::Cured), 0);
    let check = world.operator().own_check.expect("configured");
    assert!(check.failures >= 3 && check.in_a_row == 0 && check.problem.is_none(), "{check:?}");
    drop(open);
}

/// Metrics of controller-runtime in which nothing moves; dropped with the listener.
async fn metrics_that_stand_still() -> (String, tokio::task::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let uri = format!("http://{}/metrics", listener.local_addr().expect("an address"));
    let serve = tokio::spawn(async move {
        let body = "controller_runtime_reconcile_total{controller=\"widget\",result=\"success\"} 7\n\
                    workqueue_depth{name=\"widget\"} 2\n\
                    workqueue_longest_running_processor_seconds{name=\"widget\"} 300\n";
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.read(&mut [0; 2048]).await;
            let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    (uri, serve)
}

#[tokio::test(start_paused = true)]
async fn the_operators_metrics_are_shown_as_evidence_and_decide_nothing() {
    let mut world = World::new().await;
    let (uri, serve) = metrics_that_stand_still().await;
    world.configure(&format!("operator: {{metrics: \"{uri}\"}}\nresources: [widgets.example.com]"));
    world.start();
    world.run(5 * MINUTE).await;
    let (_, verbose) = world.ask("/healthz?verbose").await;
    assert!(verbose.contains("evidence/operator-metrics: reconciles of widget stand still since 2026-"), "{verbose}");
    world.run(HOUR).await;
    assert!(world.restarts.is_empty() && world.decisions == [Decision::Watching], "everything is served");

    world.deafen();
    world.create("unheard");
    world.until(HOUR, |world| world.decision() == Decision::Suspect).await;
    let status: Value = serde_json::from_str(&world.ask("/status").await.1).expect("JSON");
    let shown = &status["operators"][0]["operatorMetrics"];
    assert_eq!((&shown["standingStill"][0]["controller"], &shown["unavailable"]), (&json!("widget"), &Value::Null));
    assert_eq!(shown["longestRunningProcessor"]["seconds"], 300);
    world.run(SECOND).await;
    let said = world.event_messages().await;
    let expected = "operator metrics: reconciles of widget stand still while its work queue is not empty, a worker of \
                    widget has been at one object for 5 min";
    assert!(said.iter().any(|message| message.contains(expected)), "{said:?}");

    serve.abort();
    world.run(2 * MINUTE).await;
    let (_, verbose) = world.ask("/healthz?verbose").await;
    assert!(verbose.contains("evidence/operator-metrics: unavailable: cannot connect to http://"), "{verbose}");
}
