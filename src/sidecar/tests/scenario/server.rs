//! The API server's side.

use std::time::Duration;

use super::{End, HOUR, Play};
use crate::sidecar::tests::world::{MINUTE, WIDGETS, of_operator};
use crate::sim::operator::Listing;
use crate::sim::{ContinueTrouble, Fault, Scope};
use crate::view::Decision::{Blind, Watching};
use crate::view::Diagnosis::{Healthy, Partial, ServerStale, Unknown};

const SECOND: Duration = Duration::from_secs(1);

/// Neither a restart nor a request for one, whatever else was said.
fn is_held(play: &Play) {
    play.ends(End { worst: Unknown, decisions: None, restarts: 0, cured: 0, fruitless: 0 });
    assert!(play.failed.is_empty(), "{:?}", play.failed);
}

/// Lists with `resourceVersion=0` and watches are frozen for everybody; GETs and writes live.
#[tokio::test(start_paused = true)]
async fn frozen_cache() {
    let mut play = Play::begin("frozen-cache", "").await;
    play.sim.begin(Fault::FrozenCache { all_lists: false }, Scope::resource(WIDGETS));
    play.create("unheard");
    play.run(HOUR).await;
    play.ends(End { worst: ServerStale, decisions: Some(&[Watching]), restarts: 0, cured: 0, fruitless: 0 });
    play.fools_the_naive();
}

async fn late(variant: &'static str, seconds: u64) -> Play {
    let mut play = Play::begin("late-cache", variant).await;
    play.sim.begin(Fault::LateCache { seconds }, Scope::default());
    play.load(5 * MINUTE, HOUR).await;
    play
}

#[tokio::test(start_paused = true)]
async fn late_cache_30_s() {
    late("30 s", 30).await.is_left_alone(Healthy);
}

#[tokio::test(start_paused = true)]
async fn late_cache_120_s() {
    late("120 s", 120).await.is_left_alone(Healthy);
}

#[tokio::test(start_paused = true)]
async fn late_cache_600_s() {
    late("600 s", 600).await.is_left_alone(ServerStale);
}

/// One of two servers stands still: half of all requests get no answer.
#[tokio::test(start_paused = true)]
async fn server_stopped() {
    let mut play = Play::begin("server-stopped", "").await;
    play.sim.begin(Fault::ServerStopped, Scope::default());
    play.load(5 * MINUTE, HOUR).await;
    play.ends(End { worst: play.record.worst(), decisions: None, restarts: 0, cured: 0, fruitless: 0 });
}

/// The client's revision is newer than the server's; the client never lists anew.
#[tokio::test(start_paused = true)]
async fn rv_future() {
    let mut play = Play::begin("rv-future", "").await;
    play.sim.begin(Fault::RvFuture { new_revisions: false }, of_operator());
    let churn = play.sim.begin(Fault::WatchChurn { seconds: 1 }, of_operator());
    play.run(2 * SECOND).await;
    play.sim.end(churn);
    play.create("unheard");
    play.run(HOUR).await;
    play.is_cured();
}

/// etcd was restored from a backup: a watch from a revision that is yet to come is accepted and says nothing.
#[tokio::test(start_paused = true)]
async fn rv_regression() {
    let mut play = Play::begin("rv-regression", "").await;
    for size in 0..50 {
        play.change("a", 10 + size);
        play.run(SECOND).await;
    }
    play.run(MINUTE).await;
    play.story();
    play.sim.begin(Fault::RvRegression { revisions: 60 }, Scope::default());
    play.create("unheard");
    play.run(HOUR).await;
    play.is_cured();
}

#[tokio::test(start_paused = true)]
async fn gone_loop() {
    let mut play = Play::begin("410-loop", "for good").await;
    play.sim.begin(Fault::GoneLoop { old_objects: true }, of_operator());
    let churn = play.sim.begin(Fault::WatchChurn { seconds: 1 }, of_operator());
    play.run(2 * SECOND).await;
    play.sim.end(churn);
    play.create("unheard");
    play.run(2 * HOUR).await;
    play.is_tried(1);
    play.fools_the_naive();
}

#[tokio::test(start_paused = true)]
async fn gone_loop_that_a_restart_cures() {
    let mut play = Play::begin("410-loop", "one server's").await;
    play.begin_for_process(Fault::GoneLoop { old_objects: true });
    let churn = play.sim.begin(Fault::WatchChurn { seconds: 1 }, of_operator());
    play.run(2 * SECOND).await;
    play.sim.end(churn);
    play.create("unheard");
    play.run(HOUR).await;
    play.is_cured();
}

