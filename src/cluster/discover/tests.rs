use super::super::script::{Asked, Reply, cluster_of};
use super::{CustomResources, Discovery, Error, Reason, Unresolved, Warning, custom_resources, discover};

const CORE: &str = r#"{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[
  {"metadata":{"creationTimestamp":null},"versions":[{"version":"v1","freshness":"Current","resources":[
    {"resource":"pods","responseKind":{"group":"","version":"v1","kind":"Pod"},"scope":"Namespaced","singularResource":"pod",
     "verbs":["get","list"],"shortNames":["po"],"categories":["all"],"subresources":[{"subresource":"status","verbs":["get"]}]},
    {"resource":"bindings","responseKind":{"kind":"Binding"},"scope":"Namespaced","singularResource":"binding","verbs":["create"]},
    {"resource":"events","responseKind":{"kind":"Event"},"scope":"Namespaced","singularResource":"event","verbs":["list"],"shortNames":["ev"]}
  ]}]}]}"#;

const GROUPS: &str = r#"{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2beta1","metadata":{},"items":[
  {"metadata":{"name":"events.k8s.io"},"versions":[{"version":"v1","freshness":"Current","resources":[
    {"resource":"events","responseKind":{"kind":"Event"},"scope":"Namespaced","singularResource":"event","verbs":["list"],"shortNames":["ev"]}]}]},
  {"metadata":{"name":"example.com"},"versions":[
    {"version":"v2","freshness":"Current","resources":[
      {"resource":"widgets","responseKind":{"kind":"Widget"},"scope":"Namespaced","singularResource":"widget","verbs":["list"],
       "shortNames":["wd"],"categories":["toys"],"subresources":null}]},
    {"version":"v1","freshness":"Current","resources":[
      {"resource":"widgets","responseKind":{"kind":"Widget"},"scope":"Namespaced","singularResource":"widget","verbs":["list"],
       "shortNames":["wd"],"categories":["toys"],"subresources":[{"subresource":"status"}]},
      {"resource":"gears","responseKind":{"kind":"GearWheel"},"scope":"Cluster","singularResource":"gear","verbs":null,"categories":["toys"]}]}]},
  {"metadata":{"name":"shop.example.org"},"versions":[{"version":"v1","resources":[
      {"resource":"gears","responseKind":{"kind":"Gear"},"scope":"Namespaced","singularResource":"gear","verbs":["list"]},
      {"resource":"wd","responseKind":{"kind":"Wd"},"scope":"Namespaced","singularResource":"wd","verbs":["list"]}]}]}
  STALE]}"#;

const STALE: &str =
    r#",{"metadata":{"name":"metrics.k8s.io"},"versions":[{"version":"v1beta1","freshness":"Stale","resources":[]}]}"#;

