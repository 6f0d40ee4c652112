//! What goes wrong inside of the operator's process, its streams being fine.

use std::time::Duration;

use super::{End, HOUR, Play};
use crate::sidecar::tests::world::{MINUTE, WIDGETS, of_operator};
use crate::sim::operator::flaw::{Aim, Flaw};
use crate::sim::{Fault, Scope, Verb};
use crate::view::Decision::{Recovering, Restarting, Suspect, Watching};
use crate::view::Diagnosis::{Asleep, Healthy, Partial, Unknown};

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn reads_but_ignores() {
    let mut play = Play::begin("reads-but-ignores", "").await;
    play.kind.flaws.begin(Flaw::Ignores, Aim::default());
    play.create("unheard");
    play.run(HOUR).await;
    play.is_cured();
}

#[tokio::test(start_paused = true)]
async fn gave_up_after_retries() {
    let patience = |options: &mut crate::sim::operator::Options| options.gives_up_after = Some(MINUTE);
    let mut play = Play::with("gave-up-after-retries", "server down", patience).await;
    let down = play.sim.begin(Fault::ApiDown, Scope::default());
    play.run(90 * SECOND).await;
    play.sim.end(down);
    play.run(2 * MINUTE).await;
    play.create("unheard");
    play.run(HOUR).await;
    // Whether the gate closes within 90 s is a matter of when it was asked.
    play.ends(End { worst: Asleep, decisions: None, restarts: 1, cured: 1, fruitless: 0 });
    assert!(play.decisions.ends_with(&[Suspect, Restarting, Recovering, Watching]), "{:?}", play.decisions);
}

#[tokio::test(start_paused = true)]
async fn gave_up_after_403() {
    let patience = |options: &mut crate::sim::operator::Options| options.gives_up_after = Some(MINUTE);
    let mut play = Play::with("gave-up-after-retries", "403", patience).await;
    let forbidden = play.sim.begin(Fault::Forbidden, of_operator());
    play.run(180 * SECOND).await;
    play.sim.end(forbidden);
    play.create("unheard");
    play.run(HOUR).await;
    play.is_cured();
}

/// Fresh writes into every status, none of them about the change.
#[tokio::test(start_paused = true)]
async fn stale_cache_in_process() {
    let mut play = Play::begin("stale-cache-in-process", "").await;
    play.kind.flaws.begin(Flaw::StaleCache, Aim::default());
    play.change("a", 7);
    play.run(HOUR).await;
    play.is_cured();
    play.fools_the_naive();
}

#[tokio::test(start_paused = true)]
async fn all_workers_blocked() {
    let mut play = Play::with("all-workers-blocked", "", |options| options.workers = 4).await;
    play.kind.flaws.begin(Flaw::Hangs, Aim::default());
    play.load(MINUTE, 10 * MINUTE).await;
    play.run(HOUR).await;
    play.is_cured();
}

#[tokio::test(start_paused = true)]
async fn one_key_blocked() {
    let mut play = Play::with("one-key-blocked", "", |options| options.workers = 4).await;
    play.kind.flaws.begin(Flaw::Hangs, Aim::name("a"));
    play.change("a", 7);
    play.load(3 * MINUTE, HOUR).await;
    play.is_left_alone(Partial);
}

#[tokio::test(start_paused = true)]
async fn one_kind_dead() {
    let mut play = Play::two_kinds("one-kind-dead", "restart true", |_| {}).await;
    kill_widgets(&mut play).await;
    play.is_cured();
    play.fools_the_naive();
}

/// The stream may not restart the operator: an alert, and that is all.
#[tokio::test(start_paused = true)]
async fn one_kind_dead_that_may_not_restart() {
    let mut play = Play::set("one-kind-dead", "restart false", |options| {
        options.resources.push(crate::sim::Resource::custom("example.com", "v1", "Gadget"));
    })
    .await;
    play.configure("resources: [{resource: widgets.example.com, restart: false}, gadgets.example.com]");
    play.start().await;
    kill_widgets(&mut play).await;
    play.is_left_alone(Asleep);
}

async fn kill_widgets(play: &mut Play) {
    play.kind.flaws.begin(Flaw::Hangs, Aim::plural("widgets"));
    play.create("unheard");
    for number in 0..60 {
        play.create_gadget(&format!("g-{number}"));
        play.run(MINUTE).await;
    }
}

/// The informer cannot decode one object, and hears of no other after it.
#[tokio::test(start_paused = true)]
async fn poison_object() {
    let mut play = Play::with("poison-object", "decode", |options| options.chokes = true).await;
    play.put("Widget", serde_json::json!({"name": "p", "namespace": "prod"}), serde_json::json!({"poison": true}));
    play.run(2 * HOUR).await;
    play.is_tried(1);
}

/// Every later object is unserved as well: each fruitless restart doubles what the next one needs, and the budget ends
/// it.
#[tokio::test(start_paused = true)]
async fn poison_object_with_more_behind_it() {
    let mut play = Play::with("poison-object", "more behind it", |options| options.chokes = true).await;
    play.configure("resources: [widgets.example.com]\nlist: {interval: 2m}");
    play.put("Widget", serde_json::json!({"name": "p", "namespace": "prod"}), serde_json::json!({"poison": true}));
    play.load(HOUR / 2, 4 * HOUR).await;
    play.is_tried(3);
    play.fools_the_naive();
}

/// One object that the conversion webhook fails on fails every list, dogwatch's as well.
#[tokio::test(start_paused = true)]
async fn poison_object_that_fails_every_list() {
    let mut play = Play::begin("poison-object", "conversion").await;
    play.sim.begin(Fault::ApiDown, Scope::resource(WIDGETS).verbs(&[Verb::List, Verb::Watch]));
    play.create("unheard");
    play.run(2 * HOUR).await;
    play.ends(End { worst: Unknown, decisions: None, restarts: 0, cured: 0, fruitless: 0 });
    play.fools_the_naive();
}

/// Nothing that is wanted is pending; only the age of the status tells.
#[tokio::test(start_paused = true)]
async fn timer_lost() {
    let timer = |options: &mut crate::sim::operator::Options| options.timer = Some(30 * SECOND);
    let mut play = Play::with("timer-lost", "", timer).await;
    play.kind.flaws.begin(Flaw::ForgetsTimers, Aim::default());
    play.run(HOUR).await;
    play.is_left_alone(Healthy);
}