/// An operator that lists in pages starts and never comes to the end.
async fn never_listed(variant: &'static str, trouble: ContinueTrouble) -> Play {
    let mut play = Play::with("continue-trouble", variant, |options| options.listing = Listing::Pages(1)).await;
    play.sim.begin(Fault::ContinueTrouble { trouble }, of_operator());
    play.kill(10);
    play.run(2 * MINUTE).await;
    play
}

#[tokio::test(start_paused = true)]
async fn continue_trouble_same_token() {
    let mut play = never_listed("same token", ContinueTrouble::SameToken).await;
    play.create("unheard");
    play.run(HOUR).await;
    play.is_tried(1);
}

#[tokio::test(start_paused = true)]
async fn continue_trouble_expired() {
    let mut play = never_listed("expired", ContinueTrouble::Expired).await;
    play.create("unheard");
    play.run(HOUR).await;
    play.is_tried(1);
}

/// The first page says that it is the last: what is on the others is never heard of, what comes later is.
#[tokio::test(start_paused = true)]
async fn continue_trouble_empty() {
    let mut play = Play::with("continue-trouble", "empty token", |options| options.listing = Listing::Pages(1)).await;
    play.sim.begin(Fault::ContinueTrouble { trouble: ContinueTrouble::Empty }, of_operator());
    play.kill(10);
    play.create("unheard");
    play.run(HOUR).await;
    play.is_left_alone(Partial);
    play.fools_the_naive();
}

/// dogwatch's own list never ends.
#[tokio::test(start_paused = true)]
async fn continue_trouble_for_dogwatch() {
    for (trouble, variant) in
        [(ContinueTrouble::SameToken, "dogwatch, same token"), (ContinueTrouble::Expired, "dogwatch, expired")]
    {
        let mut play = Play::set("continue-trouble", variant, |_| {}).await;
        play.configure("resources: [widgets.example.com]\nlist: {pageSize: 1}");
        play.start().await;
        play.deafen();
        play.begin(Fault::ContinueTrouble { trouble });
        play.create("unheard");
        play.run(HOUR).await;
        is_held(&play);
    }
}

/// Nobody reaches the API server; the operator is well.
async fn outage(name: &'static str, variant: &'static str, fault: Fault) -> Play {
    let mut play = Play::begin(name, variant).await;
    play.create("just-before");
    let id = play.sim.begin(fault, Scope::default());
    play.create("during");
    play.run(40 * MINUTE).await;
    play.sim.end(id);
    play.run(40 * MINUTE).await;
    assert_eq!(play.operator().streams[0].explanation.pending, 0, "all is served again");
    play
}

#[tokio::test(start_paused = true)]
async fn api_down() {
    let play = outage("api-down", "503", Fault::ApiDown).await;
    is_held(&play);
    assert_eq!(play.decisions, [Watching, Blind, Watching]);
    play.fools_the_naive();
}

#[tokio::test(start_paused = true)]
async fn api_429() {
    let play = outage("api-down", "429", Fault::Throttle { retry_after: 5 }).await;
    is_held(&play);
    play.fools_the_naive();
}

#[tokio::test(start_paused = true)]
async fn api_slow() {
    for (seconds, variant) in [(15, "slow, 15 s"), (30, "slow, 30 s")] {
        let play = outage("api-down", variant, Fault::Slow { seconds }).await;
        play.ends(End { worst: play.record.worst(), decisions: None, restarts: 0, cured: 0, fruitless: 0 });
        assert!(play.failed.is_empty(), "{:?}", play.failed);
    }
}

/// Nobody can write: nothing is served, and no restart changes that.
#[tokio::test(start_paused = true)]
async fn api_readonly() {
    let play = outage("api-readonly", "", Fault::ApiReadonly).await;
    play.ends(End { worst: play.record.worst(), decisions: None, restarts: 0, cured: 0, fruitless: 0 });
    play.fools_the_naive();
}

/// The operator is deaf as well: once writes are taken again, it is restarted.
#[tokio::test(start_paused = true)]
async fn api_readonly_and_deaf() {
    let mut play = Play::begin("api-readonly", "and deaf").await;
    play.deafen();
    play.create("unheard");
    let readonly = play.sim.begin(Fault::ApiReadonly, Scope::default());
    play.run(40 * MINUTE).await;
    assert!(play.restarts.is_empty());
    play.sim.end(readonly);
    play.run(HOUR).await;
    play.is_cured();
}
