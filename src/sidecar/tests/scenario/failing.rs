//! Operators that work or fail, slowly and in their own time.

use std::time::Duration;

use serde_json::json;

use super::{End, HOUR, Play};
use crate::sidecar::tests::world::{MINUTE, WIDGETS, of_operator};
use crate::sim::Fault;
use crate::sim::operator::flaw::{Aim, Flaw};
use crate::sim::operator::{Options, Report};
use crate::view::Diagnosis::{Asleep, Healthy, Partial};
use crate::view::Withheld;

const KOPF: &str = "kopf.zalando.org/KopfFinalizerMarker";

fn kopf(options: &mut Options) {
    options.report = Report::Kopf { handlers: 1 };
    options.finalizer = Some(KOPF.to_owned());
}

#[tokio::test(start_paused = true)]
async fn slow_handler() {
    let mut play = Play::begin("slow-handler", "a condition says so").await;
    slow_down(&mut play).await;
    play.create("slow");
    play.run(HOUR).await;
    play.is_left_alone(Healthy);
}

/// The number is raised at the end, and all that moves until then is a count that no rule knows: how long an attempt
/// may take must be configured.
#[tokio::test(start_paused = true)]
async fn slow_handler_with_max_attempt() {
    let mut play = Play::set("slow-handler", "maxAttempt 30m", at_end).await;
    play.configure("resources: [{resource: widgets.example.com, rule: {generation: {maxAttempt: 30m}}}]");
    play.start().await;
    slow_down(&mut play).await;
    play.change("a", 7);
    play.run(HOUR).await;
    play.is_left_alone(Partial);
}

fn at_end(options: &mut Options) {
    options.report = Report::GenerationAtEnd;
}

/// The operator is started anew, this time with handlers of 25 minutes.
async fn slow_down(play: &mut Play) {
    play.kind.service_time = 25 * MINUTE;
    play.kind.progress = Some(5 * MINUTE);
    play.kill(3);
    play.run(10 * MINUTE).await;
    play.story();
}

/// Each time that the next attempt comes a little later than `maxAttempt`, the object is `progress-stopped` for a moment.
#[tokio::test(start_paused = true)]
#[ignore = "the judge keeps the clock of the first moment when the operator goes on, and restarts it at the second"]
async fn backoff_legit() {
    let mut play = Play::begin("backoff-legit", "condition, 1000 s").await;
    play.kind.flaws.begin_for_good(Flaw::Fails { retry: 1000 }, Aim::name("failing"));
    play.create("failing");
    play.run(HOUR).await;
    play.is_left_alone(Healthy);
}

#[tokio::test(start_paused = true)]
async fn backoff_legit_of_kopf() {
    for (retry, variant) in [(60, "kopf, 60 s"), (600, "kopf, 600 s")] {
        let mut play = Play::with("backoff-legit", variant, kopf).await;
        play.kind.flaws.begin_for_good(Flaw::Fails { retry }, Aim::name("failing"));
        play.create("failing");
        play.run(HOUR).await;
        play.is_left_alone(Healthy);
    }
}

#[tokio::test(start_paused = true)]
async fn obsgen_never() {
    let mut play = Play::with("obsgen", "never", |options| options.report = Report::Phase).await;
    play.change("a", 7);
    play.create("new");
    play.run(HOUR).await;
    play.is_left_alone(Healthy);
    play.fools_the_naive();
}

/// A condition says that the newest generation failed; the whole status keeps the last good one.
#[tokio::test(start_paused = true)]
async fn obsgen_on_success() {
    let mut play = Play::begin("obsgen", "on success, a condition says so").await;
    play.kind.flaws.begin_for_good(Flaw::Skips, Aim::name("a"));
    play.change("a", 7);
    for attempt in 0..36 {
        let condition = json!({
            "type": "Ready", "status": "False", "reason": "ReconcileFailed", "observedGeneration": 2,
            "lastTransitionTime": "2026-03-04T07:20:00Z",
        });
        let status = json!({"status": {"observedGeneration": 1, "attempts": attempt, "conditions": [condition]}});
        play.sim.patch(WIDGETS, Some("prod"), "a", status, "operator").expect("written");
        play.run(5 * MINUTE).await;
    }
    play.is_left_alone(Healthy);
}

/// While a count in the status is all that moves, and the stream is not quiet.
#[tokio::test(start_paused = true)]
async fn obsgen_at_end() {
    let mut play = Play::with("obsgen", "at the end, others are served", at_end).await;
    play.kind.flaws.begin_for_good(Flaw::Fails { retry: 60 }, Aim::name("a"));
    play.change("a", 7);
    play.load(3 * MINUTE, HOUR).await;
    play.is_left_alone(Partial);
}

#[tokio::test(start_paused = true)]
async fn delete_handler_fails() {
    let mut play = Play::with("delete-handler-fails", "kopf", kopf).await;
    play.kind.flaws.begin_for_good(Flaw::Fails { retry: 60 }, Aim::name("a"));
    play.sim.delete(WIDGETS, Some("prod"), "a").expect("there");
    play.run(HOUR).await;
    play.is_left_alone(Healthy);
}

