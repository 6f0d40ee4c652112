//! What dogwatch cannot see or do.

use std::time::Duration;

use serde_json::json;

use super::world::{MINUTE, WIDGETS, World};
use crate::judge::decision::{Leadership, Outcome};
use crate::judge::diagnosis::Diagnosis;
use crate::sim::{Fault, Resource, User};
use crate::view::{Decision, EventResult, ListResult};

const HOUR: Duration = Duration::from_hours(1);
const PROBE: &str = "operator: {probe: {period: 10s, failureThreshold: 3}}\nresources: [widgets.example.com]";

fn reader() -> User {
    User::new("dogwatch").allow("example.com", &["widgets"], &["list", "get"])
}

fn with_pod(user: User, verbs: &[&str]) -> User {
    user.allow("", &["pods"], verbs)
}

#[tokio::test(start_paused = true)]
async fn a_forbidden_list_is_named_and_nothing_is_restarted() {
    let mut world = World::new().await;
    world.allow(with_pod(User::new("dogwatch"), &["get", "watch"]).allow("", &["events"], &["create", "patch"]));
    world.start();
    world.run(5 * MINUTE).await;
    world.deafen();
    world.create("unheard");
    world.run(HOUR).await;
    let stream = &world.operator().streams[0];
    assert_eq!((world.decision(), stream.explanation.diagnosis), (Decision::Blind, Diagnosis::Unknown));
    let problem = stream.list.problem.as_deref().unwrap_or_default();
    assert!(problem.contains("forbidden") && problem.contains(WIDGETS), "{problem}");
    assert!(stream.list.results.of(ListResult::Forbidden) > 0);
    assert!(world.restarts.is_empty());
    assert_eq!(world.ask("/healthz").await.0, 200);
}

#[tokio::test(start_paused = true)]
async fn without_the_right_to_read_the_pod_the_probe_must_be_configured() {
    let mut world = World::new().await;
    world.allow(reader());
    world.start();
    world.run(HOUR).await;
    assert!(world.decisions.is_empty(), "it stays in starting: {:?}", world.decisions);
    let warnings = world.board.view().config.warnings.clone();
    assert!(warnings.iter().any(|warning| warning.contains("forbidden") && warning.contains("op-1")), "{warnings:?}");

    world.configure(PROBE);
    world.until(MINUTE, |world| world.decision() == Decision::Watching).await;
    world.deafen();
    world.create("unheard");
    world.run(HOUR).await;
    assert_eq!(world.restarts.len(), 1, "{:?}", world.decisions);
    assert_eq!(world.operator().events.of(EventResult::Sent), 0);
    assert!(world.operator().events.of(EventResult::Forbidden) > 0, "Events are refused and counted");
}

#[tokio::test(start_paused = true)]
async fn without_the_right_to_watch_the_pod_it_is_read_again_and_again() {
    let mut world = World::new().await;
    world.allow(with_pod(reader(), &["get"]));
    world.start();
    world.until(5 * MINUTE, |world| world.decision() == Decision::Watching).await;
    world.annotate("pods", "op-1", "dogwatch/mode", "observe");
    world.run(Duration::from_secs(12)).await;
    assert_eq!(world.operator().mode, crate::view::Mode::Observe);
}

