//! Watches without faults.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_watch_tells_what_happens_after_its_revision() {
    let simulation = cluster();
    seed(&simulation, &["a"]);
    let mut watch = Client::of(&simulation).watch(&format!("&resourceVersion={}", simulation.revision())).await;
    seed(&simulation, &["b"]);
    simulation.patch("widgets.example.com", Some("prod"), "a", json!({"spec": {"size": 2}}), "x").expect("patched");
    simulation.delete("widgets.example.com", Some("prod"), "a").expect("deleted");
    for expected in [event("ADDED", "b"), event("MODIFIED", "a"), event("DELETED", "a")] {
        assert_eq!(watch.next().await, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn a_watch_without_revision_begins_with_what_is_there() {
    let simulation = cluster();
    seed(&simulation, &["a"]);
    let client = Client::of(&simulation);
    for query in ["", "&resourceVersion=0"] {
        let mut watch = client.watch(query).await;
        assert_eq!(watch.next().await, event("ADDED", "a"));
        assert_eq!(watch.next().await, Next::Ended, "after its lifetime");
    }
}

#[tokio::test(start_paused = true)]
async fn bookmarks_come_every_minute_and_carry_the_newest_revision() {
    let simulation = cluster();
    let from = simulation.revision();
    let mut watch = Client::of(&simulation).watch(&format!("&resourceVersion={from}&allowWatchBookmarks=true")).await;
    simulation.ensure_namespace("other");
    let began = seconds(&simulation);
    let bookmark = watch.raw().await.expect("a bookmark");
    assert_eq!(bookmark["type"], "BOOKMARK");
    assert_eq!(bookmark["object"]["kind"], "Widget");
    assert_eq!(bookmark["object"]["metadata"]["resourceVersion"], (from + 1).to_string());
    assert_eq!(watch.next().await, event("BOOKMARK", ""));
    assert_eq!(seconds(&simulation) - began, 120);
}

#[tokio::test(start_paused = true)]
async fn a_watch_ends_when_it_was_asked_to_with_a_last_bookmark() {
    let simulation = cluster();
    let mut watch = Client::of(&simulation).watch("&timeoutSeconds=30&allowWatchBookmarks=true").await;
    assert_eq!(watch.next().await, event("BOOKMARK", ""));
    assert_eq!(watch.next().await, Next::Ended);
    assert_eq!(seconds(&simulation), 30);
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_is_too_old_answers_200_with_an_error_event() {
    let simulation = cluster();
    seed(&simulation, &["a", "b"]);
    simulation.compact();
    let mut watch = Client::of(&simulation).watch("&resourceVersion=2").await;
    let error = watch.raw().await.expect("an event");
    assert_eq!((error["type"].as_str(), error["object"]["code"].as_u64()), (Some("ERROR"), Some(410)));
    assert_eq!(watch.next().await, Next::Ended);
}

#[tokio::test(start_paused = true)]
async fn an_object_comes_into_a_selector_and_leaves_it() {
    let simulation = cluster();
    seed(&simulation, &["a"]);
    let from = simulation.revision();
    let mut watch = Client::of(&simulation).watch(&format!("&resourceVersion={from}&labelSelector=team%3Dx")).await;
    for team in [json!("x"), json!("y")] {
        let patch = json!({"metadata": {"labels": {"team": team}}});
        simulation.patch("widgets.example.com", Some("prod"), "a", patch, "kubectl").expect("patched");
    }
    assert_eq!(watch.next().await, event("ADDED", "a"));
    assert_eq!(watch.next().await, event("DELETED", "a"));
}

#[tokio::test(start_paused = true)]
async fn a_list_by_watching_says_where_the_list_ends() {
    let simulation = cluster();
    seed(&simulation, &["a"]);
    let query = "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    let mut watch = Client::of(&simulation).watch(query).await;
    assert_eq!(watch.next().await, event("ADDED", "a"));
    let end = watch.raw().await.expect("a bookmark");
    assert_eq!(end["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"], "true");
}