fn aggregated(target: &str, with_stale: bool) -> Reply {
    match target {
        "/api" => Reply::ok(CORE),
        "/apis" => Reply::ok(GROUPS.replace("STALE", if with_stale { STALE } else { "" })),
        other => Reply::status(404, "NotFound", other),
    }
    .header("content-type", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
}

async fn discovered(
    answer: impl Fn(&str) -> Reply + Clone + Send + Sync + 'static,
) -> (Result<Discovery, Error>, Asked) {
    let (cluster, asked) = cluster_of(answer);
    let client = cluster.client().await.expect("a client");
    (discover(&client).await, asked)
}

async fn discovery() -> Discovery {
    discovered(|target| aggregated(target, false)).await.0.expect("discovery")
}

fn names(discovery: &Discovery, words: &[&str]) -> Vec<String> {
    let selections = discovery.resolve(words).unwrap_or_else(|error| panic!("{error}"));
    selections.iter().map(|selection| selection.resource.name()).collect()
}

#[tokio::test]
async fn two_requests_tell_everything_and_the_preferred_version_goes_first() {
    let (discovery, asked) = discovered(|target| aggregated(target, false)).await;
    let discovery = discovery.expect("discovery");
    assert_eq!(asked.targets(), ["/api", "/apis"]);
    let preferred: Vec<_> = discovery.preferred().map(|r| format!("{} {}", r.name(), r.api_version())).collect();
    assert_eq!(
        preferred,
        [
            "pods v1",
            "bindings v1",
            "events v1",
            "events.events.k8s.io events.k8s.io/v1",
            "widgets.example.com example.com/v2",
            "gears.example.com example.com/v1",
            "gears.shop.example.org shop.example.org/v1",
            "wd.shop.example.org shop.example.org/v1",
        ]
    );
    let pods = &discovery.resources[0];
    assert_eq!((pods.kind.as_str(), pods.namespaced, pods.has_status, pods.is_listable()), ("Pod", true, true, true));
    assert!(!discovery.resources[1].is_listable());
    assert!(!discovery.resources.iter().find(|r| r.version == "v2").expect("widgets").has_status);
}

#[tokio::test]
async fn an_api_server_from_before_1_26_is_asked_group_by_group() {
    let (discovery, asked) = discovered(|target| match target {
        "/api" => Reply::ok(r#"{"kind":"APIVersions","versions":["v1"]}"#),
        "/apis" => Reply::ok(
            r#"{"kind":"APIGroupList","groups":[
                {"name":"example.com","versions":[{"groupVersion":"example.com/v1","version":"v1"},{"groupVersion":"example.com/v2","version":"v2"}],
                 "preferredVersion":{"groupVersion":"example.com/v2","version":"v2"}},
                {"name":"metrics.k8s.io","versions":[{"groupVersion":"metrics.k8s.io/v1beta1","version":"v1beta1"}]}]}"#,
        ),
        "/api/v1" => Reply::ok(
            r#"{"kind":"APIResourceList","resources":[
                {"name":"pods","singularName":"","namespaced":true,"kind":"Pod","verbs":["list"],"shortNames":["po"]},
                {"name":"pods/status","singularName":"","namespaced":true,"kind":"Pod","verbs":["get"]},
                {"name":"nodes","namespaced":false,"kind":"Node","verbs":["list"]}]}"#,
        ),
        "/apis/example.com/v1" | "/apis/example.com/v2" => Reply::ok(
            r#"{"kind":"APIResourceList","resources":[{"name":"widgets","singularName":"widget","namespaced":true,"kind":"Widget","verbs":["list"],"categories":["toys"]}]}"#,
        ),
        _ => Reply::status(503, "ServiceUnavailable", "no"),
    })
    .await;
    let discovery = discovery.expect("discovery");
    assert_eq!(asked.targets().len(), 6);
    assert_eq!(discovery.unanswered, ["metrics.k8s.io/v1beta1"]);
    let found: Vec<_> =
        discovery.preferred().map(|r| format!("{}/{} {}", r.api_version(), r.plural, r.has_status)).collect();
    assert_eq!(found, ["v1/pods true", "v1/nodes false", "example.com/v2/widgets false"]);
    assert_eq!(names(&discovery, &["toys", "Node"]), ["widgets.example.com", "nodes"]);
}

