//! Nudges: what they cure, what they do not, and what they never do.

use std::time::Duration;

use serde_json::Value;

use super::world::{MINUTE, WIDGETS, World, of_operator};
use crate::sim::operator::Report;
use crate::sim::operator::flaw::{Aim, Flaw};
use crate::sim::{Fault, User};
use crate::view::{Decision, Excuse, NudgeOutcome};

const HOUR: Duration = Duration::from_hours(1);
const CONFIG: &str = "resources: [widgets.example.com]\nnudge: {enabled: true}";
const CHANGES: [(&str, u32); 2] = [("a", 5), ("b", 5)];

async fn watching(config: &str) -> World {
    let mut world = World::new().await;
    world.configure(config);
    world.start();
    world.run(5 * MINUTE).await;
    world
}

fn of(world: &World, outcome: NudgeOutcome) -> u64 {
    world.operator().nudges.expect("enabled").outcomes.of(outcome)
}

/// When an object was nudged; null if it was not.
fn nudged(world: &World, name: &str) -> Value {
    world.sim.read(WIDGETS, Some("prod"), name).expect("there")["metadata"]["annotations"]["dogwatch/nudged"].clone()
}

/// Every second object is served, so that the stream is never asleep.
async fn load(world: &mut World, minutes: u32) {
    for number in 0..minutes {
        world.create(&format!("load-{}-{number}", world.second));
        world.run(MINUTE).await;
    }
}

/// The operator's stream loses the event of one change.
async fn lose_an_event(world: &mut World) {
    let lost = world.sim.begin(Fault::LostEvent { every: 1 }, of_operator());
    world.change("a", 5);
    world.run(Duration::from_secs(2)).await;
    world.sim.end(lost);
}

#[tokio::test(start_paused = true)]
async fn a_nudge_cures_a_lost_event_without_a_restart() {
    let mut world = watching(CONFIG).await;
    lose_an_event(&mut world).await;
    load(&mut world, 30).await;
    assert_eq!((of(&world, NudgeOutcome::Cured), of(&world, NudgeOutcome::NoEffect)), (1, 0));
    assert!(nudged(&world, "a").is_string() && nudged(&world, "b").is_null());
    assert!(world.restarts.is_empty() && world.decisions == [Decision::Watching], "{:?}", world.decisions);
    assert_eq!(world.operator().streams[0].explanation.overdue, 0);
    assert!(world.events().await.iter().any(|reason| reason == "OperatorNudged"));
    assert!(
        world.ask("/metrics").await.1.contains("dogwatch_nudges_total{operator=\"my-operator\",outcome=\"cured\"} 1")
    );
    assert!(world.ask("/healthz?verbose").await.1.contains("nudges: 1 cured"));
    let status: Value = serde_json::from_str(&world.ask("/status").await.1).expect("JSON");
    assert_eq!(status["operators"][0]["nudges"]["outcomes"]["cured"], 1);
}

#[tokio::test(start_paused = true)]
async fn a_lost_event_stays_lost_where_nudges_are_not_enabled() {
    let mut world = watching("resources: [widgets.example.com]").await;
    lose_an_event(&mut world).await;
    load(&mut world, 30).await;
    assert_eq!(world.operator().streams[0].explanation.overdue, 1);
    assert!(world.operator().nudges.is_none() && nudged(&world, "a").is_null());
    assert!(!world.ask("/metrics").await.1.contains("nudges_total"));
}

#[tokio::test(start_paused = true)]
async fn a_nudge_without_effect_is_said_once_and_lifts_no_excuse() {
    for report in [Report::Generation, Report::Kopf { handlers: 1 }] {
        let mut world = World::with(|kind| kind.report = report).await;
        world.kind.flaws.begin_for_good(Flaw::Skips, Aim::name("filtered"));
        world.configure(CONFIG);
        world.start();
        world.run(5 * MINUTE).await;
        world.create("filtered");
        load(&mut world, 15).await;
        let first = nudged(&world, "filtered");
        assert!(first.is_string(), "{report:?}");
        load(&mut world, 15).await;
        // Quiet: from here on nothing but the excuse keeps the stream from being asleep.
        world.run(HOUR).await;
        assert_eq!((of(&world, NudgeOutcome::NoEffect), of(&world, NudgeOutcome::Cured)), (1, 0), "{report:?}");
        assert_eq!(nudged(&world, "filtered"), first, "once");
        assert_eq!(world.operator().streams[0].explanation.excused, [(Excuse::PassedOver, 1)], "{report:?}");
        assert!(world.restarts.is_empty() && world.failed.is_empty(), "{:?}", world.decisions);
        world.change("filtered", 9);
        load(&mut world, 15).await;
        assert_ne!(nudged(&world, "filtered"), first, "another change is another nudge");
    }
}

#[tokio::test(start_paused = true)]
async fn nudges_are_limited_to_one_a_minute_and_ten_an_hour() {
    let mut world = World::new().await;
    world.kind.flaws.begin_for_good(Flaw::Skips, Aim::name("filtered"));
    world.configure(CONFIG);
    world.start();
    world.run(5 * MINUTE).await;
    for number in 0..25 {
        world.create(&format!("filtered-{number}"));
    }
    let count = |world: &World| (0..25).filter(|it| !nudged(world, &format!("filtered-{it}")).is_null()).count();
    load(&mut world, 9).await;
    assert!((2..=4).contains(&count(&world)), "{}", count(&world));
    load(&mut world, 50).await;
    assert_eq!(count(&world), 10);
    load(&mut world, 60).await;
    assert_eq!(count(&world), 20);
    assert!(world.restarts.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_dogwatch_that_restarts_does_not_nudge_again() {
    let mut world = World::new().await;
    world.kind.flaws.begin_for_good(Flaw::Skips, Aim::name("filtered"));
    world.options.state_file = Some(world.folder().join("state.json"));
    world.configure(CONFIG);
    world.start();
    world.run(5 * MINUTE).await;
    world.create("filtered");
    load(&mut world, 10).await;
    let first = nudged(&world, "filtered");
    assert!(first.is_string());
    world.crash();
    world.start();
    load(&mut world, 60).await;
    assert_eq!(nudged(&world, "filtered"), first);
}

#[tokio::test(start_paused = true)]
async fn a_nudge_that_is_not_allowed_is_named_and_not_tried_for_ever() {
    let mut world = World::new().await;
    world.kind.flaws.begin_for_good(Flaw::Skips, Aim::name("filtered"));
    world.configure(CONFIG);
    let user = User::new("dogwatch").allow("example.com", &["widgets"], &["list", "get", "watch"]);
    world.allow(user.allow("", &["pods", "events"], &["get", "watch", "create"]));
    world.start();
    world.run(5 * MINUTE).await;
    world.create("filtered");
    load(&mut world, 60).await;
    assert_eq!(of(&world, NudgeOutcome::Failed), 1);
    let problem = world.operator().nudges.expect("enabled").problem.expect("named");
    assert!(problem.contains("cannot write prod/filtered: forbidden"), "{problem}");
}

#[tokio::test(start_paused = true)]
async fn a_deaf_operator_is_restarted_as_ever() {
    let mut world = watching(CONFIG).await;
    world.deafen();
    for (name, size) in CHANGES {
        world.change(name, size);
    }
    world.run(HOUR).await;
    assert_eq!(world.restarts.len(), 1, "{:?}", world.decisions);
}
