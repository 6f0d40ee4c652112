//! What each fault looks like to a client.

use super::*;
use crate::sim::{ContinueTrouble, Fault, Scope};

const RESOURCE: &str = "widgets.example.com";

pub(super) fn all() -> Scope {
    Scope::default()
}

pub(super) async fn watch_from_now(simulation: &Simulation, query: &str) -> Watch {
    Client::of(simulation).watch(&format!("&resourceVersion={}{query}", simulation.revision())).await
}

#[tokio::test(start_paused = true)]
async fn mute_open_swallows_objects_and_lets_bookmarks_through() {
    let simulation = cluster();
    let mut watch = watch_from_now(&simulation, "&allowWatchBookmarks=true").await;
    let id = simulation.begin(Fault::MuteOpen { bookmarks: true, new_streams: true }, Scope::resource(RESOURCE));
    seed(&simulation, &["a"]);
    assert_eq!(watch.next().await, event("BOOKMARK", ""));
    assert_eq!(watch.next().await, event("BOOKMARK", ""));
    simulation.end(id);
    seed(&simulation, &["b"]);
    assert_eq!(watch.next().await, event("ADDED", "b"), "what was swallowed does not come back");
}

#[tokio::test(start_paused = true)]
async fn mute_open_without_bookmarks_is_silent_until_the_end_that_was_asked_for() {
    let simulation = cluster();
    let mut watch = watch_from_now(&simulation, "&allowWatchBookmarks=true&timeoutSeconds=300").await;
    simulation.begin(Fault::MuteOpen { bookmarks: false, new_streams: true }, all());
    seed(&simulation, &["a"]);
    assert_eq!(watch.next().await, Next::Ended);
    assert_eq!(seconds(&simulation), 300);
}

#[tokio::test(start_paused = true)]
async fn a_fault_of_open_streams_alone_is_cured_by_a_new_one() {
    let simulation = cluster();
    let mut old = watch_from_now(&simulation, "").await;
    simulation.begin(Fault::IdleHalfopen { after: 0, new_streams: false }, all());
    let mut new = watch_from_now(&simulation, "").await;
    seed(&simulation, &["a"]);
    assert_eq!(old.next().await, Next::Silence);
    assert_eq!(new.next().await, event("ADDED", "a"));
}

#[tokio::test(start_paused = true)]
async fn idle_halfopen_kills_a_quiet_stream_for_good_and_spares_a_busy_one() {
    let simulation = cluster();
    let mut watch = watch_from_now(&simulation, "&timeoutSeconds=900").await;
    let id = simulation.begin(Fault::IdleHalfopen { after: 240, new_streams: true }, all());
    for name in ["a", "b"] {
        clock::sleep(Duration::from_secs(200)).await;
        seed(&simulation, &[name]);
        assert_eq!(watch.next().await, event("ADDED", name));
    }
    assert_eq!(watch.next().await, Next::Silence, "not even the end after 900 s");
    simulation.end(id);
    seed(&simulation, &["c"]);
    assert_eq!(watch.next().await, Next::Silence, "a forgotten flow stays forgotten");
}

#[tokio::test(start_paused = true)]
async fn headers_never_keeps_a_watch_waiting_and_leaves_lists_alone() {
    let simulation = cluster();
    simulation.begin(Fault::HeadersNever, all());
    let client = Client::of(&simulation);
    let path = format!("{ALL_WIDGETS}?watch=1");
    let watching = client.read(&path);
    assert!(clock::within(Duration::from_hours(2), watching).await.is_none());
    assert_eq!(client.read(ALL_WIDGETS).await.code, 200);
}

#[tokio::test(start_paused = true)]
async fn api_down_refuses_everything_and_breaks_open_watches() {
    let simulation = cluster();
    let mut watch = watch_from_now(&simulation, "").await;
    let id = simulation.begin(Fault::ApiDown, all());
    assert_eq!(watch.next().await, Next::BrokenOff);
    let client = Client::of(&simulation);
    for path in [ALL_WIDGETS, "/apis", "/version"] {
        assert_eq!(client.read(path).await.code, 503, "{path}");
    }
    simulation.end(id);
    assert_eq!(client.read(ALL_WIDGETS).await.code, 200);
}