#[tokio::test]
async fn what_is_no_discovery_is_an_error() {
    for body in
        ["{}", r#"{"kind":"Status"}"#, "<html>", r#"{"kind":"APIGroupDiscoveryList","items":[{"versions":[{}]}]}"#]
    {
        let (discovery, _) = discovered(move |_| Reply::ok(body)).await;
        assert_eq!(discovery.expect_err(body).reason(), Reason::Decode, "{body}");
    }
    let (discovery, _) = discovered(|_| Reply::status(403, "Forbidden", "no")).await;
    assert_eq!(discovery.expect_err("forbidden").reason(), Reason::Forbidden);
}

#[tokio::test]
async fn words_mean_what_they_mean_to_kubectl() {
    let discovery = discovery().await;
    for word in [
        "widgets",
        "widget",
        "Widget",
        "WIDGETS",
        "widgets.example.com",
        "widget.example",
        "widgets.v2.example.com",
        "wd.example.com",
    ] {
        assert_eq!(names(&discovery, &[word]), ["widgets.example.com"], "{word}");
    }
    assert_eq!(names(&discovery, &["pods.v1."]), ["pods"]);
    assert_eq!(names(&discovery, &["GearWheel"]), ["gears.example.com"]);
    assert_eq!(names(&discovery, &["toys"]), ["widgets.example.com", "gears.example.com"]);
    assert_eq!(names(&discovery, &["po,widgets", "pods"]), ["pods", "widgets.example.com"]);
    // A plural goes before a short name; of two names of one built-in thing the first is taken.
    assert_eq!(names(&discovery, &["wd"]), ["wd.shop.example.org"]);
    assert_eq!(names(&discovery, &["events"]), ["events"]);
    let selection = discovery.resolve(&["widgets.v1.example.com"]).expect("v1 is served");
    assert_eq!(selection[0].resource.version, "v1");
}

#[tokio::test]
async fn names_narrow_a_resource_unless_all_of_it_is_named_as_well() {
    let discovery = discovery().await;
    let chosen = |words: &[&str]| discovery.resolve(words).expect("they resolve")[0].names.clone();
    assert_eq!(chosen(&["widgets/a", "wd.example.com/b,widget/a"]), Some(vec!["a".to_owned(), "b".to_owned()]));
    assert_eq!(chosen(&["widgets/a", "widgets"]), None);
    assert_eq!(chosen(&["widgets", "widgets/a"]), None);
    for word in ["widgets/", "/a", "widgets/a/b", "widgets/..", "", "widgets,", "widgets/a%2Fb", "wid gets"] {
        let error = discovery.resolve(&[word]).expect_err(word);
        assert!(matches!(error, Unresolved::Malformed { .. }), "{word}: {error}");
    }
}

#[tokio::test]
async fn an_ambiguous_word_is_refused_with_its_candidates() {
    let discovery = discovery().await;
    let error = discovery.resolve(&["gears"]).expect_err("two groups have gears");
    assert_eq!(error.to_string(), r#""gears" is ambiguous: name one of gears.example.com, gears.shop.example.org"#);
    let error = discovery.resolve(&["toys/a"]).expect_err("a name in a category of two");
    assert!(matches!(error, Unresolved::Ambiguous { .. }), "{error}");
}

#[tokio::test]
async fn an_unknown_word_is_answered_with_the_nearest_name() {
    let discovery = discovery().await;
    let error = discovery.resolve(&["widgts"]).expect_err("nobody serves this");
    assert_eq!(error.to_string(), r#"the API server serves no resource "widgts"; did you mean widgets.example.com?"#);
    let error = discovery.resolve(&["qqqq"]).expect_err("nobody serves this");
    assert!(error.to_string().ends_with("`kubectl api-resources` lists what it serves"), "{error}");
    let error = discovery.resolve(&["widgets.v9.example.com"]).expect_err("no such version");
    assert!(matches!(error, Unresolved::Unknown { .. }), "{error}");
}

#[tokio::test]
async fn what_did_not_answer_is_not_called_absent() {
    let discovery = discovered(|target| aggregated(target, true)).await.0.expect("discovery");
    assert_eq!(discovery.unanswered, ["metrics.k8s.io/v1beta1"]);
    for word in ["podmetrics", "podmetrics.metrics.k8s.io", "podmetrics.v1beta1.metrics.k8s.io"] {
        let error = discovery.resolve(&[word]).expect_err(word);
        assert!(matches!(&error, Unresolved::Unanswered { groups, .. } if groups.len() == 1), "{word}: {error}");
    }
    // The group that is named did answer.
    for word in ["nothing.example.com", "nothing.v1.example.com"] {
        let error = discovery.resolve(&[word]).expect_err(word);
        assert!(matches!(error, Unresolved::Unknown { .. }), "{word}: {error}");
    }
}

async fn custom(crds: Reply) -> Result<CustomResources, Error> {
    let (cluster, _) =
        cluster_of(
            move |target| {
                if target.contains("customresourcedefinitions") { crds.clone() } else { aggregated(target, true) }
            },
        );
    let client = cluster.client().await.expect("a client");
    let discovery = discover(&client).await.expect("discovery");
    custom_resources(&client, &discovery).await
}

fn plurals(custom: &CustomResources) -> Vec<String> {
    custom.resources.iter().map(super::Resource::name).collect()
}

#[tokio::test]
async fn custom_resources_are_found_by_the_names_of_their_crds() {
    let crds = r#"{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":{},"items":[
        {"metadata":{"name":"widgets.example.com"}},{"metadata":{"name":"gears.example.com"}},
        {"metadata":{"name":"ghosts.example.com"}},{"metadata":{"name":"pods.metrics.k8s.io"}}]}"#;
    let found = custom(Reply::ok(crds)).await.expect("they may be listed");
    assert_eq!(plurals(&found), ["widgets.example.com", "gears.example.com"]);
    // A CRD of a group that did not answer may well be served.
    assert_eq!((found.unserved, found.warning), (vec!["ghosts.example.com".to_owned()], None));
}

#[tokio::test]
async fn without_the_right_to_list_crds_the_groups_of_others_are_taken_and_it_is_said() {
    let found = custom(Reply::status(403, "Forbidden", "no")).await.expect("missing rights are no error");
    assert_eq!(found.warning, Some(Warning::CrdsForbidden));
    assert_eq!(
        plurals(&found),
        ["widgets.example.com", "gears.example.com", "gears.shop.example.org", "wd.shop.example.org"]
    );
    let error = custom(Reply::status(500, "InternalError", "no")).await.expect_err("not known is not none");
    assert!(matches!(error, Error::Crds { .. }), "{error}");
}
