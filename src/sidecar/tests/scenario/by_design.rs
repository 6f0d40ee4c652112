//! Objects that nobody serves, by design.

use serde_json::json;

use super::{End, HOUR, Play};
use crate::sidecar::tests::world::{MINUTE, WIDGETS};
use crate::sim::operator::flaw::{Aim, Flaw};
use crate::sim::operator::{Options, Report};
use crate::view::Diagnosis::{Healthy, Partial, Unknown};

/// A marker in the object that the rule knows.
#[tokio::test(start_paused = true)]
async fn paused() {
    let mut play = Play::begin("paused", "marker").await;
    play.kind.flaws.begin_for_good(Flaw::Skips, Aim::name("a"));
    play.sim.patch(WIDGETS, Some("prod"), "a", json!({"spec": {"paused": true}}), "kubectl").expect("paused");
    play.run(HOUR).await;
    play.is_left_alone(Healthy);
    play.fools_the_naive();
}

/// The operator serves the objects of its own label; so does dogwatch.
#[tokio::test(start_paused = true)]
async fn paused_by_another_label() {
    let mut play = Play::set("paused", "other label", |_| {}).await;
    play.configure("resources: [{resource: widgets.example.com, selector: team=x}]");
    for name in ["mine", "mine-too"] {
        play.put("Widget", json!({"name": name, "namespace": "prod", "labels": {"team": "x"}}), json!({}));
    }
    play.run(MINUTE).await;
    play.start().await;
    play.kind.flaws.begin_for_good(Flaw::Skips, Aim::name("theirs"));
    play.put("Widget", json!({"name": "theirs", "namespace": "prod", "labels": {"team": "y"}}), json!({}));
    play.run(HOUR).await;
    play.is_left_alone(Healthy);
    play.fools_the_naive();
}

#[tokio::test(start_paused = true)]
async fn paused_by_another_namespace() {
    let mut play = Play::set("paused", "other namespace", |_| {}).await;
    play.configure("resources: [{resource: widgets.example.com, namespaces: [\"*\", \"!theirs\"]}]");
    play.create_in("theirs", "served");
    play.start().await;
    play.kind.flaws.begin_for_good(Flaw::Skips, Aim::name("theirs"));
    play.create_in("theirs", "theirs");
    play.run(HOUR).await;
    play.is_left_alone(Healthy);
    play.fools_the_naive();
}

/// Nobody told dogwatch of the filter: while others are served, the filtered object alerts and that is all.
#[tokio::test(start_paused = true)]
async fn paused_by_a_filter_that_dogwatch_does_not_know() {
    let mut play = Play::begin("paused", "unknown filter").await;
    play.kind.flaws.begin_for_good(Flaw::Skips, Aim::name("theirs"));
    play.create("theirs");
    play.load(3 * MINUTE, HOUR).await;
    play.is_left_alone(Partial);
}

#[tokio::test(start_paused = true)]
async fn unowned_shard() {
    let mut play = Play::begin("unowned-shard", "").await;
    play.kind.flaws.begin_for_good(Flaw::Skips, Aim::half(true));
    play.load(2 * MINUTE, HOUR).await;
    play.is_left_alone(Partial);
    assert!(play.operator().streams[0].explanation.overdue >= 10, "half of all");
}

/// It writes no API object at all.
#[tokio::test(start_paused = true)]
async fn unobservable_consumer() {
    let nothing = |options: &mut Options| options.report = Report::Nothing;
    let mut play = Play::with("unobservable-consumer", "", nothing).await;
    play.create("new");
    play.change("a", 7);
    play.run(HOUR).await;
    play.ends(End { worst: Unknown, decisions: None, restarts: 0, cured: 0, fruitless: 0 });
    assert_eq!(play.record.diagnoses["widgets.example.com"], [Unknown]);
    play.fools_the_naive();
}