#[tokio::test(start_paused = true)]
async fn without_the_right_to_read_single_objects_nothing_is_restarted() {
    let mut world = World::new().await;
    world.allow(with_pod(User::new("dogwatch").allow("example.com", &["widgets"], &["list"]), &["get", "watch"]));
    world.start();
    world.run(5 * MINUTE).await;
    world.deafen();
    world.create("unheard");
    world.run(2 * HOUR).await;
    assert_eq!(world.decision(), Decision::Suspect, "it cannot be confirmed");
    assert!(world.restarts.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_login_page_is_no_api_server() {
    let mut world = World::new().await;
    world.start();
    world.run(5 * MINUTE).await;
    world.begin(Fault::Html);
    world.run(10 * MINUTE).await;
    assert_eq!(world.decision(), Decision::Blind);
    let problem = world.operator().streams[0].list.problem.clone().unwrap_or_default();
    assert!(problem.contains("not from a Kubernetes API server") && problem.contains("html"), "{problem}");
}

#[tokio::test(start_paused = true)]
async fn a_resource_may_appear_later() {
    let mut world = World::new().await;
    world.configure("resources: [widgets.example.com, gadgets.example.com]");
    world.start();
    world.run(5 * MINUTE).await;
    assert_eq!(world.decision(), Decision::Watching, "a missing definition is a documented reason");
    let gadgets = world.operator().streams[1].clone();
    assert_eq!(gadgets.explanation.diagnosis, Diagnosis::Unknown);
    let problem = gadgets.list.problem.unwrap_or_default();
    assert!(problem.contains("no resource \"gadgets.example.com\""), "{problem}");

    world.sim.define(&Resource::custom("example.com", "v1", "Gadget")).expect("defined");
    world.run(2 * MINUTE).await;
    let gadgets = world.operator().streams[1].clone();
    assert_eq!((gadgets.explanation.diagnosis, gadgets.list.problem), (Diagnosis::Healthy, None));
}

#[tokio::test(start_paused = true)]
async fn a_resource_may_vanish_and_come_back() {
    let mut world = World::new().await;
    world.start();
    world.run(5 * MINUTE).await;
    world.sim.delete("customresourcedefinitions.apiextensions.k8s.io", None, WIDGETS).expect("deleted");
    world.run(10 * MINUTE).await;
    assert_eq!(world.operator().streams[0].explanation.diagnosis, Diagnosis::Unknown);
    assert!(world.operator().streams[0].list.problem.is_some());
    world.sim.define(&Resource::custom("example.com", "v1", "Widget")).expect("defined");
    world.run(3 * MINUTE).await;
    assert_eq!(world.operator().streams[0].explanation.diagnosis, Diagnosis::Healthy);
    assert!(world.restarts.is_empty());
}

#[tokio::test(start_paused = true)]
async fn kopfs_marks_choose_its_rule() {
    let mut world = World::new().await;
    world.annotate(WIDGETS, "b", "kopf.zalando.org/last-handled-configuration", r#"{"spec":{"size":1}}"#);
    world.start();
    world.run(2 * MINUTE).await;
    assert_eq!(world.operator().streams[0].rule, Some("kopf"));
    assert_eq!(world.operator().streams[0].explanation.states.total(), 2, "counted once");
}

#[tokio::test(start_paused = true)]
async fn a_part_that_ends_makes_dogwatch_blind_and_not_the_operator_dead() {
    for task in ["lists", "pod"] {
        let mut world = World::new().await;
        world.start();
        world.run(2 * MINUTE).await;
        world.deafen();
        world.create("unheard");
        world.run(15 * MINUTE).await;
        world.end_task(task);
        world.run(Duration::from_secs(2)).await;
        assert_eq!(world.decision(), Decision::Blind, "{task}");
        assert_eq!(world.ask("/livez").await.0, 500, "{task}");
        assert_eq!(world.ask("/healthz").await.0, 200, "{task}");
        world.run(HOUR).await;
        assert!(world.restarts.is_empty(), "{task}");
    }
}

#[tokio::test(start_paused = true)]
async fn only_the_leaders_dogwatch_judges() {
    let mut world = World::new().await;
    world.configure("operator: {lease: my-lock}\nresources: [widgets.example.com]");
    let lease = |holder: &str, renewed: &str| json!({"spec": {"holderIdentity": holder, "leaseDurationSeconds": 15, "renewTime": renewed}});
    let mut object = lease("op-2_x", "1");
    object["apiVersion"] = "coordination.k8s.io/v1".into();
    object["kind"] = "Lease".into();
    object["metadata"] = json!({"name": "my-lock", "namespace": "prod"});
    world.sim.create(object, "operator").expect("created");
    world.start();
    world.run(5 * MINUTE).await;
    assert_eq!(world.decision(), Decision::Standby);
    world.deafen();
    world.create("unheard");
    world.run(HOUR).await;
    assert!(world.restarts.is_empty());

    let mut renewals = 0;
    let mut lead_for = async |world: &mut World, minutes: u32| {
        for _ in 0..minutes * 12 {
            renewals += 1;
            let patch = lease("op-1_5f3c", &renewals.to_string());
            world.sim.patch("leases.coordination.k8s.io", Some("prod"), "my-lock", patch, "operator").expect("renewed");
            world.run(Duration::from_secs(5)).await;
        }
    };
    lead_for(&mut world, 15).await;
    assert!(matches!(world.operator().leadership, Leadership::Ours { .. }));
    assert!(world.restarts.is_empty(), "a new leader has its grace, and silence begins with it");
    lead_for(&mut world, 30).await;
    assert_eq!(world.restarts.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn budget_and_first_seen_outlive_dogwatch() {
    let mut world = World::new().await;
    world.options.state_file = Some(world.folder().join("state.json"));
    world.start();
    world.run(2 * MINUTE).await;
    world.deafen();
    world.create("unheard");
    world.run(HOUR).await;
    assert_eq!(world.operator().restarts.outcomes.of(Outcome::Cured), 1);
    assert_eq!(world.operator().verdict.budget_remaining, 2);
    world.deafen();
    world.create("unheard-too");
    world.run(10 * MINUTE).await;
    let oldest = |world: &World| world.operator().streams[0].explanation.oldest_pending;
    let before = oldest(&world);
    world.stop().await;
    world.start();
    world.run(2 * MINUTE).await;
    assert_eq!(world.operator().verdict.budget_remaining, 2);
    assert!(world.operator().restarts.last.is_some());
    let moved = before.zip(oldest(&world)).map(|(before, now)| now.since(before));
    assert!(before.is_some() && moved == Some(Duration::ZERO), "{before:?} {moved:?}");
}

#[tokio::test(start_paused = true)]
async fn a_state_file_that_is_none_is_left_out_as_a_whole() {
    for content in ["{\"kind\":\"dogwatch-state\",\"version\":1", "{\"kind\":\"other\",\"version\":1}", "", "[]"] {
        let mut world = World::new().await;
        let path = world.folder().join("state.json");
        std::fs::write(&path, content).expect("written");
        world.options.state_file = Some(path);
        world.start();
        world.until(5 * MINUTE, |world| world.decision() == Decision::Watching).await;
        let view = world.board.view();
        assert!(view.config.warnings.iter().any(|warning| warning.contains("state.json")), "{:?}", view.config);
        assert_eq!(world.operator().verdict.budget_remaining, 3);
    }
}

#[tokio::test(start_paused = true)]
async fn a_restart_that_cannot_be_put_on_record_is_not_requested() {
    let mut world = World::new().await;
    let folder = world.folder().join("gone");
    std::fs::create_dir(&folder).expect("made");
    world.options.state_file = Some(folder.join("state.json"));
    world.start();
    world.run(2 * MINUTE).await;
    std::fs::remove_dir_all(&folder).expect("removed");
    world.deafen();
    world.create("unheard");
    world.run(2 * HOUR).await;
    assert!(world.restarts.is_empty() && world.failed.is_empty());
    std::fs::create_dir(&folder).expect("made");
    world.run(30 * MINUTE).await;
    assert_eq!(world.restarts.len(), 1);
}
