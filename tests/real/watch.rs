//! What a real API server does with watches, on which dogwatch's own watch and its test of the cache stand.

use std::time::{Duration, Instant};

use dogwatch::cluster::discover::Resource;
use dogwatch::cluster::list::{self, Seen};
use dogwatch::cluster::request::{self, Client};
use dogwatch::cluster::watch::{self, End, Event, Query, Watched};
use http::Method;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::api_server::{ApiServer, User};
use super::crd::Crd;

fn query<'a>(resource: &'a Resource, name: Option<&'a str>, from: &'a str, lasts: u64) -> Query<'a> {
    Query {
        resource,
        namespace: Some("default"),
        name,
        labels: None,
        from,
        lasts: Duration::from_secs(lasts),
        idle_after: Duration::from_secs(90),
        max_object_bytes: 1 << 20,
    }
}

/// Watches until `enough` holds of what was heard, or the watch ends; with how long the first event took.
async fn heard(
    client: &Client,
    query: &Query<'_>,
    enough: impl Fn(&[String]) -> bool,
) -> (Vec<String>, Option<Watched>, Option<Duration>) {
    let (mut words, mut first, begun) = (Vec::new(), None, Instant::now());
    let ended = {
        let done = tokio::sync::Notify::new();
        let mut each = |event: Event<'_>| {
            let name = |json: &[u8]| {
                let object: Value = serde_json::from_slice(json).expect("an object");
                object["metadata"]["name"].as_str().unwrap_or_default().to_owned()
            };
            words.push(match event {
                Event::Begun => return,
                Event::Added(json) => format!("added {}", name(json)),
                Event::Modified(json) => format!("modified {}", name(json)),
                Event::Deleted(json) => format!("deleted {}", name(json)),
                Event::Bookmark => "bookmark".to_owned(),
                Event::TooLarge => "too large".to_owned(),
                Event::Failed => "failed".to_owned(),
            });
            first.get_or_insert_with(|| begun.elapsed());
            if enough(&words) {
                done.notify_one();
            }
        };
        tokio::select! {
            () = done.notified() => None,
            watched = watch::watch(client, query, &mut each) => Some(watched),
        }
    };
    (words, ended, first)
}

fn version(object: &Value) -> u64 {
    object["metadata"]["resourceVersion"].as_str().and_then(|text| text.parse().ok()).expect("a number")
}

/// As a list from the cache shows it.
async fn cached(client: &Client, resource: &Resource, name: &str) -> Vec<u64> {
    let fields = format!("metadata.name={name}");
    let query =
        list::Query { namespace: Some("default"), fields: Some(&fields), cached: true, ..list::Query::new(resource) };
    let mut versions = Vec::new();
    let listing = list::list(client, &query, &mut |seen| {
        if let Seen::Object(json) = seen {
            versions.push(version(&serde_json::from_slice(json).expect("an object")));
        }
    })
    .await;
    assert!(listing.is_complete(), "{:?}", listing.error);
    versions
}

#[tokio::test]
#[ignore = "needs a real kube-apiserver: see tests/cluster/README.md"]
async fn a_new_watch_from_just_before_a_change_delivers_it_at_once() {
    let server = ApiServer::shared().await;
    let admin = server.admin().await;
    let crd = Crd::new("Widget", "before.example.com");
    admin.create_crd(&crd).await;
    let resource = crd.resource();
    for index in 0..20 {
        admin.create(&resource, Some("default"), &crd.object(&format!("w{index}"))).await;
    }
    let changed = admin.patch(&resource, Some("default"), "w3", &json!({"spec": {"size": 2}})).await;
    let changed = version(&changed);
    admin.create(&resource, Some("default"), &crd.object("later")).await;
    let client = server.cluster(User::Admin).await.client().await.expect("a client");

    let from = (changed - 1).to_string();
    let (words, _, took) = heard(&client, &query(&resource, Some("w3"), &from, 30), |words| !words.is_empty()).await;
    assert_eq!(words, ["modified w3"]);
    assert!(took.is_some_and(|took| took < Duration::from_secs(1)), "{took:?}");
    let (words, watched, _) = heard(&client, &query(&resource, Some("w3"), &changed.to_string(), 2), |_| false).await;
    let end = watched.expect("it was closed").end;
    assert!(words.iter().all(|word| word == "bookmark") && matches!(end, Ok(End::Closed)), "{words:?} {end:?}");
    // The cache is asked about, and only about that one object: `limit` and `resourceVersion=0` exclude each other.
    assert_eq!(cached(&client, &resource, "w3").await, [changed]);
    assert_eq!(cached(&client, &resource, "none").await, [0_u64; 0]);

    // A cache that stands still is behind the version that is asked for, and looks just so: accepted and mute.
    let future = (changed + 1_000_000).to_string();
    let asked = query(&resource, Some("w3"), &future, 3);
    let is_event = |words: &[String]| words.iter().any(|word| word != "bookmark");
    let ended = timeout(Duration::from_secs(5), heard(&client, &asked, is_event));
    let (words, watched, _) = ended.await.expect("it was closed");
    println!("from the future: {words:?} {watched:?}");
    assert!(!words.iter().any(|word| word.contains("w3")), "{words:?}");
}

