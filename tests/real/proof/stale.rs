//! An API server whose side is at fault: no watch of the resource hears anything, whoever opens it and when.

use std::time::Duration;

use serde_json::json;
use tokio::time::sleep;

use super::play::Play;
use super::rules::{Client, Mute, Which};

/// A test of the cache lasts 30 s where it is mute.
const TO_TELL: Duration = Duration::from_mins(2);

/// A restart would help nobody until the server is well again.
pub(crate) async fn server_stale(play: &mut Play) {
    let plural = play.stage.operator.plurals[0].clone();
    play.mute_all(0);
    play.stage.proxy.mute(Mute { client: Client::Dogwatch, plural: plural.clone(), which: Which::All });
    play.stage.create(0, "a", json!({})).await;
    play.until("diagnosis widgets asleep", TO_TELL).await;
    play.until("diagnosis widgets server-stale", TO_TELL).await;
    play.until("event ServerStale", TO_TELL).await;
    sleep(Duration::from_secs(45)).await;
    assert!(play.recorder.is("diagnosis widgets server-stale"), "it stays so while it is");
    play.stage.proxy.unmute();
    play.stage.proxy.drop_watches(Client::Operator, &plural);
    play.until_served(0, &["a"], TO_TELL).await;
    play.until("diagnosis widgets healthy", TO_TELL).await;
}
