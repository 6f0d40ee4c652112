//! Those of the timelines that the judge plays without a shell (`src/judge/decision/tests/timelines.rs`) which a shell
//! could break.

use std::time::Duration;

use serde_json::json;

use super::{CURE, End, HOUR, Play};
use crate::judge::decision::Outcome;
use crate::sidecar::tests::world::{MINUTE, of_operator};
use crate::sim::operator::{Options, Report};
use crate::sim::{Fault, Scope};
use crate::view::Decision::{Blind, Restarting, Watching};
use crate::view::Diagnosis::{Asleep, Healthy, Partial};

fn kopf(options: &mut Options) {
    options.report = Report::Kopf { handlers: 1 };
}

/// A handler of 25 minutes in a quiet cluster writes nothing while it runs.
#[tokio::test(start_paused = true)]
async fn timeline_3_a_long_attempt_with_max_attempt() {
    let mut play = Play::set("timeline-3", "maxAttempt 30m", kopf).await;
    play.configure("resources: [{resource: widgets.example.com, rule: {kopf: {maxAttempt: 30m}}}]");
    play.start().await;
    become_slow(&mut play).await;
    play.create("slow");
    play.run(2 * HOUR).await;
    play.is_left_alone(Partial);
    play.fools_the_naive();
}

/// With the default of 15 minutes one restart is fruitless, and the next single object brings none.
#[tokio::test(start_paused = true)]
async fn timeline_3_a_long_attempt_without() {
    let mut play = Play::with("timeline-3", "defaults", kopf).await;
    become_slow(&mut play).await;
    play.create("slow");
    play.run(90 * MINUTE).await;
    play.is_tried(1);
    play.create("slow-too");
    play.run(90 * MINUTE).await;
    play.is_tried(1);
}

async fn become_slow(play: &mut Play) {
    play.kind.service_time = 25 * MINUTE;
    play.kill(3);
    play.run(10 * MINUTE).await;
    play.story();
}

/// Leadership comes back while a stall is remembered: the new leader has its grace, and silence begins with it.
#[tokio::test(start_paused = true)]
async fn timeline_5_leadership_moves_during_a_stall() {
    let mut play = Play::set("timeline-5", "", |_| {}).await;
    let lease = |holder: &str, round: u32| json!({"spec": {"holderIdentity": holder, "leaseDurationSeconds": 15, "renewTime": format!("round {round}")}});
    let mut object = lease("op-1_x", 0);
    object["apiVersion"] = "coordination.k8s.io/v1".into();
    object["kind"] = "Lease".into();
    object["metadata"] = json!({"name": "my-lock", "namespace": "prod"});
    // It must last until the story begins.
    object["spec"]["leaseDurationSeconds"] = 600.into();
    play.sim.create(object, "operator").expect("created");
    play.configure("operator: {lease: my-lock}\nresources: [widgets.example.com]");
    play.start().await;
    play.deafen();
    play.create("unheard");
    // 12 minutes here, an hour elsewhere, and back.
    for (holder, minutes) in [("op-1_x", 12), ("op-2_y", 60), ("op-1_x", 16)] {
        for round in 1..=minutes * 6 {
            let renewal = lease(holder, round);
            play.sim
                .patch("leases.coordination.k8s.io", Some("prod"), "my-lock", renewal, "operator")
                .expect("renewed");
            play.run(Duration::from_secs(10)).await;
        }
    }
    play.ends(End { worst: Partial, decisions: None, restarts: 0, cured: 0, fruitless: 0 });
    play.fools_the_naive();
}

/// API servers restart one after the other; an object was created just before, and the operator lists late.
#[tokio::test(start_paused = true)]
async fn timeline_7_rolling_api_servers() {
    let mut play = Play::begin("timeline-7", "").await;
    play.create("just-before");
    for _ in 0..3 {
        let down = play.sim.begin(Fault::ApiDown, Scope::default());
        play.run(3 * MINUTE).await;
        play.sim.end(down);
        play.run(2 * MINUTE).await;
    }
    let late = play.sim.begin(Fault::ApiDown, of_operator());
    play.create("and-during");
    play.run(12 * MINUTE).await;
    play.sim.end(late);
    play.run(HOUR).await;
    play.ends(End { worst: play.record.worst(), decisions: None, restarts: 0, cured: 0, fruitless: 0 });
    assert!(play.failed.is_empty() && play.decisions.contains(&Blind), "{:?}", play.decisions);
    play.fools_the_naive();
}

/// The operator crashes by itself again and again and sits in the kubelet's back-off: no budget is spent, and nothing
/// counts as fruitless.
#[tokio::test(start_paused = true)]
async fn timeline_8_a_crash_loop() {
    let mut play = Play::begin("timeline-8", "").await;
    // It dies before it has served anything.
    play.kind.service_time = HOUR;
    play.create("unheard");
    for back_off in [10, 20, 40, 80, 160, 300, 300, 300, 300, 300] {
        play.kill(back_off);
        play.run(Duration::from_secs(back_off + 40)).await;
    }
    play.ends(End { worst: play.record.worst(), decisions: Some(&[Watching]), restarts: 0, cured: 0, fruitless: 0 });
    assert_eq!(play.operator().verdict.budget_remaining, 3);
    play.fools_the_naive();
}

/// The kubelet lets the container wait for five minutes after our kill: no second one, no 500 to a young container.
#[tokio::test(start_paused = true)]
async fn timeline_9_back_off_after_our_kill() {
    let mut play = Play::begin("timeline-9", "").await;
    play.down = 300;
    play.deafen();
    play.create("unheard");
    play.until(40 * MINUTE, |world| world.restarts.len() == 1).await;
    for _ in 0..(10 * 60) {
        play.run(Duration::from_secs(1)).await;
        assert_eq!(play.ask("/healthz").await.0, 200);
    }
    play.run(HOUR).await;
    play.is_cured();
}

/// The stream heals while `restarting` is on: the 500 is called back at the first acknowledgement.
#[tokio::test(start_paused = true)]
async fn timeline_12_healed_while_restarting() {
    let mut play = Play::begin("timeline-12", "").await;
    let deaf = play.deafen();
    play.create("unheard");
    play.until(40 * MINUTE, |world| world.decision() == Restarting).await;
    play.sim.end(deaf);
    play.change("unheard", 2);
    play.until(MINUTE, |world| world.decision() == Watching).await;
    play.run(HOUR).await;
    play.ends(End { worst: Asleep, decisions: None, restarts: 0, cured: 0, fruitless: 0 });
    assert_eq!(play.operator().restarts.outcomes.of(Outcome::Cancelled), 1);
    assert_eq!(play.decisions[..3], CURE[..3]);
}

/// An object is changed every second, and its handler takes 1.2 s: hardly ever up to date, and served all the time.
#[tokio::test(start_paused = true)]
async fn timeline_13_changed_all_the_time() {
    let mut play = Play::begin("timeline-13", "served").await;
    play.kind.service_time = Duration::from_millis(1200);
    play.kill(3);
    play.run(5 * MINUTE).await;
    play.story();
    for size in 0..1500 {
        play.change("a", size + 10);
        play.run(Duration::from_secs(1)).await;
    }
    play.is_left_alone(Healthy);
}

#[tokio::test(start_paused = true)]
async fn timeline_13_changed_all_the_time_and_never_heard() {
    let mut play = Play::begin("timeline-13", "deaf").await;
    play.deafen();
    for size in 0..1500 {
        play.change("a", size + 10);
        play.run(Duration::from_secs(1)).await;
    }
    play.run(10 * MINUTE).await;
    play.is_cured();
}