/// The rule does not know the operator's finalizers: the deletion alerts and never speaks for a restart.
#[tokio::test(start_paused = true)]
async fn delete_handler_fails_where_the_finalizer_is_unknown() {
    let finalizer = |options: &mut Options| options.finalizer = Some("example.com/widget".to_owned());
    let mut play = Play::with("delete-handler-fails", "generation", finalizer).await;
    play.kind.flaws.begin_for_good(Flaw::Fails { retry: 60 }, Aim::name("a"));
    play.sim.delete(WIDGETS, Some("prod"), "a").expect("there");
    play.run(HOUR).await;
    play.is_left_alone(Partial);
}

/// The handler says that all is done and the finalizer stays: while others are served, nothing speaks for a restart.
#[tokio::test(start_paused = true)]
async fn finalizer_stays() {
    let mut play = Play::with("finalizer-stays", "others are served", kopf).await;
    play.kind.flaws.begin_for_good(Flaw::Skips, Aim::name("a"));
    play.sim.delete(WIDGETS, Some("prod"), "a").expect("there");
    play.load(5 * MINUTE, HOUR).await;
    play.is_left_alone(Partial);
}

#[tokio::test(start_paused = true)]
async fn finalizer_stays_in_a_quiet_stream() {
    let mut play = Play::with("finalizer-stays", "quiet", kopf).await;
    play.kind.flaws.begin_for_good(Flaw::Skips, Aim::name("a"));
    play.sim.delete(WIDGETS, Some("prod"), "a").expect("there");
    play.run(2 * HOUR).await;
    play.is_tried(1);
    play.fools_the_naive();
}

/// The operator has done its part; somebody else has not.
#[tokio::test(start_paused = true)]
async fn foreign_finalizer() {
    let mut play = Play::with("foreign-finalizer", "", kopf).await;
    let metadata = json!({"name": "held", "namespace": "prod", "finalizers": ["example.com/of-others"]});
    play.put("Widget", metadata, json!({"size": 1}));
    play.run(MINUTE).await;
    play.sim.delete(WIDGETS, Some("prod"), "held").expect("there");
    play.run(HOUR).await;
    play.is_left_alone(Healthy);
    play.fools_the_naive();
}

/// Two controllers take turns in writing the same field.
#[tokio::test(start_paused = true)]
async fn fight() {
    let mut play = Play::begin("fight", "").await;
    for round in 0..180 {
        let size = json!({"spec": {"size": round % 2 + 10}});
        let manager = if round % 2 == 0 { "one" } else { "other" };
        play.sim.patch(WIDGETS, Some("prod"), "a", size, manager).expect("changed");
        play.run(Duration::from_secs(20)).await;
    }
    play.is_left_alone(Healthy);
}

#[tokio::test(start_paused = true)]
async fn namespace_terminating() {
    let mut play = Play::begin("namespace-terminating", "").await;
    let metadata = json!({"name": "held", "namespace": "doomed", "finalizers": ["example.com/of-others"]});
    play.put("Widget", metadata, json!({"size": 1}));
    play.run(MINUTE).await;
    play.sim.delete("namespaces", None, "doomed").expect("there");
    play.run(HOUR).await;
    play.is_left_alone(Partial);
    play.fools_the_naive();
}

/// Nothing that the operator writes is taken: it works all the time, and nothing comes of it.
#[tokio::test(start_paused = true)]
async fn conflict_forever() {
    let mut play = Play::begin("conflict-forever", "").await;
    play.sim.begin(Fault::ConflictForever, of_operator());
    play.change("a", 7);
    play.run(2 * HOUR).await;
    play.is_tried(1);
    play.fools_the_naive();
}

/// The stream of widgets is deaf, and a gadget is in the middle of something.
#[tokio::test(start_paused = true)]
async fn restart_harms() {
    let mut play = Play::two_kinds("restart-harms", "", |_| {}).await;
    play.kind.flaws.begin(Flaw::Ignores, Aim::default());
    play.create("unheard");
    for step in 0..8 {
        work_on_gadget(&play, step, "False");
        play.run(5 * MINUTE).await;
    }
    assert_eq!(play.operator().restarts.withheld.of(Withheld::WorkInFlight), 1);
    assert!(play.restarts.is_empty(), "40 minutes, and none yet");
    work_on_gadget(&play, 9, "True");
    play.run(HOUR).await;
    play.is_cured();
    play.fools_the_naive();
}

/// Work that never ends does not protect for ever: for at most twice what one attempt may take.
#[tokio::test(start_paused = true)]
async fn restart_harms_but_not_for_ever() {
    let mut play = Play::two_kinds("restart-harms", "work never ends", |_| {}).await;
    play.kind.flaws.begin(Flaw::Ignores, Aim::default());
    play.create("unheard");
    for step in 0..24 {
        work_on_gadget(&play, step, "False");
        play.run(5 * MINUTE).await;
    }
    let begun = play.record.failed_at.expect("failed") - play.second.saturating_sub(2 * 3600);
    assert!((45 * 60..55 * 60).contains(&begun), "after 15 min of silence and 30 min of patience: {begun}");
    play.ends(End { worst: Asleep, decisions: Some(super::CURE), restarts: 1, cured: 1, fruitless: 0 });
}

fn work_on_gadget(play: &Play, step: u32, ready: &str) {
    let reason = if ready == "True" { "Succeeded" } else { "Progressing" };
    let condition = json!({
        "type": "Ready", "status": ready, "reason": reason, "observedGeneration": 1,
        "lastTransitionTime": "2026-03-04T07:20:00Z",
    });
    let status = json!({"status": {"step": step, "conditions": [condition]}});
    play.sim.patch("gadgets.example.com", Some("prod"), "first", status, "operator").expect("written");
}
