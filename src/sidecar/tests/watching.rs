//! dogwatch's own watch beside the lists.

use std::time::Duration;

use serde_json::json;

use super::world::{MINUTE, WIDGETS, World, of_operator};
use crate::judge::diagnosis::Diagnosis;
use crate::sim::{Fault, Resource, Scope, User, Verb};
use crate::view::{Decision, Watch, WatchType};

const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_hours(1);

fn watch(world: &World) -> Watch {
    world.operator().streams[0].watch.clone().unwrap_or_default()
}

fn pending(world: &World) -> u64 {
    world.operator().streams[0].explanation.pending
}

/// Lists come rarely, so that what is seen soon was seen by the watch.
fn seldom(world: &World, more: &str) {
    world.configure(&format!("resources: [widgets.example.com]\nlist: {{interval: 10m}}\n{more}"));
}

/// dogwatch watches, and the next list is far.
async fn settled(world: &mut World) {
    world.start();
    world.run(MINUTE).await;
    assert_eq!((watch(world).open, watch(world).problem), (1, None));
}

/// Those of dogwatch's requests that watch widgets.
fn own_watches() -> Scope {
    Scope { user_agent: Some("dogwatch/".to_owned()), ..Scope::resource(WIDGETS).verbs(&[Verb::Watch]) }
}

#[tokio::test(start_paused = true)]
async fn a_change_is_pending_and_served_within_two_seconds_of_its_event() {
    let mut world = World::new().await;
    seldom(&world, "");
    settled(&mut world).await;
    world.deafen();
    for name in ["one", "two"] {
        let before = pending(&world);
        world.create(name);
        world.run(SECOND).await;
        assert_eq!(pending(&world), before + 1);
    }
    world.change("a", 7);
    world.run(SECOND).await;
    assert_eq!(pending(&world), 3);
    let lists = world.operator().streams[0].list.results.clone();

    let served = json!({"status": {"observedGeneration": 1}});
    world.sim.patch(WIDGETS, Some("prod"), "one", served, "operator").expect("written");
    world.run(SECOND).await;
    assert_eq!(pending(&world), 2);
    assert!(world.operator().streams[0].explanation.last_ack.is_some(), "an acknowledgement by the watch is one");
    world.sim.delete(WIDGETS, Some("prod"), "two").expect("deleted");
    world.run(SECOND).await;
    assert_eq!(pending(&world), 1, "what is deleted is not pending");
    assert_eq!(world.operator().streams[0].list.results, lists, "and no list was needed for any of it");
    let events = watch(&world).events;
    assert!(events.of(WatchType::Added) >= 2 && events.of(WatchType::Modified) >= 2);
    assert_eq!(events.of(WatchType::Deleted), 1);
}

