//! The canary: what is found only because of it, and what keeps it from being evidence.

use std::time::Duration;

use serde_json::{Value, json};

use super::world::{MINUTE, WIDGETS, World, of_operator};
use crate::judge::decision::Outcome;
use crate::sim::operator::{Options, Report};
use crate::sim::{Fault, Scope, User, Verb};
use crate::view::{CanaryProblem, Decision, Diagnosis, SeenCanary};

const HOUR: Duration = Duration::from_hours(1);
const CANARY: &str = "resources: [widgets.example.com]\ncanary: {resource: widgets.example.com, namespace: prod, name: canary, path: spec.canary";

/// A quiet cluster with a canary in it. `more`: further keys of `canary`, with a comma before.
async fn quiet(more: &str) -> World {
    quiet_with(more, |_| {}).await
}

/// The same with an operator of another kind.
async fn quiet_with(more: &str, change: impl FnOnce(&mut Options)) -> World {
    let mut world = World::with(change).await;
    world.create("canary");
    world.configure(&format!("{CANARY}{more}}}"));
    world.start();
    world.run(10 * MINUTE).await;
    world
}

fn seen(world: &World) -> SeenCanary {
    world.operator().streams[0].canary.clone().expect("a canary")
}

fn problem(world: &World) -> Option<CanaryProblem> {
    seen(world).problem.map(|(problem, _)| problem)
}

fn value(world: &World) -> Value {
    world.sim.read(WIDGETS, Some("prod"), "canary").expect("there")["spec"]["canary"].clone()
}

/// So long nobody changes anything but the canary, if there is one.
async fn play_deaf(world: &mut World) {
    world.deafen();
    world.run(2 * HOUR).await;
}

#[tokio::test(start_paused = true)]
async fn a_canary_is_changed_every_interval_and_its_round_trips_are_measured() {
    let mut world = quiet("").await;
    let canary = seen(&world);
    assert!(canary.is_proven && canary.problem.is_none() && canary.acks >= 8, "{canary:?}");
    assert!(canary.last_round_trip.is_some_and(|it| it <= Duration::from_secs(2)), "{canary:?}");
    let before = value(&world);
    world.run(61 * Duration::from_secs(1)).await;
    assert_ne!(value(&world), before);
    let (_, metrics) = world.ask("/metrics").await;
    let line =
        metrics.lines().find(|line| line.starts_with("dogwatch_canary_round_trip_seconds_count")).expect("shown");
    assert!(line.contains("resource=\"widgets.example.com\"") && !line.ends_with(" 0"), "{line}");
    let (_, verbose) = world.ask("/healthz?verbose").await;
    assert!(verbose.contains("canary/widgets.example.com: prod/canary acknowledged"), "{verbose}");
    let status: Value = serde_json::from_str(&world.ask("/status").await.1).expect("JSON");
    let shown = &status["operators"][0]["streams"][0]["canary"];
    assert_eq!((&shown["evidence"], &shown["problem"]), (&json!(true), &Value::Null));
    world.run(2 * HOUR).await;
    assert!(world.restarts.is_empty() && world.failed.is_empty(), "{:?}", world.decisions);
}

#[tokio::test(start_paused = true)]
async fn a_deaf_operator_in_a_quiet_cluster_is_found_because_of_the_canary() {
    let mut world = quiet("").await;
    play_deaf(&mut world).await;
    assert_eq!(world.restarts.len(), 1, "{:?}", world.decisions);
    assert_eq!(world.operator().restarts.outcomes.of(Outcome::Cured), 1);
    let failed = world.failed.first().cloned().unwrap_or_default();
    assert!(failed.starts_with("asleep widgets.example.com since"), "{failed}");
    assert!(seen(&world).is_proven && problem(&world).is_none(), "the new container acknowledges again");
}

