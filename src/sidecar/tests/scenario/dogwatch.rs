//! dogwatch's own trouble, and what only looks like trouble.

use serde_json::json;

use super::{End, HOUR, Play};
use crate::sidecar::tests::world::{MINUTE, WIDGETS, of_operator};
use crate::sim::Fault;
use crate::sim::operator::Report;
use crate::view::Diagnosis::Unknown;

/// It is killed every 20 minutes beside an operator that no restart makes hear: budget and first-seen are in the state
/// file, so that kills stay within the budget, and there are some. Every 16 minutes there would be none: a start is a
/// hold, and 15 minutes of silence and a confirmation do not fit in between.
#[tokio::test(start_paused = true)]
async fn dogwatch_crashes() {
    let mut play = Play::set("dogwatch-crashes", "every 20 min, deaf for good", |_| {}).await;
    play.options.state_file = Some(play.folder().join("state.json"));
    play.start().await;
    play.sim.begin(Fault::MuteOpen { bookmarks: true, new_streams: true }, of_operator());
    for number in 0..9 {
        play.create(&format!("unheard-{number}"));
        play.run(20 * MINUTE).await;
        play.crash();
        play.world.start();
    }
    let restarts = play.restarts.len();
    assert!((1..=3).contains(&restarts), "{restarts} restarts in 3 hours");
    play.tell();
}

#[tokio::test(start_paused = true)]
async fn dogwatch_crashes_beside_a_healthy_operator() {
    let mut play = Play::set("dogwatch-crashes", "healthy operator", |_| {}).await;
    play.options.state_file = Some(play.folder().join("state.json"));
    play.start().await;
    for number in 0..60 {
        play.create(&format!("served-{number}"));
        play.run(MINUTE).await;
        play.crash();
        play.world.start();
    }
    play.run(5 * MINUTE).await;
    play.ends(End { worst: play.record.worst(), decisions: None, restarts: 0, cured: 0, fruitless: 0 });
    assert!(play.failed.is_empty());
}

/// A default is added to the CRD: every object looks changed at once, and nobody has written any.
#[tokio::test(start_paused = true)]
async fn mass_flip() {
    let mut play = Play::set("mass-flip", "", |options| options.report = Report::Kopf { handlers: 1 }).await;
    for number in 0..12 {
        play.create(&format!("one-of-many-{number}"));
    }
    play.run(MINUTE).await;
    play.start().await;
    play.sim.add_default(WIDGETS, &json!({"spec": {"colour": "red"}}));
    play.run(HOUR).await;
    play.ends(End { worst: Unknown, decisions: None, restarts: 0, cured: 0, fruitless: 0 });
    assert!(play.failed.is_empty());
    play.fools_the_naive();
}
