use std::collections::BTreeSet;
use std::time::Duration;

use dogwatch::cluster::list::{Error, Listing, Query, Seen, list};
use dogwatch::cluster::request::{self, Client, Reason};
use serde_json::{Value, json};

use super::api_server::{ApiServer, User};
use super::crd::Crd;

async fn client(server: &ApiServer, user: User) -> Client {
    server.cluster(user).await.client().await.expect("a client")
}

async fn listed(client: &Client, query: &Query<'_>) -> (BTreeSet<String>, Listing) {
    let mut names = BTreeSet::new();
    let listing = list(client, query, &mut |seen| {
        if let Seen::Object(bytes) = seen {
            let object: Value = serde_json::from_slice(bytes).expect("an object");
            let metadata = &object["metadata"];
            let name =
                format!("{}/{}", metadata["namespace"].as_str().unwrap_or(""), metadata["name"].as_str().unwrap_or(""));
            assert!(names.insert(name), "twice: {metadata}");
        }
    })
    .await;
    (names, listing)
}

fn reason(listing: &Listing) -> Option<Reason> {
    listing.error.as_ref().map(dogwatch::cluster::list::Error::reason)
}

#[tokio::test]
#[ignore = "needs a real kube-apiserver: see tests/cluster/README.md"]
async fn every_object_of_all_pages_is_seen_once() {
    let server = ApiServer::shared().await;
    let admin = server.admin().await;
    let crd = Crd::new("Widget", "pages.example.com");
    admin.create_crd(&crd).await;
    admin.create_namespace("pages").await;
    let resource = crd.resource();
    for namespace in ["default", "pages"] {
        let objects = (0..60).map(|index| crd.object(&format!("w{index}"))).collect();
        admin.create_many(&resource, Some(namespace), objects).await;
    }

    let client = client(&server, User::Admin).await;
    let (names, listing) = listed(&client, &Query { page_size: 7, ..Query::new(&resource) }).await;
    assert!(listing.is_complete(), "{:?}", listing.error);
    assert_eq!((names.len(), listing.objects, listing.pages), (120, 120, 18));
    assert!(listing.resource_version.as_ref().is_some_and(|version| version.parse::<u64>().is_ok()));
    assert!(listing.server.is_some_and(|server| server.skew.unsigned_abs().as_secs() < 5));

    let (names, listing) = listed(&client, &Query { namespace: Some("pages"), ..Query::new(&resource) }).await;
    assert!(listing.is_complete(), "{:?}", listing.error);
    assert_eq!((names.len(), listing.pages), (60, 1));
    assert!(names.iter().all(|name| name.starts_with("pages/")));
}

#[tokio::test]
#[ignore = "needs a real kube-apiserver: see tests/cluster/README.md"]
async fn selectors_narrow_the_list_and_a_wrong_one_is_refused() {
    let server = ApiServer::shared().await;
    let admin = server.admin().await;
    let crd = Crd::new("Widget", "selectors.example.com");
    admin.create_crd(&crd).await;
    let resource = crd.resource();
    for (name, team) in [("a", "x"), ("b", "y"), ("c", "y")] {
        let mut object = crd.object(name);
        object["metadata"]["labels"] = json!({"team": team});
        admin.create(&resource, Some("default"), &object).await;
    }

    let client = client(&server, User::Admin).await;
    let (names, _) = listed(&client, &Query { labels: Some("team in (y, z)"), ..Query::new(&resource) }).await;
    assert_eq!(names.into_iter().collect::<Vec<_>>(), ["default/b", "default/c"]);
    let (names, _) = listed(&client, &Query { fields: Some("metadata.name=a"), ..Query::new(&resource) }).await;
    assert_eq!(names.into_iter().collect::<Vec<_>>(), ["default/a"]);
    let (_, listing) = listed(&client, &Query { labels: Some("team in"), ..Query::new(&resource) }).await;
    assert_eq!(reason(&listing), Some(Reason::Other), "{:?}", listing.error);
}