#[tokio::test(start_paused = true)]
async fn a_deaf_operator_in_a_quiet_cluster_is_not_found_without_it() {
    let mut world = World::new().await;
    world.start();
    world.run(10 * MINUTE).await;
    play_deaf(&mut world).await;
    assert_eq!((world.restarts.len(), world.decision()), (0, Decision::Watching));
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_the_canary_alone_shows_to_be_dead_is_found() {
    let mut world = quiet_with(", interval: 10m", |kind| kind.bookmarks = false).await;
    world.run(HOUR).await;
    world.sim.begin(Fault::IdleHalfopen { after: 240, new_streams: false }, of_operator());
    world.run(2 * HOUR).await;
    assert_eq!(world.restarts.len(), 1, "{:?}", world.decisions);
}

#[tokio::test(start_paused = true)]
async fn a_canary_that_is_changed_oftener_than_idle_connections_are_dropped_keeps_them_alive() {
    let mut world = quiet_with("", |kind| kind.bookmarks = false).await;
    world.sim.begin(Fault::IdleHalfopen { after: 240, new_streams: false }, of_operator());
    world.run(2 * HOUR).await;
    assert!(world.restarts.is_empty(), "{:?}", world.decisions);
}

#[tokio::test(start_paused = true)]
async fn a_canary_under_kopf_is_an_annotation_and_no_path_is_needed() {
    let mut world = World::with(|kind| kind.report = Report::Kopf { handlers: 1 }).await;
    world.create("canary");
    world.configure(
        "resources: [widgets.example.com]\ncanary: {resource: widgets.example.com, namespace: prod, name: canary}",
    );
    world.start();
    world.run(10 * MINUTE).await;
    assert!(seen(&world).is_proven, "{:?}", seen(&world));
    let object = world.sim.read(WIDGETS, Some("prod"), "canary").expect("there");
    assert!(object["metadata"]["annotations"]["dogwatch/canary"].is_string());
    play_deaf(&mut world).await;
    assert_eq!(world.restarts.len(), 1, "{:?}", world.decisions);
}

#[tokio::test(start_paused = true)]
async fn a_canary_that_cannot_work_is_refused_or_named() {
    let mut world = World::new().await;
    let canary = "canary: {resource: widgets.example.com, namespace: prod, name: canary}";
    world.create("canary");
    world.configure(&format!("resources: [{{resource: widgets.example.com, rule: generation}}]\n{canary}"));
    world.start();
    world.run(MINUTE).await;
    let said = world.board.view().config.problem.clone().unwrap_or_default();
    assert!(said.contains("`canary.path` is missing") && said.contains("spec.canary"), "{said}");
    world.configure(&format!("resources: [widgets.example.com]\n{canary}"));
    world.run(5 * MINUTE).await;
    assert_eq!(problem(&world), Some(CanaryProblem::NoPath));
    world.configure("resources: [widgets.example.com]\ncanary: {resource: b.example.com, name: canary}");
    world.run(5 * MINUTE).await;
    let warnings = world.board.view().config.warnings.clone();
    assert!(warnings.iter().any(|warning| warning.contains("b.example.com is not watched")), "{warnings:?}");
    assert_eq!(world.decision(), Decision::Watching);
}

#[tokio::test(start_paused = true)]
async fn a_canary_is_created_on_request_and_missed_otherwise() {
    let mut world = World::new().await;
    world.configure(&format!("{CANARY}}}"));
    world.start();
    world.run(5 * MINUTE).await;
    let (found, message) = seen(&world).problem.expect("a problem");
    assert!(found == CanaryProblem::NotFound && message.contains("canary.create"), "{message}");
    world.configure(&format!("{CANARY}, create: {{metadata: {{labels: {{a: b}}}}, spec: {{size: 1}}}}}}"));
    world.run(10 * MINUTE).await;
    assert!(seen(&world).is_proven && problem(&world).is_none(), "{:?}", seen(&world));
    let object = world.sim.read(WIDGETS, Some("prod"), "canary").expect("created");
    assert_eq!((&object["metadata"]["labels"]["a"], &object["spec"]["size"]), (&json!("b"), &json!(1)));
}

#[tokio::test(start_paused = true)]
async fn a_canary_that_gitops_takes_back_is_named_and_restarts_nothing() {
    let mut world = quiet("").await;
    world.deafen();
    world.until(2 * MINUTE, |world| seen(world).outstanding.is_some()).await;
    let mut seen_problems = Vec::new();
    for _ in 0..2 * 360 {
        if !value(&world).is_null() {
            let back = json!({"spec": {"canary": null}});
            world.sim.patch(WIDGETS, Some("prod"), "canary", back, "argocd").expect("written");
        }
        world.run(Duration::from_secs(10)).await;
        seen_problems.extend(problem(&world));
        seen_problems.dedup();
    }
    // What was changed back is a change as well, which a deaf operator does not process either.
    assert_eq!(seen_problems, [CanaryProblem::Reverted, CanaryProblem::NotProcessed]);
    assert_eq!(seen(&world).acks, 0);
    assert!(world.restarts.is_empty(), "{:?}", world.decisions);
}

#[tokio::test(start_paused = true)]
async fn a_canary_that_may_not_be_changed_is_named_and_is_no_evidence() {
    let mut world = World::new().await;
    world.create("canary");
    world.configure(&format!("{CANARY}}}"));
    let user = User::new("dogwatch").allow("example.com", &["widgets"], &["list", "get", "watch"]);
    world.allow(user.allow("", &["pods", "events"], &["get", "watch", "create"]));
    world.start();
    world.run(5 * MINUTE).await;
    play_deaf(&mut world).await;
    let (found, message) = seen(&world).problem.expect("a problem");
    assert!(found == CanaryProblem::Forbidden && message.contains("allow `get` and `patch`"), "{message}");
    assert!(world.restarts.is_empty() && world.decision() == Decision::Watching, "{:?}", world.decisions);
}

#[tokio::test(start_paused = true)]
async fn a_webhook_that_refuses_the_canary_is_named_by_its_name() {
    let mut world = quiet("").await;
    let writes = Scope { verbs: vec![Verb::Patch], ..Scope::user_agent("dogwatch/") };
    world.sim.begin(Fault::WebhookDenies { webhook: "guard.example.com".to_owned() }, writes);
    world.run(5 * MINUTE).await;
    play_deaf(&mut world).await;
    let (found, message) = seen(&world).problem.expect("a problem");
    assert!(
        found == CanaryProblem::Rejected && message.contains("the admission webhook guard.example.com"),
        "{message}"
    );
    assert!(world.restarts.is_empty(), "{:?}", world.decisions);
    assert!(world.ask("/readyz?verbose").await.1.contains("guard.example.com"));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_takes_no_writes_is_no_evidence_and_closes_no_gate() {
    let mut world = quiet("").await;
    // The operator cannot acknowledge either: what is outstanding when it begins must not count for ever.
    let readonly = world.sim.begin(Fault::ApiReadonly, Scope::resource(WIDGETS));
    world.run(2 * HOUR).await;
    assert_eq!(problem(&world), Some(CanaryProblem::Unreachable));
    assert!(world.restarts.is_empty() && world.decision() == Decision::Watching, "{:?}", world.decisions);
    world.sim.end(readonly);
    world.run(5 * MINUTE).await;
    assert!(problem(&world).is_none() && seen(&world).is_proven);
}

#[tokio::test(start_paused = true)]
async fn a_canary_that_the_operator_leaves_out_restarts_nothing() {
    use crate::sim::operator::flaw::{Aim, Flaw};
    let mut world = World::new().await;
    world.kind.flaws.begin_for_good(Flaw::Skips, Aim::name("canary"));
    world.create("canary");
    world.configure(&format!("{CANARY}}}"));
    world.start();
    world.run(2 * HOUR).await;
    assert_eq!((problem(&world), seen(&world).acks), (Some(CanaryProblem::NotProcessed), 0));
    assert!(world.restarts.is_empty() && world.failed.is_empty(), "{:?}", world.decisions);
    assert_eq!(world.operator().streams[0].explanation.diagnosis, Diagnosis::Partial, "people are told");
}
