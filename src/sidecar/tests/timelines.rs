//! What happens to a deaf operator, and to those that are not.

use std::time::Duration;

use super::world::{MINUTE, WIDGETS, World};
use crate::judge::decision::{Outcome, Withheld};
use crate::judge::diagnosis::Diagnosis;
use crate::sim::Fault;
use crate::view::Decision::{self, Recovering, Restarting, Suspect, Watching};

const HOUR: Duration = Duration::from_hours(1);

#[tokio::test(start_paused = true)]
async fn a_deaf_operator_is_restarted_once_and_cured() {
    let mut world = World::new().await;
    world.start();
    world.until(5 * MINUTE, |world| world.decision() == Watching).await;
    assert_eq!(world.operator().name, "my-operator", "the name of the Deployment");
    world.create("served");
    world.run(2 * MINUTE).await;
    assert_eq!(world.operator().streams[0].explanation.pending, 0, "it serves");

    world.deafen();
    world.create("unheard");
    world.until(7 * MINUTE, |world| world.operator().streams[0].explanation.diagnosis == Diagnosis::Partial).await;
    let offender = world.operator().streams[0].offenders[0].clone();
    assert_eq!((offender.namespace.as_deref(), offender.name.as_str()), (Some("prod"), "unheard"));
    world.until(25 * MINUTE, |world| world.decision() == Suspect).await;
    world.until(2 * MINUTE, |world| world.decision() == Restarting).await;
    let (code, body) = world.ask("/healthz").await;
    assert_eq!(code, 500);
    assert!(body.starts_with("asleep widgets.example.com since 2026-03-04T"), "{body}");
    assert!(body.contains("oldest prod/unheard"), "{body}");
    world.run(HOUR).await;

    assert_eq!(world.restarts.len(), 1);
    assert_eq!(world.failed.len(), 1, "the line is the same for each 500: {:?}", world.failed);
    let restarts = world.operator().restarts;
    assert_eq!((restarts.requested, restarts.outcomes.of(Outcome::Cured)), (1, 1));
    assert_eq!(world.decisions, [Watching, Suspect, Restarting, Recovering, Watching]);
    let events = world.events().await;
    for reason in ["OperatorSuspect", "OperatorAsleep", "OperatorRestarted", "OperatorRecovered"] {
        assert!(events.iter().any(|event| event == reason), "{reason} in {events:?}");
    }
    assert!(world.operator().streams[0].offenders.is_empty(), "what is served has no name any more");
}

#[tokio::test(start_paused = true)]
async fn an_operator_that_serves_is_left_alone() {
    let mut world = World::new().await;
    world.start();
    for round in 0..30 {
        world.create(&format!("object-{round}"));
        world.change("a", round + 2);
        world.run(4 * MINUTE).await;
    }
    assert_eq!(world.decisions, [Watching]);
    assert!(world.restarts.is_empty() && world.failed.is_empty());
    assert!(
        world.operator().streams[0].time_to_ack.count() > 0
            || world.operator().streams[0].explanation.last_ack.is_some()
    );
}

#[tokio::test(start_paused = true)]
async fn a_quiet_operator_is_left_alone() {
    let mut world = World::new().await;
    world.start();
    world.deafen();
    world.run(6 * HOUR).await;
    assert_eq!(world.decisions, [Watching]);
    assert!(world.restarts.is_empty());
}

#[tokio::test(start_paused = true)]
async fn observing_does_everything_but_the_500() {
    let mut world = World::new().await;
    world.configure("resources: [widgets.example.com]\nrestart: {mode: observe}");
    world.start();
    world.run(2 * MINUTE).await;
    world.deafen();
    world.create("unheard");
    world.run(2 * HOUR).await;
    assert!(world.restarts.is_empty() && world.failed.is_empty());
    assert_eq!(world.decision(), Suspect);
    let restarts = world.operator().restarts;
    assert_eq!((restarts.requested, restarts.withheld.of(Withheld::Observe)), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn an_annotation_on_the_pod_calls_a_restart_back_within_seconds() {
    let mut world = World::new().await;
    world.start();
    world.run(2 * MINUTE).await;
    world.deafen();
    world.create("unheard");
    world.until(HOUR, |world| world.decision() == Restarting).await;
    world.annotate("pods", "op-1", "dogwatch/mode", "observe");
    world.run(Duration::from_secs(2)).await;
    assert_ne!(world.decision(), Restarting);
    assert_eq!(world.ask("/healthz").await.0, 200);
    world.run(HOUR).await;
    assert!(world.restarts.is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_object_that_a_person_excuses_has_nothing_restarted() {
    let mut world = World::new().await;
    world.start();
    world.run(2 * MINUTE).await;
    world.deafen();
    world.create("unheard");
    world.annotate(WIDGETS, "unheard", "dogwatch/ignore", "known");
    world.run(2 * HOUR).await;
    assert_eq!(world.decisions, [Watching]);
}

#[tokio::test(start_paused = true)]
async fn while_the_api_server_is_down_nothing_is_restarted() {
    let mut world = World::new().await;
    world.start();
    world.run(2 * MINUTE).await;
    world.deafen();
    world.create("unheard");
    world.run(10 * MINUTE).await;
    let down = world.begin(Fault::ApiDown);
    world.run(2 * HOUR).await;
    assert_eq!(world.decision(), Decision::Blind);
    let (code, body) = world.ask("/healthz").await;
    assert_eq!(code, 200);
    assert!(body.starts_with("ok blind"), "{body}");
    assert!(world.restarts.is_empty());
    world.sim.end(down);
    world.until(5 * MINUTE, |world| world.decision() == Watching).await;
    world.run(10 * MINUTE).await;
    assert!(world.restarts.is_empty(), "silence begins anew");
    world.run(30 * MINUTE).await;
    assert_eq!(world.restarts.len(), 1, "and is found in the end");
}

#[tokio::test(start_paused = true)]
async fn an_operator_that_crashes_by_itself_spends_nothing() {
    let mut world = World::new().await;
    world.start();
    world.run(2 * MINUTE).await;
    world.create("unheard");
    world.kill(300);
    world.run(HOUR).await;
    assert!(world.restarts.is_empty());
    assert_eq!(world.operator().restarts.requested, 0);
    assert_eq!(world.decision(), Watching);
}

#[tokio::test(start_paused = true)]
async fn a_stream_per_namespace_goes_deaf_alone() {
    let mut world = World::new().await;
    world.configure("resources: [{resource: widgets.example.com, streams: namespace}]");
    world.create_in("other", "c");
    world.start();
    world.run(2 * MINUTE).await;
    let mut names: Vec<_> = world.operator().streams.iter().map(|stream| stream.name().to_owned()).collect();
    names.sort();
    assert_eq!(names, ["widgets.example.com/other", "widgets.example.com/prod"]);
    world.deafen();
    world.create_in("other", "unheard");
    world.until(HOUR, |world| world.decision() == Restarting).await;
    assert_eq!(world.operator().verdict.subject.as_deref(), Some("widgets.example.com/other"));
    world.run(10 * MINUTE).await;
    assert_eq!(world.restarts.len(), 1);
    assert_eq!(world.operator().restarts.outcomes.of(Outcome::Cured), 1);
}