#[tokio::test]
#[ignore = "needs a real kube-apiserver: see tests/cluster/README.md"]
async fn what_may_not_be_listed_is_forbidden_until_it_is_granted() {
    let server = ApiServer::shared().await;
    let admin = server.admin().await;
    let crd = Crd::new("Widget", "rights.example.com");
    admin.create_crd(&crd).await;
    let resource = crd.resource();
    admin.create(&resource, Some("default"), &crd.object("a")).await;

    let client = client(&server, User::Limited).await;
    let (names, listing) = listed(&client, &Query::new(&resource)).await;
    assert_eq!((names.len(), reason(&listing)), (0, Some(Reason::Forbidden)));
    assert!(!listing.is_complete());

    admin.grant("list-widgets-of-rights", &resource, &["list"]).await;
    // The authorizer learns of a grant through a watch of its own.
    let until = tokio::time::Instant::now() + std::time::Duration::from_secs(10);
    loop {
        let (names, listing) = listed(&client, &Query::new(&resource)).await;
        if listing.is_complete() {
            assert_eq!(names.len(), 1);
            return;
        }
        assert!(tokio::time::Instant::now() < until, "{:?}", listing.error);
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

#[tokio::test]
#[ignore = "needs a real kube-apiserver: see tests/cluster/README.md"]
async fn what_is_not_served_is_not_found() {
    let server = ApiServer::shared().await;
    let client = client(&server, User::Admin).await;
    let resource = Crd::new("Widget", "nowhere.example.com").resource();
    let (_, listing) = listed(&client, &Query::new(&resource)).await;
    assert_eq!(reason(&listing), Some(Reason::NotFound), "{:?}", listing.error);
}

#[tokio::test]
#[ignore = "needs a real kube-apiserver: see tests/cluster/README.md"]
async fn metadata_alone_is_smaller_and_whole() {
    let server = ApiServer::shared().await;
    let admin = server.admin().await;
    let crd = Crd::new("Widget", "metadata.example.com");
    admin.create_crd(&crd).await;
    let resource = crd.resource();
    let mut object = crd.object("a");
    object["spec"]["filling"] = "x".repeat(5000).into();
    admin.create(&resource, Some("default"), &object).await;

    let client = client(&server, User::Admin).await;
    let (_, whole) = listed(&client, &Query::new(&resource)).await;
    let (names, metadata) = listed(&client, &Query { metadata_only: true, ..Query::new(&resource) }).await;
    assert!(metadata.is_complete(), "{:?}", metadata.error);
    assert_eq!(names.len(), 1);
    assert!(metadata.bytes + 5000 < whole.bytes);
}

#[tokio::test]
#[ignore = "needs a real kube-apiserver: see tests/cluster/README.md"]
async fn an_object_beyond_the_limit_is_reported_by_its_size() {
    let server = ApiServer::shared().await;
    let admin = server.admin().await;
    let crd = Crd::new("Widget", "large.example.com");
    admin.create_crd(&crd).await;
    let resource = crd.resource();
    let mut object = crd.object("a");
    object["spec"]["filling"] = "x".repeat(100_000).into();
    admin.create(&resource, Some("default"), &object).await;
    admin.create(&resource, Some("default"), &crd.object("b")).await;

    let client = client(&server, User::Admin).await;
    let (names, listing) = listed(&client, &Query { max_object_bytes: 50_000, ..Query::new(&resource) }).await;
    assert!(listing.error.is_none(), "{:?}", listing.error);
    assert_eq!((names.len(), listing.objects, listing.too_large), (1, 2, 1));
}

#[tokio::test]
#[ignore = "needs a real kube-apiserver: see tests/cluster/README.md"]
async fn stored_objects_are_listed_with_times_of_their_own() {
    let server = ApiServer::shared().await;
    let admin = server.admin().await;
    let crd = Crd::new("Widget", "stored.example.com");
    admin.create_crd(&crd).await;
    let resource = crd.resource();
    let objects = (0..1200).map(|index| {
        let mut object = crd.object(&format!("w{index}"));
        object["metadata"]["creationTimestamp"] = "2020-02-02T02:02:02Z".into();
        object
    });
    server.storage().put_many(&resource, Some("default"), objects.collect()).await;

    let client = client(&server, User::Admin).await;
    // Whatever is asked first of a new resource may be told to wait until the API server has read it from the store.
    let mut tries = 0;
    let (names, listing) = loop {
        let (names, listing) = listed(&client, &Query::new(&resource)).await;
        tries += 1;
        match &listing.error {
            Some(Error::Request { source: request::Error::Throttled { .. }, .. }) if tries < 20 => {
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
            _ => break (names, listing),
        }
    };
    assert!(listing.is_complete(), "{:?}", listing.error);
    assert_eq!((names.len(), listing.pages), (1200, 3));
    let object = admin.get(&resource, Some("default"), "w7").await;
    assert_eq!(object["metadata"]["creationTimestamp"], "2020-02-02T02:02:02Z");
}