#[tokio::test(start_paused = true)]
async fn refusals_carry_their_codes() {
    let simulation = cluster();
    seed(&simulation, &["a"]);
    let client = Client::of(&simulation);
    for (fault, code) in [
        (Fault::Throttle { retry_after: 7 }, 429),
        (Fault::Forbidden, 403),
        (Fault::TokenExpired, 401),
        (Fault::ApiReadonly, 500),
        (Fault::ConflictForever, 409),
    ] {
        let id = simulation.begin(fault.clone(), Scope::resource(RESOURCE));
        let answer = client.patch(&format!("{WIDGETS}/a"), MERGE, json!({"spec": {"size": 9}})).await;
        assert_eq!((answer.code, answer.body["kind"].as_str()), (code, Some("Status")), "{fault:?}");
        let retry_after = answer.headers.get("retry-after").and_then(|value| value.to_str().ok());
        assert_eq!(retry_after, (code == 429).then_some("7"));
        assert!(simulation.end(id));
    }
    let size = simulation.read(RESOURCE, Some("prod"), "a").expect("there")["spec"]["size"].clone();
    assert_eq!(size, 1, "nothing was written");
}

#[tokio::test(start_paused = true)]
async fn reading_goes_on_where_only_writes_fail() {
    let simulation = cluster();
    simulation.begin(Fault::ApiReadonly, all());
    simulation.begin(Fault::ConflictForever, all());
    let client = Client::of(&simulation);
    assert_eq!(client.read(ALL_WIDGETS).await.code, 200);
    assert_eq!(client.create(WIDGETS, widget("a", 1)).await.code, 500);
}

#[tokio::test(start_paused = true)]
async fn html_is_a_good_answer_with_a_useless_body() {
    let simulation = cluster();
    simulation.begin(Fault::Html, all());
    let answer = Client::of(&simulation).read(ALL_WIDGETS).await;
    assert_eq!((answer.code, answer.text.starts_with("<!DOCTYPE html>")), (200, true));
}

#[tokio::test(start_paused = true)]
async fn slow_delays_the_answer() {
    let simulation = cluster();
    simulation.begin(Fault::Slow { seconds: 15 }, all());
    Client::of(&simulation).read(ALL_WIDGETS).await;
    assert_eq!(seconds(&simulation), 15);
}

#[tokio::test(start_paused = true)]
async fn frozen_cache_hides_changes_from_cached_lists_and_watches_alone() {
    let simulation = cluster();
    seed(&simulation, &["a"]);
    let mut open = watch_from_now(&simulation, "").await;
    let id = simulation.begin(Fault::FrozenCache { all_lists: false }, all());
    seed(&simulation, &["b"]);
    let client = Client::of(&simulation);
    assert_eq!(names(&client.read(&format!("{ALL_WIDGETS}?resourceVersion=0")).await.body), ["a"]);
    assert_eq!(names(&client.read(ALL_WIDGETS).await.body), ["a", "b"]);
    assert_eq!(client.read(&format!("{WIDGETS}/b")).await.code, 200);
    let mut new = client.watch("").await;
    assert_eq!(new.next().await, event("ADDED", "a"));
    assert_eq!(clock::within(Duration::from_mins(30), open.next()).await, None);
    simulation.end(id);
    assert_eq!(open.next().await, event("ADDED", "b"));
    assert_eq!(new.next().await, event("ADDED", "b"));
}

#[tokio::test(start_paused = true)]
async fn a_frozen_cache_can_serve_all_lists() {
    let simulation = cluster();
    simulation.begin(Fault::FrozenCache { all_lists: true }, all());
    seed(&simulation, &["a"]);
    assert!(names(&Client::of(&simulation).read(ALL_WIDGETS).await.body).is_empty());
}

#[tokio::test(start_paused = true)]
async fn late_cache_shows_changes_when_their_time_has_come() {
    let simulation = cluster();
    clock::sleep(Duration::from_mins(5)).await;
    let mut watch = watch_from_now(&simulation, "").await;
    simulation.begin(Fault::LateCache { seconds: 120 }, all());
    seed(&simulation, &["a"]);
    let client = Client::of(&simulation);
    let cached = format!("{ALL_WIDGETS}?resourceVersion=0");
    assert!(names(&client.read(&cached).await.body).is_empty());
    let before = seconds(&simulation);
    assert_eq!(watch.next().await, event("ADDED", "a"));
    assert_eq!(seconds(&simulation) - before, 120);
    assert_eq!(names(&client.read(&cached).await.body), ["a"]);
}

