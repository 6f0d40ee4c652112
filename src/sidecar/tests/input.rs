//! The configuration: bad at the start, changed, bad later, gone.

use std::time::Duration;

use super::world::{MINUTE, World};
use crate::judge::diagnosis::Hold;
use crate::view::Decision;

#[tokio::test(start_paused = true)]
async fn a_bad_configuration_at_the_start_is_said_and_tried_again() {
    let mut world = World::new().await;
    world.configure("resources: [widgets.example.com]\nlits: {}");
    world.start();
    world.run(5 * MINUTE).await;
    let view = world.board.view();
    assert!(view.operators.is_empty());
    let problem = view.config.problem.clone().unwrap_or_default();
    assert!(problem.contains("config.yaml:4") && problem.contains("lits"), "{problem}");
    assert_eq!(world.ask("/healthz").await.0, 200);
    assert_eq!(world.ask("/livez").await.0, 200);
    assert_eq!(world.ask("/readyz").await.0, 503);
    assert!(world.restarts.is_empty());

    world.configure("resources: [widgets.example.com]");
    world.until(2 * MINUTE, |world| !world.board.view().operators.is_empty()).await;
    world.until(5 * MINUTE, |world| world.decision() == Decision::Watching).await;
    assert_eq!(world.board.view().config.problem, None);
    assert_eq!(world.ask("/readyz").await.0, 200);
}

#[tokio::test(start_paused = true)]
async fn a_bad_or_missing_new_configuration_leaves_the_old_one_in_force() {
    let mut world = World::new().await;
    world.start();
    world.run(5 * MINUTE).await;
    world.configure("resources: [");
    world.run(MINUTE).await;
    assert!(world.board.view().config.problem.is_some());
    assert_eq!(world.decision(), Decision::Watching);
    std::fs::remove_file(&world.options.config).expect("removed");
    world.run(MINUTE).await;
    assert!(world.board.view().config.problem.is_some());
    world.deafen();
    world.create("unheard");
    world.run(Duration::from_hours(1)).await;
    assert_eq!(world.restarts.len(), 1, "the old one is in force");
    let (_, metrics) = world.ask("/metrics").await;
    assert!(metrics.contains("dogwatch_config_last_reload_successful 0"), "{metrics}");
}

#[tokio::test(start_paused = true)]
async fn a_changed_threshold_keeps_what_is_remembered() {
    let mut world = World::new().await;
    world.start();
    world.run(2 * MINUTE).await;
    world.deafen();
    world.create("unheard");
    world.run(4 * MINUTE).await;
    let first = world.operator().streams[0].explanation.oldest_pending;
    world.configure("resources: [{resource: widgets.example.com, overdueAfter: 1m}]");
    world.run(MINUTE).await;
    let stream = world.operator().streams[0].clone();
    assert_eq!(stream.explanation.oldest_pending, first);
    assert_eq!((stream.explanation.overdue, stream.overdue_after), (1, MINUTE));
    assert!(!stream.explanation.holds.contains(&Hold::Reloaded));
}

#[tokio::test(start_paused = true)]
async fn a_changed_selector_forgets_and_holds_until_it_was_listed() {
    let mut world = World::new().await;
    world.start();
    world.run(2 * MINUTE).await;
    world.deafen();
    world.create("unheard");
    world.run(10 * MINUTE).await;
    assert_eq!(world.operator().streams[0].explanation.overdue, 1);
    world.configure("resources: [{resource: widgets.example.com, selector: team=x}]");
    world.run(MINUTE).await;
    let stream = world.operator().streams[0].clone();
    assert_eq!((stream.explanation.pending, stream.explanation.states.total()), (0, 0));
    world.run(Duration::from_hours(1)).await;
    assert!(world.restarts.is_empty());
}

#[tokio::test(start_paused = true)]
async fn what_excludes_each_other_is_refused() {
    let mut world = World::new().await;
    world.start();
    world.run(MINUTE).await;
    world.configure("resources: [widgets.example.com]\noperators: [{name: a, resources: [a.b]}]");
    world.run(MINUTE).await;
    let problem = world.board.view().config.problem.clone().unwrap_or_default();
    assert!(problem.contains("resources beside operators"), "{problem}");
}

#[tokio::test(start_paused = true)]
async fn another_address_needs_a_restart_of_dogwatch() {
    let mut world = World::new().await;
    world.start();
    world.run(MINUTE).await;
    assert!(world.board.view().config.warnings.is_empty(), "{:?}", world.board.view().config);
    world.configure("resources: [widgets.example.com]\nserver: {listen: \"127.0.0.1:9\"}");
    world.run(MINUTE).await;
    let warnings = world.board.view().config.warnings.clone();
    assert!(warnings.iter().any(|warning| warning.contains("127.0.0.1:9")), "{warnings:?}");
}

#[tokio::test(start_paused = true)]
async fn operators_that_are_observed_are_judged_and_never_restarted() {
    let mut world = World::new().await;
    world.configure(
        "operators: [{name: one, resources: [\"*.example.com\"]}, {name: two, resources: [gadgets.example.com]}]",
    );
    world.options.pod_name = None;
    world.start();
    world.run(3 * MINUTE).await;
    world.deafen();
    world.create("unheard");
    world.run(Duration::from_hours(2)).await;
    let view = world.board.view();
    let names: Vec<_> = view.operators.iter().map(|operator| operator.name.as_str()).collect();
    assert_eq!(names, ["one", "two"]);
    assert_eq!(view.operators[0].streams[0].explanation.overdue, 1);
    assert_eq!(view.operators[0].verdict.decision, Decision::Suspect);
    assert!(world.restarts.is_empty() && world.failed.is_empty());
}

#[tokio::test(start_paused = true)]
async fn resources_on_the_command_line_need_no_file() {
    let mut world = World::new().await;
    std::fs::remove_file(&world.options.config).expect("removed");
    world.options.is_config_named = false;
    world.options.resources = vec!["wi".to_owned()];
    world.start();
    world.run(3 * MINUTE).await;
    assert!(world.operator().streams[0].list.problem.is_some(), "no such short name");
    world.stop().await;
    world.options.resources = vec!["widget".to_owned()];
    world.start();
    world.until(3 * MINUTE, |world| world.decision() == Decision::Watching).await;
    assert_eq!(world.operator().streams[0].resource, "widgets.example.com");
}
