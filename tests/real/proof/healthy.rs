//! Operators that no restart would help, whatever it looks like.

use std::time::Duration;

use serde_json::json;
use tokio::time::sleep;

use super::play::Play;
use super::rules::Client;

/// Long enough for a restart: the thresholds, the readings in between, and three failed probes are over by then.
pub(crate) const A_WHILE: Duration = Duration::from_mins(1);

/// Times of objects have a resolution of a second, and what was wanted in the second of a list counts as wanted before
/// it: with lists every second, a load in step with them would hardly ever count as served.
pub(crate) const UNEVEN: Duration = Duration::from_millis(1700);

/// Nothing to do is not deaf.
pub(crate) async fn idle(play: &mut Play) {
    let before = play.stage.proxy.counters(Client::Dogwatch, "widgets").requests;
    sleep(A_WHILE).await;
    let lists = play.stage.proxy.counters(Client::Dogwatch, "widgets").requests - before;
    assert!(lists >= 20, "dogwatch has looked {lists} times");
}

/// New objects and changes, all served.
pub(crate) async fn load(play: &mut Play) {
    let changes = play.change(0, "first", Duration::from_secs(1));
    let load = play.load(0, Duration::from_millis(250), json!({}));
    sleep(A_WHILE).await;
    drop(changes);
    load.end().await;
}

/// An object that is hardly ever up to date, and served all the time.
pub(crate) async fn changed_all_the_time(play: &mut Play) {
    let changes = play.change(0, "first", Duration::from_millis(100));
    sleep(A_WHILE).await;
    drop(changes);
    play.until_served(0, &["first"], A_WHILE).await;
}

/// One object is none of the operator's business, the others are served.
pub(crate) async fn filtered(play: &mut Play) {
    let load = play.load(0, UNEVEN, json!({"team": "x"}));
    play.stage.create(0, "filtered", json!({})).await;
    play.until("overdue widgets", A_WHILE).await;
    sleep(A_WHILE).await;
    assert!(!play.stage.is_served(0, "filtered").await, "the filter is none");
    load.end().await;
}

/// Handlers that take longer than `overdueAfter`, though not longer than `maxAttempt`, one after the other.
pub(crate) async fn slow(play: &mut Play) {
    for name in ["a", "b", "c", "d"] {
        play.stage.create(0, name, json!({})).await;
        play.until("overdue widgets", A_WHILE).await;
        play.until_served(0, &[name], A_WHILE).await;
    }
}

/// Nobody is served while there is no API server, and none is at fault.
pub(crate) async fn api_server_killed(play: &mut Play) {
    // Nobody else asks this one, and the kubelet and the recorder bear its absence.
    play.stage.server.kill();
    play.until("decision blind", A_WHILE).await;
    sleep(A_WHILE / 2).await;
    play.stage.server.revive().await;
    play.stage.create(0, "a", json!({})).await;
    play.until("decision watching", A_WHILE).await;
    play.until_served(0, &["a"], A_WHILE).await;
    sleep(A_WHILE / 2).await;
}

/// A dogwatch that dies again and again gives no answer, which is no reason to restart anybody.
pub(crate) async fn dogwatch_killed(play: &mut Play) {
    let load = play.load(0, Duration::from_secs(1), json!({}));
    let before = play.kubelet.seen().probes.0;
    for _ in 0..15 {
        play.sidecar.kill();
        sleep(Duration::from_secs(2)).await;
        play.sidecar.start();
        sleep(Duration::from_secs(2)).await;
    }
    play.until("decision watching", A_WHILE).await;
    assert!(play.kubelet.seen().probes.0 > before + 30, "the probe went on");
    load.end().await;
}

/// The operator ends by itself, and the kubelet lets it wait longer each time.
pub(crate) async fn operator_crashes(play: &mut Play) {
    let load = play.load(0, Duration::from_secs(2), json!({}));
    sleep(A_WHILE * 2).await;
    drop(load);
    let crashes = play.kubelet.seen().crashes;
    assert!(crashes >= 3, "{crashes} crashes");
}
