//! A deaf operator and a frozen API server look alike from the objects; only one is to be restarted.

use std::time::Duration;

use super::world::{MINUTE, WIDGETS, World, of_operator};
use crate::judge::diagnosis::Diagnosis;
use crate::sim::{Fault, Scope};

const HOUR: Duration = Duration::from_hours(1);
const MUTE: Fault = Fault::MuteOpen { bookmarks: true, new_streams: false };

fn diagnosis(world: &World) -> Diagnosis {
    world.operator().streams[0].explanation.diagnosis
}

async fn watching() -> World {
    let mut world = World::new().await;
    world.start();
    world.run(2 * MINUTE).await;
    world.create("served");
    world.run(2 * MINUTE).await;
    world
}

#[tokio::test(start_paused = true)]
async fn a_frozen_cache_is_the_servers_fault_and_ends_with_it() {
    let mut world = watching().await;
    let frozen = world.sim.begin(Fault::FrozenCache { all_lists: false }, Scope::default());
    world.create("unheard");
    world.until(8 * MINUTE, |world| diagnosis(world) == Diagnosis::ServerStale).await;
    let stale = world.operator().streams[0].stale.clone().expect("explained");
    assert_eq!((stale.object.as_str(), stale.by_watch, stale.by_list), ("prod/unheard", true, true));
    let (_, verbose) = world.ask("/healthz?verbose").await;
    assert!(verbose.contains("server-stale") && verbose.contains("what GET shows: prod/unheard"), "{verbose}");
    assert!(world.ask("/status").await.1.contains("\"lackingInNewWatch\": true"));
    let (_, metrics) = world.ask("/metrics").await;
    let line = metrics.lines().find(|line| line.contains("diagnosis=\"server-stale\"")).unwrap_or_default();
    assert!(line.ends_with(" 1"), "{line}");
    world.run(6 * HOUR).await;
    assert!(world.restarts.is_empty() && world.failed.is_empty(), "{:?}", world.decisions);
    assert_eq!(diagnosis(&world), Diagnosis::ServerStale);
    assert!(world.events().await.iter().any(|reason| reason == "ServerStale"));

    world.sim.end(frozen);
    world.run(2 * MINUTE).await;
    assert_eq!((diagnosis(&world), world.operator().streams[0].stale.clone()), (Diagnosis::Healthy, None));
    assert!(world.restarts.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_deaf_operator_behind_a_cache_that_thaws_is_restarted_after_all() {
    let mut world = watching().await;
    let frozen = world.sim.begin(Fault::FrozenCache { all_lists: false }, Scope::default());
    world.sim.begin(Fault::MuteOpen { bookmarks: true, new_streams: true }, of_operator());
    world.create("unheard");
    world.run(HOUR).await;
    assert_eq!((diagnosis(&world), world.restarts.len()), (Diagnosis::ServerStale, 0));
    world.sim.end(frozen);
    world.run(10 * MINUTE).await;
    assert_eq!(world.restarts.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_new_watch_that_delivers_tells_that_the_old_one_is_at_fault_and_not_the_server() {
    // Every watch that was open goes mute, dogwatch's own as well, as where a definition was edited.
    let mut world = watching().await;
    world.sim.begin(MUTE, Scope::resource(WIDGETS));
    world.create("unheard");
    world.run(HOUR).await;
    assert_eq!(world.restarts.len(), 1, "{:?}", world.decisions);
    assert_eq!(diagnosis(&world), Diagnosis::Healthy);
}

#[tokio::test(start_paused = true)]
async fn an_operator_that_alone_hears_nothing_is_asleep() {
    let mut world = watching().await;
    world.sim.begin(MUTE, of_operator());
    world.create("unheard");
    world.until(HOUR, |world| diagnosis(world) == Diagnosis::Asleep).await;
    world.run(10 * MINUTE).await;
    assert_eq!(world.restarts.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_late_cache_is_nothing_until_it_makes_objects_overdue() {
    for (seconds, expected) in [(30, Diagnosis::Healthy), (120, Diagnosis::Healthy), (600, Diagnosis::ServerStale)] {
        let mut world = watching().await;
        world.sim.begin(Fault::LateCache { seconds }, Scope::default());
        let mut seen = Vec::new();
        for round in 0..12 {
            world.create(&format!("late-{round}"));
            for _ in 0..5 {
                world.run(MINUTE).await;
                seen.push(diagnosis(&world));
            }
        }
        assert!(world.restarts.is_empty(), "{seconds}: {:?}", world.decisions);
        let worst = seen.contains(&Diagnosis::ServerStale);
        assert_eq!(worst, expected == Diagnosis::ServerStale, "{seconds}: {seen:?}");
        assert!(!seen.contains(&Diagnosis::Asleep), "{seconds}: {seen:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn one_stream_freezes_alone() {
    let mut world = World::new().await;
    world.configure("resources: [{resource: widgets.example.com, streams: namespace}]");
    world.create_in("other", "c");
    world.start();
    world.run(2 * MINUTE).await;
    let scope = Scope { namespace: Some("other".to_owned()), ..Scope::resource(WIDGETS) };
    world.sim.begin(Fault::FrozenCache { all_lists: false }, scope);
    world.deafen();
    world.create_in("other", "unheard");
    world.create("unheard");
    world.run(HOUR).await;
    let of = |world: &World, name: &str| {
        world.operator().streams.iter().find(|it| it.name() == name).map(|it| it.explanation.diagnosis)
    };
    assert_eq!(world.restarts.len(), 1, "the one that is deaf: {:?}", world.decisions);
    assert_eq!(of(&world, "widgets.example.com/prod"), Some(Diagnosis::Healthy));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_serves_all_lists_from_a_frozen_cache_is_not_believed() {
    let mut world = watching().await;
    world.deafen();
    world.create("unheard");
    world.run(MINUTE).await;
    // From now on the lists show it pending for ever, while the operator serves what it missed.
    world.sim.begin(
        Fault::FrozenCache { all_lists: true },
        Scope { user_agent: Some("dogwatch/".to_owned()), ..Scope::default() },
    );
    let served = serde_json::json!({"status": {"observedGeneration": 1}});
    world.sim.patch(WIDGETS, Some("prod"), "unheard", served, "operator").expect("written");
    world.run(2 * HOUR).await;
    assert!(world.restarts.is_empty(), "{:?}", world.decisions);
}