#[tokio::test]
#[ignore = "needs a real kube-apiserver: see tests/cluster/README.md"]
async fn while_the_resource_is_listed_bookmarks_come_before_a_watch_counts_as_idle() {
    let server = ApiServer::shared().await;
    let admin = server.admin().await;
    let crd = Crd::new("Widget", "bookmarks.example.com");
    admin.create_crd(&crd).await;
    let created = admin.create(&crd.resource(), Some("default"), &crd.object("w")).await;
    let client = server.cluster(User::Admin).await.client().await.expect("a client");
    let (resource, from) = (crd.resource(), version(&created).to_string());
    // Of a resource that nobody writes and nobody lists the API server learns nothing new that a bookmark could tell.
    let lists = async {
        loop {
            tokio::time::sleep(Duration::from_secs(30)).await;
            let listing = list::list(&client, &list::Query::new(&resource), &mut |_| {}).await;
            assert!(listing.is_complete(), "{:?}", listing.error);
        }
    };
    let asked = query(&resource, None, &from, 300);
    let (words, watched, took) = tokio::select! {
        heard = heard(&client, &asked, |words| !words.is_empty()) => heard,
        () = lists => unreachable!("it never ends"),
    };
    assert_eq!((words, watched.is_none()), (vec!["bookmark".to_owned()], true));
    println!("a bookmark after {took:?}");
}

#[tokio::test]
#[ignore = "needs a real kube-apiserver: see tests/cluster/README.md"]
async fn after_a_start_the_first_watch_may_be_told_to_wait_and_an_old_version_is_expired() {
    let server = ApiServer::start().await;
    let admin = server.admin().await;
    let crd = Crd::new("Widget", "old.example.com");
    admin.create_crd(&crd).await;
    let resource = crd.resource();
    let first = version(&admin.create(&resource, Some("default"), &crd.object("a")).await);
    for size in 0..20 {
        admin.patch(&resource, Some("default"), "a", &json!({"spec": {"size": size}})).await;
    }
    let newest = version(&admin.get(&resource, Some("default"), "a").await);
    server.storage().compact(newest).await;
    server.kill();
    server.revive().await;
    let cluster = server.cluster(User::Admin).await;
    let from = (first - 1).to_string();
    let mut waited = 0;
    let end = loop {
        let client = cluster.client().await.expect("a client");
        let (words, watched, _) = heard(&client, &query(&resource, Some("a"), &from, 30), |words| {
            words.iter().any(|word| word.contains(" a"))
        })
        .await;
        match watched.map(|watched| watched.end) {
            Some(Err(request::Error::Throttled { retry_after, .. })) => {
                waited += 1;
                assert!(waited < 20, "told to wait for ever");
                tokio::time::sleep(retry_after.expect("it says for how long")).await;
            }
            end => break (words, end),
        }
    };
    println!("told to wait {waited} times");
    assert!(matches!(&end, (words, Some(Err(request::Error::Expired { .. }))) if words == &["failed"]), "{end:?}");
    let (status, _) = admin.ask(Method::GET, &resource.path(Some("default")), &Value::Null).await;
    assert!(status.is_success());
}
