use dogwatch::cluster::discover::{Discovery, Unresolved, Warning, custom_resources, discover};
use dogwatch::cluster::request::Client;

use super::api_server::{ApiServer, User};
use super::crd::Crd;

async fn client(server: &ApiServer, user: User) -> Client {
    server.cluster(user).await.client().await.expect("a client")
}

fn names(discovery: &Discovery, word: &str) -> Vec<String> {
    let selections = discovery.resolve(&[word]).unwrap_or_else(|error| panic!("{error}"));
    selections.iter().map(|selection| selection.resource.name()).collect()
}

#[tokio::test]
#[ignore = "needs a real kube-apiserver: see tests/cluster/README.md"]
async fn words_mean_what_they_mean_to_kubectl() {
    let server = ApiServer::shared().await;
    let admin = server.admin().await;
    let gadget = Crd::new("Gadget", "words.example.com").short_name("gdt").category("workshop");
    let gizmo = Crd::new("Gizmo", "words.example.com").cluster_scoped().without_status().category("workshop");
    let other = Crd::new("Gadget", "more.example.com");
    for crd in [&gadget, &gizmo, &other] {
        admin.create_crd(crd).await;
    }
    let discovery = discover(&client(&server, User::Limited).await).await.expect("discovery");
    assert!(discovery.server.is_some_and(|server| server.skew.unsigned_abs().as_secs() < 5));
    assert!(discovery.unanswered.is_empty());

    for word in ["gizmos", "gizmo", "Gizmo", "gizmos.words.example.com", "gizmos.words", "gizmo.v1.words.example.com"] {
        assert_eq!(names(&discovery, word), ["gizmos.words.example.com"], "{word}");
    }
    assert_eq!(names(&discovery, "gdt"), ["gadgets.words.example.com"]);
    assert_eq!(names(&discovery, "workshop"), ["gadgets.words.example.com", "gizmos.words.example.com"]);
    assert_eq!(names(&discovery, "deploy,po"), ["deployments.apps", "pods"]);
    assert_eq!(names(&discovery, "events"), ["events"]);
    let ambiguous = discovery.resolve(&["gadgets"]).expect_err("two groups have gadgets");
    assert!(matches!(ambiguous, Unresolved::Ambiguous { candidates, .. } if candidates.len() == 2));
    let unknown = discovery.resolve(&["gizmoes"]).expect_err("nobody serves this");
    assert!(matches!(unknown, Unresolved::Unknown { nearest: Some(nearest), .. } if nearest.starts_with("gizmos.")));

    for crd in [&gadget, &gizmo] {
        let mut expected = crd.resource();
        let selections = discovery.resolve(&[expected.name()]).expect("it is served");
        let mut found = selections[0].resource.clone();
        found.verbs.sort();
        expected.verbs.sort();
        assert_eq!(found, expected);
    }
}

#[tokio::test]
#[ignore = "needs a real kube-apiserver: see tests/cluster/README.md"]
async fn custom_resources_are_those_that_a_crd_serves() {
    let server = ApiServer::shared().await;
    let crd = Crd::new("Sprocket", "custom.example.com");
    server.admin().await.create_crd(&crd).await;

    let client = client(&server, User::Admin).await;
    let discovery = discover(&client).await.expect("discovery");
    let custom = custom_resources(&client, &discovery).await.expect("the admin may list CRDs");
    assert_eq!(custom.warning, None);
    assert!(custom.resources.iter().any(|resource| resource.name() == "sprockets.custom.example.com"));
    assert!(
        custom.resources.iter().all(|resource| resource.group.contains('.') && !resource.group.ends_with(".k8s.io"))
    );
}

#[tokio::test]
#[ignore = "needs a real kube-apiserver: see tests/cluster/README.md"]
async fn without_the_right_to_list_crds_every_group_of_others_is_taken_and_it_is_said() {
    let server = ApiServer::shared().await;
    let crd = Crd::new("Cog", "hidden.example.com");
    server.admin().await.create_crd(&crd).await;

    let client = client(&server, User::Limited).await;
    let discovery = discover(&client).await.expect("discovery");
    let custom = custom_resources(&client, &discovery).await.expect("missing rights are no error");
    assert_eq!(custom.warning, Some(Warning::CrdsForbidden));
    assert!(custom.resources.iter().any(|resource| resource.name() == "cogs.hidden.example.com"));
    assert!(
        custom.resources.iter().all(|resource| resource.group.contains('.') && !resource.group.ends_with(".k8s.io"))
    );
}
