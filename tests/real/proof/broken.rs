//! Operators in which something has broken that no connection shows.

use std::time::Duration;

use serde_json::json;
use tokio::time::sleep;

use super::deaf::cured;
use super::healthy::{A_WHILE, UNEVEN};
use super::operator::Fault;
use super::play::Play;

/// The task that watches has ended, and nobody has noticed.
pub(crate) async fn watch_dead(play: &mut Play) {
    play.suffer(Fault::WatchDead("widgets")).await;
    for name in ["a", "b"] {
        play.stage.create(0, name, json!({})).await;
    }
    cured(play, 0, &["a", "b"]).await;
}

/// Every worker waits for ever, on a lock or on somebody else's answer.
pub(crate) async fn workers_blocked(play: &mut Play) {
    play.suffer(Fault::WorkersBlocked).await;
    for name in ["a", "b", "c"] {
        play.stage.create(0, name, json!({})).await;
    }
    cured(play, 0, &["a", "b", "c"]).await;
}

/// The same with one of two kinds; the other one is served all the time.
pub(crate) async fn one_kind_dead(play: &mut Play) {
    let load = play.load(0, Duration::from_secs(2), json!({}));
    play.suffer(Fault::WorkersOfOneKindBlocked("gadgets")).await;
    for name in ["a", "b", "c"] {
        play.stage.create(1, name, json!({})).await;
    }
    cured(play, 1, &["a", "b", "c"]).await;
    load.end().await;
}

/// One object never returns, the others are served.
pub(crate) async fn key_blocked(play: &mut Play) {
    play.suffer(Fault::KeyBlocked("stuck")).await;
    let load = play.load(0, UNEVEN, json!({}));
    play.stage.create(0, "stuck", json!({})).await;
    play.until("overdue widgets", A_WHILE).await;
    sleep(A_WHILE).await;
    assert!(!play.stage.is_served(0, "stuck").await, "the worker does not block");
    load.end().await;
}