#[tokio::test(start_paused = true)]
async fn a_truncated_page_ends_in_the_middle_with_or_without_a_broken_connection() {
    let simulation = cluster();
    seed(&simulation, &["a", "b"]);
    let client = Client::of(&simulation);
    let whole = client.read(ALL_WIDGETS).await.text;
    let id = simulation.begin(Fault::TruncatedPage { reset: false }, all());
    assert_eq!(client.read(ALL_WIDGETS).await.text, whole[..whole.len() / 2]);
    simulation.end(id);
    simulation.begin(Fault::TruncatedPage { reset: true }, all());
    assert_eq!(client.read(ALL_WIDGETS).await.text, "broken off");
}

#[tokio::test(start_paused = true)]
async fn continue_trouble_never_reaches_the_end_of_a_list() {
    let simulation = cluster();
    seed(&simulation, &["a", "b", "c"]);
    let client = Client::of(&simulation);
    let id = simulation.begin(Fault::ContinueTrouble { trouble: ContinueTrouble::SameToken }, all());
    let first = client.read(&format!("{ALL_WIDGETS}?limit=1")).await.body;
    let token = first["metadata"]["continue"].as_str().expect("a token");
    for _ in 0..5 {
        let page = client.read(&format!("{ALL_WIDGETS}?limit=1&continue={token}")).await.body;
        assert_eq!((names(&page), page["metadata"]["continue"].as_str()), (vec!["b"], Some(token)));
    }
    simulation.end(id);
    simulation.begin(Fault::ContinueTrouble { trouble: ContinueTrouble::Expired }, all());
    assert_eq!(client.read(&format!("{ALL_WIDGETS}?limit=1&continue={token}")).await.code, 410);
}

#[tokio::test(start_paused = true)]
async fn watch_churn_ends_each_watch_and_lost_event_drops_every_second_event() {
    let simulation = cluster();
    simulation.begin(Fault::WatchChurn { seconds: 30 }, all());
    simulation.begin(Fault::LostEvent { every: 2 }, all());
    let mut watch = watch_from_now(&simulation, "").await;
    seed(&simulation, &["a", "b", "c"]);
    assert_eq!(watch.next().await, event("ADDED", "a"));
    assert_eq!(watch.next().await, event("ADDED", "c"));
    assert_eq!(watch.next().await, Next::Ended);
    assert_eq!(seconds(&simulation), 30);
}

#[tokio::test(start_paused = true)]
async fn a_blackhole_swallows_requests_and_open_watches() {
    let simulation = cluster();
    let mut open = watch_from_now(&simulation, "").await;
    let id = simulation.begin(Fault::Blackhole, all());
    seed(&simulation, &["a"]);
    let client = Client::of(&simulation);
    assert!(clock::within(Duration::from_mins(5), client.read(ALL_WIDGETS)).await.is_none());
    assert!(clock::within(Duration::from_mins(5), open.raw()).await.is_none());
    simulation.end(id);
    assert!(clock::within(Duration::from_mins(5), open.raw()).await.is_none(), "what was dropped stays so");
    assert_eq!(client.read(ALL_WIDGETS).await.code, 200);
}

#[tokio::test(start_paused = true)]
async fn one_server_of_two_that_stands_still_swallows_about_half_of_all_requests() {
    let simulation = cluster();
    simulation.begin(Fault::ServerStopped, all());
    let client = Client::of(&simulation);
    let mut answered = 0;
    for _ in 0..100 {
        answered += u32::from(clock::within(Duration::from_secs(1), client.read(ALL_WIDGETS)).await.is_some());
    }
    assert!((35..65).contains(&answered), "{answered}");
}

#[tokio::test(start_paused = true)]
async fn an_empty_token_hides_the_later_pages_and_old_objects_hide_new_ones() {
    let simulation = cluster();
    seed(&simulation, &["a", "b"]);
    let client = Client::of(&simulation);
    let id = simulation.begin(Fault::ContinueTrouble { trouble: ContinueTrouble::Empty }, all());
    let page = client.read(&format!("{ALL_WIDGETS}?limit=1")).await.body;
    assert_eq!((names(&page), page["metadata"]["continue"].as_str()), (vec!["a"], Some("")));
    simulation.end(id);
    simulation.begin(Fault::GoneLoop { old_objects: true }, all());
    seed(&simulation, &["c"]);
    assert_eq!(names(&client.read(ALL_WIDGETS).await.body), ["a", "b"]);
}
