//! Operators whose watch has gone silent, or that seem so.

use std::time::Duration;

use serde_json::json;
use tokio::time::{Instant, sleep};

use super::play::Play;

const TO_CURE: Duration = Duration::from_mins(1);
/// Long enough for a second restart, were there one to come.
const AFTERWARDS: Duration = Duration::from_secs(20);

/// New objects are missed.
pub(crate) async fn created(play: &mut Play) {
    play.mute(0);
    for name in ["a", "b"] {
        play.stage.create(0, name, json!({})).await;
    }
    cured(play, 0, &["a", "b"]).await;
}

/// A change is missed.
pub(crate) async fn changed(play: &mut Play) {
    play.mute(0);
    play.stage.change(0, "first", json!({"size": 2})).await;
    cured(play, 0, &["first"]).await;
}

/// A deletion is missed. An object that has vanished proves no service, since anybody can take a finalizer away: only
/// what comes after it and is served shows that the restart has cured.
pub(crate) async fn deleted(play: &mut Play) {
    play.mute(0);
    play.stage.delete(0, "first").await;
    play.until_failed().await;
    play.until_served(0, &["first"], TO_CURE).await;
    let load = play.load(0, Duration::from_millis(300), json!({}));
    cured(play, 0, &["first"]).await;
    load.end().await;
}

/// One resource is served all the time, the other one not at all.
pub(crate) async fn one_of_two(play: &mut Play) {
    let load = play.load(0, Duration::from_secs(2), json!({}));
    play.mute(1);
    play.stage.create(1, "a", json!({})).await;
    cured(play, 1, &["a"]).await;
    load.end().await;
}

/// Every change starts the object's story anew, but not its clocks.
pub(crate) async fn changed_all_the_time(play: &mut Play) {
    play.mute(0);
    let changes = play.change(0, "first", Duration::from_millis(100));
    play.until_failed().await;
    play.until("outcome cured", TO_CURE).await;
    drop(changes);
    play.until_served(0, &["first"], TO_CURE).await;
    play.until("healthz 200", TO_CURE).await;
    sleep(AFTERWARDS).await;
}

/// The whole operator hears nothing, as its sockets show: there is no need to wait for `asleepAfter`, only for what kopf
/// would heal by itself.
pub(crate) async fn silent_connection(play: &mut Play) {
    play.mute(0);
    // What it received last must lie clearly before the event.
    sleep(Duration::from_secs(10)).await;
    play.stage.create(0, "a", json!({})).await;
    let created = Instant::now();
    let wait = Duration::from_mins(3);
    play.until("decision suspect", wait).await;
    let took = created.elapsed();
    let (probe, _) = play.recorder.newest();
    let evidence = probe.lines().filter(|line| line.ends_with(": silent-connection")).count();
    assert_eq!(evidence, 1, "{probe}");
    assert!((130..150).contains(&took.as_secs()), "suspected after {took:?}");
    cured(play, 0, &["a"]).await;
}

/// The newest kopf gives a silent watch up after 70 s: who waits longer need do nothing.
pub(crate) async fn heals_itself(play: &mut Play) {
    play.mute(0);
    play.stage.create(0, "a", json!({})).await;
    play.until("overdue widgets", TO_CURE).await;
    play.until_served(0, &["a"], Duration::from_secs(95)).await;
    sleep(AFTERWARDS).await;
}

/// kopf cannot write its mark, a copy of the object's spec, where that is larger than annotations may be: it never will
/// have served such an object. One restart is tried in a quiet cluster; the next single one is not.
pub(crate) async fn poison(play: &mut Play) {
    let spec = json!({"filling": "x".repeat(300_000)});
    play.stage.create(0, "poison", spec.clone()).await;
    play.until_failed().await;
    play.until("outcome fruitless", TO_CURE * 2).await;
    play.until("healthz 200", TO_CURE).await;
    play.stage.create(0, "another-poison", spec).await;
    // As long as the first one took, and more.
    sleep(Duration::from_secs(75)).await;
    assert!(!play.stage.is_served(0, "another-poison").await, "the poison is none");
}

/// Every watch hears nothing, and only its first list tells an operator what there is. kopf continues where its own write
/// comes back as an event, so each start takes an object one step further, first to the finalizer, then to the mark; and
/// the next object is missed again. The budget ends that.
pub(crate) async fn budget_spent(play: &mut Play) {
    play.mute_all(0);
    let load = play.load(0, Duration::from_secs(5), json!({}));
    play.until("decision exhausted", TO_CURE * 8).await;
    sleep(AFTERWARDS).await;
    drop(load);
    assert!(play.recorder.log().has("event RestartBudgetExhausted"), "no Event RestartBudgetExhausted");
}

/// One restart, after which objects of the `index`-th resource are served, and everything is well.
pub(crate) async fn cured(play: &mut Play, index: usize, names: &[&str]) {
    play.until_failed().await;
    play.until_served(index, names, TO_CURE).await;
    play.until("outcome cured", TO_CURE).await;
    play.until("healthz 200", TO_CURE).await;
    sleep(AFTERWARDS).await;
    let log = play.recorder.log();
    for reason in ["OperatorSuspect", "OperatorAsleep", "OperatorRestarted", "OperatorRecovered"] {
        assert!(log.has(&format!("event {reason}")), "no Event {reason}");
    }
}