#[tokio::test(start_paused = true)]
async fn bookmarks_keep_a_quiet_watch_alive() {
    let mut world = World::new().await;
    settled(&mut world).await;
    world.run(2 * MINUTE).await;
    assert!(watch(&world).events.of(WatchType::Bookmark) >= 2);
    assert_eq!((watch(&world).open, watch(&world).problem), (1, None));
    let (_, status) = world.ask("/status").await;
    assert!(status.contains(r#""bookmark": 2"#) && status.contains(r#""open": 1"#), "{status}");
    let (_, metrics) = world.ask("/metrics").await;
    for part in ["dogwatch_watch_events_total{", "type=\"bookmark\"", "dogwatch_watch_last_event_timestamp_seconds{"] {
        assert!(metrics.contains(part), "{part} in {metrics}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_falls_silent_is_replaced() {
    let mut world = World::new().await;
    seldom(&world, "watch: {idleAfter: 90s}");
    settled(&mut world).await;
    world.sim.begin(Fault::IdleHalfopen { after: 1, new_streams: false }, own_watches());
    world.run(3 * MINUTE).await;
    world.deafen();
    world.create("unheard");
    world.run(3 * SECOND).await;
    assert_eq!(pending(&world), 1, "a new watch delivers");
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_never_begins_leaves_detection_to_the_lists() {
    let mut world = World::new().await;
    world.sim.begin(Fault::HeadersNever, own_watches());
    world.start();
    world.run(2 * MINUTE).await;
    let problem = watch(&world).problem.unwrap_or_default();
    assert!(problem.contains("no whole answer"), "{problem}");
    world.deafen();
    world.create("unheard");
    world.run(MINUTE).await;
    assert_eq!(pending(&world), 1);
    assert_eq!(world.decision(), Decision::Watching, "no watch closes the gate");
    world.run(HOUR).await;
    assert_eq!(world.restarts.len(), 1, "and a list of the one object tells that the cache is well");
}

#[tokio::test(start_paused = true)]
async fn without_the_right_to_watch_the_lists_do_and_the_reason_is_shown() {
    let mut world = World::new().await;
    let user = User::new("dogwatch").allow("example.com", &["widgets"], &["list", "get"]);
    world.allow(user.allow("", &["pods"], &["get", "watch"]).allow("", &["events"], &["create", "patch"]));
    world.start();
    world.run(10 * MINUTE).await;
    let seen = watch(&world);
    assert!(seen.problem.as_deref().is_some_and(|problem| problem.contains("forbidden")), "{seen:?}");
    assert_eq!((seen.open, world.decision()), (0, Decision::Watching));
    world.deafen();
    world.create("unheard");
    world.run(HOUR).await;
    assert_eq!(world.restarts.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_is_too_old_begins_again_behind_a_new_list() {
    let mut world = World::new().await;
    settled(&mut world).await;
    let gone = world.sim.begin(Fault::GoneLoop { old_objects: false }, own_watches());
    world.run(12 * MINUTE).await;
    let lists = world.operator().streams[0].list.results.of(crate::view::ListResult::Complete);
    assert!(watch(&world).problem.is_some_and(|problem| problem.contains("expired")));
    assert!(watch(&world).events.of(WatchType::Error) > 0, "the event that says so is counted");
    assert!(lists < 40, "a list that does not help is not asked for again and again: {lists}");
    world.sim.end(gone);
    world.run(2 * MINUTE).await;
    assert_eq!((watch(&world).open, watch(&world).problem), (1, None));
}

#[tokio::test(start_paused = true)]
async fn being_asked_to_slow_down_is_obeyed() {
    let mut world = World::new().await;
    let throttled = world.sim.begin(Fault::Throttle { retry_after: 20 }, own_watches());
    world.start();
    world.run(5 * MINUTE).await;
    assert!(watch(&world).problem.is_some_and(|problem| problem.contains("slow down")));
    assert_eq!(world.decision(), Decision::Watching);
    world.sim.end(throttled);
    world.run(MINUTE).await;
    assert_eq!((watch(&world).open, watch(&world).problem), (1, None));
}

#[tokio::test(start_paused = true)]
async fn churn_loses_nothing() {
    let mut world = World::new().await;
    seldom(&world, "");
    world.sim.begin(Fault::WatchChurn { seconds: 30 }, own_watches());
    settled(&mut world).await;
    world.deafen();
    for index in 0..20 {
        world.create(&format!("unheard-{index}"));
        world.run(7 * SECOND).await;
    }
    world.run(SECOND).await;
    assert_eq!(pending(&world), 20);
}

#[tokio::test(start_paused = true)]
async fn a_pattern_is_watched_once_it_holds_objects() {
    let mut world = World::new().await;
    world.sim.define(&Resource::custom("example.com", "v1", "Gadget")).expect("defined");
    world.configure("resources: [\"*.example.com\"]");
    world.start();
    world.run(3 * MINUTE).await;
    let watched = |world: &World, resource: &str| {
        let streams = world.operator().streams;
        streams.iter().find(|stream| stream.resource == resource).and_then(|stream| stream.watch.clone())
    };
    assert_eq!(watched(&world, WIDGETS).map(|watch| watch.open), Some(1));
    assert_eq!(watched(&world, "gadgets.example.com"), None);
    let gadget = json!({
        "apiVersion": "example.com/v1", "kind": "Gadget", "metadata": {"name": "g", "namespace": "prod"}, "spec": {},
    });
    world.sim.create(gadget, "kubectl").expect("created");
    world.run(MINUTE).await;
    assert_eq!(watched(&world, "gadgets.example.com").map(|watch| watch.open), Some(1));
}

#[tokio::test(start_paused = true)]
async fn each_namespace_that_is_named_has_its_watch_and_no_other_object_counts() {
    let mut world = World::new().await;
    world.configure("resources: [{resource: widgets.example.com, namespaces: [prod, test]}]\nlist: {interval: 10m}");
    world.start();
    world.run(MINUTE).await;
    assert_eq!(watch(&world).open, 2);
    world.deafen();
    for namespace in ["prod", "test", "other"] {
        world.create_in(namespace, "unheard");
    }
    world.run(SECOND).await;
    assert_eq!(pending(&world), 2);
}

#[tokio::test(start_paused = true)]
async fn a_namespace_that_appears_becomes_a_stream_of_its_own_by_a_list() {
    let mut world = World::new().await;
    world.configure("resources: [{resource: widgets.example.com, streams: namespace}]\nlist: {interval: 10m}");
    world.start();
    world.run(MINUTE).await;
    world.create_in("new", "first");
    world.run(3 * SECOND).await;
    let names: Vec<_> = world.operator().streams.iter().map(|stream| stream.name().to_owned()).collect();
    assert!(names.contains(&"widgets.example.com/new".to_owned()), "{names:?}");
}

#[tokio::test(start_paused = true)]
async fn kopfs_marks_in_an_event_choose_its_rule() {
    let mut world = World::new().await;
    seldom(&world, "");
    settled(&mut world).await;
    assert_eq!(world.operator().streams[0].rule, Some("generation"));
    world.annotate(WIDGETS, "b", "kopf.zalando.org/last-handled-configuration", r#"{"spec":{"size":1}}"#);
    world.run(3 * SECOND).await;
    assert_eq!(world.operator().streams[0].rule, Some("kopf"));
    world.run(3 * SECOND).await;
    assert_eq!(watch(&world).open, 1, "and the watch goes on under it");
}

#[tokio::test(start_paused = true)]
async fn an_event_that_is_too_large_is_counted_and_the_next_one_is_read() {
    let mut world = World::new().await;
    world.configure("resources: [widgets.example.com]\nlist: {interval: 10m, maxObjectBytes: 64Ki}");
    settled(&mut world).await;
    world.deafen();
    let large = json!({
        "apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "large", "namespace": "prod"},
        "spec": {"text": "x".repeat(100_000)},
    });
    world.sim.create(large, "kubectl").expect("created");
    world.create("small");
    world.run(SECOND).await;
    assert_eq!((watch(&world).events.of(WatchType::TooLarge), pending(&world)), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_store_that_went_back_is_watched_from_where_it_is_and_named() {
    let mut world = World::new().await;
    settled(&mut world).await;
    for round in 0..20 {
        world.change("a", round + 2);
    }
    world.run(MINUTE).await;
    world.sim.begin(Fault::RvRegression { revisions: 15 }, Scope::default());
    world.run(2 * MINUTE).await;
    let (from, to) = world.operator().streams[0].regression.map(|(it, _)| (it.from, it.to)).expect("named");
    assert!(to < from);
    assert!(world.ask("/status").await.1.contains("\"resourceVersionWentBack\": {"));
    assert!(world.ask("/healthz?verbose").await.1.contains(&format!("went back from {from} to {to}")));
    world.deafen();
    let before = pending(&world);
    world.create("unheard");
    world.run(SECOND).await;
    assert_eq!(pending(&world), before + 1);
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_panics_makes_dogwatch_blind() {
    let mut world = World::new().await;
    world.start();
    world.run(2 * MINUTE).await;
    world.end_task("freshness");
    world.run(2 * SECOND).await;
    assert_eq!((world.decision(), world.ask("/livez").await.0.as_u16()), (Decision::Blind, 500));
}

#[tokio::test(start_paused = true)]
async fn late_events_serve_nothing_and_hide_nothing() {
    let mut world = World::new().await;
    settled(&mut world).await;
    world.sim.begin(Fault::LateCache { seconds: 120 }, own_watches());
    for round in 0..10 {
        world.create(&format!("served-{round}"));
        world.run(MINUTE).await;
    }
    assert_eq!(pending(&world), 0, "the lists have shown them served before the events came");
    world.sim.begin(Fault::MuteOpen { bookmarks: true, new_streams: false }, of_operator());
    let acked = world.operator().streams[0].explanation.last_ack;
    world.create("unheard");
    world.run(10 * MINUTE).await;
    assert_eq!(pending(&world), 1);
    let moved = world.operator().streams[0].explanation.last_ack.zip(acked).map(|(now, then)| now.since(then));
    assert!(moved.is_some_and(|moved| moved <= 2 * SECOND), "no late event acknowledges anything: {moved:?}");
    assert_eq!(world.operator().streams[0].explanation.diagnosis, Diagnosis::Partial);
}
