//! Objects and lists.

use super::*;

async fn created(client: &Client) -> Value {
    let answer = client.create(WIDGETS, widget("a", 1)).await;
    assert_eq!(answer.code, 201, "{}", answer.text);
    answer.body
}

#[tokio::test(start_paused = true)]
async fn a_new_object_begins_with_generation_one_a_uid_and_the_time_of_the_servers_clock() {
    let client = Client::of(&cluster());
    clock::sleep(Duration::from_secs(90)).await;
    let object = created(&client).await;
    let metadata = &object["metadata"];
    assert_eq!((metadata["generation"].as_i64(), metadata["namespace"].as_str()), (Some(1), Some("prod")));
    assert_eq!(metadata["creationTimestamp"], "2026-03-04T07:01:30Z");
    assert_eq!(metadata["managedFields"][0]["manager"], "tester");
    assert!(!metadata["uid"].as_str().unwrap_or_default().is_empty());
    let date = client.read("/version").await.headers["date"].clone();
    assert_eq!(date, "Wed, 04 Mar 2026 07:01:30 GMT");
}

#[tokio::test(start_paused = true)]
async fn the_generation_follows_the_desired_state_and_neither_metadata_nor_status() {
    let client = Client::of(&cluster());
    created(&client).await;
    let path = format!("{WIDGETS}/a");
    let generation = |answer: Answer| answer.body["metadata"]["generation"].as_i64();
    let labelled = client.patch(&path, MERGE, json!({"metadata": {"labels": {"a": "b"}}})).await;
    assert_eq!(generation(labelled), Some(1));
    let with_status = client.patch(&format!("{path}/status"), MERGE, json!({"status": {"ok": true}})).await;
    assert_eq!(with_status.body["status"], json!({"ok": true}));
    assert_eq!(generation(with_status), Some(1));
    let changed = client.patch(&path, MERGE, json!({"spec": {"size": 2}, "status": {"ok": false}})).await;
    assert_eq!(changed.body["status"], json!({"ok": true}), "the main endpoint leaves the status alone");
    assert_eq!(generation(changed), Some(2));
}

#[tokio::test(start_paused = true)]
async fn without_a_status_subresource_a_status_write_raises_the_generation() {
    let simulation = cluster();
    let gadget = Resource { status: false, ..Resource::custom("example.com", "v1", "Gadget") };
    simulation.define(&gadget).expect("new");
    let object = json!({"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": {"name": "a"}});
    simulation.create(object, "kubectl").expect("created");
    let client = Client::of(&simulation);
    let path = "/apis/example.com/v1/namespaces/default/gadgets/a";
    let changed = client.patch(path, MERGE, json!({"status": {"seen": 1}})).await;
    assert_eq!(changed.body["metadata"]["generation"], 2);
    assert_eq!(client.patch(&format!("{path}/status"), MERGE, json!({})).await.code, 404);
}

#[tokio::test(start_paused = true)]
async fn a_write_that_changes_nothing_leaves_no_trace() {
    let simulation = cluster();
    let client = Client::of(&simulation);
    let object = created(&client).await;
    let before = simulation.revision();
    let again = client.patch(&format!("{WIDGETS}/a"), MERGE, json!({"spec": {"size": 1}})).await;
    assert_eq!((again.code, &again.body, simulation.revision()), (200, &object, before));
}

#[tokio::test(start_paused = true)]
async fn a_stale_update_is_a_conflict_and_so_is_a_failed_test_of_a_json_patch_unprocessable() {
    let client = Client::of(&cluster());
    let stale = created(&client).await;
    let path = format!("{WIDGETS}/a");
    client.patch(&path, MERGE, json!({"spec": {"size": 2}})).await;
    let conflict = client.replace(&path, stale.clone()).await;
    assert_eq!((conflict.code, conflict.body["reason"].as_str()), (409, Some("Conflict")));
    let finalize = |version: &Value| {
        json!([
            {"op": "test", "path": "/metadata/resourceVersion", "value": version},
            {"op": "add", "path": "/metadata/finalizers", "value": ["example.com/f"]},
        ])
    };
    let refused = client.patch(&path, JSON_PATCH, finalize(&stale["metadata"]["resourceVersion"])).await;
    assert_eq!((refused.code, refused.body["reason"].as_str()), (422, Some("Invalid")));
    let fresh = client.read(&path).await.body;
    let patched = client.patch(&path, JSON_PATCH, finalize(&fresh["metadata"]["resourceVersion"])).await;
    assert_eq!(patched.body["metadata"]["finalizers"], json!(["example.com/f"]));
    assert_eq!(client.patch(&path, "application/strategic-merge-patch+json", json!({})).await.code, 415);
}

#[tokio::test(start_paused = true)]
async fn finalizers_hold_a_deleted_object_until_the_last_one_is_gone() {
    let client = Client::of(&cluster());
    let mut object = widget("a", 1);
    object["metadata"]["finalizers"] = json!(["example.com/f"]);
    client.create(WIDGETS, object).await;
    let path = format!("{WIDGETS}/a");
    let held = client.delete(&path).await;
    assert_eq!(held.body["metadata"]["deletionTimestamp"], "2026-03-04T07:00:00Z");
    assert_eq!(held.body["metadata"]["generation"], 2, "setting the timestamp raises it");
    let another = json!({"metadata": {"finalizers": ["example.com/f", "example.com/g"]}});
    assert_eq!(client.patch(&path, MERGE, another).await.code, 422);
    assert_eq!(client.patch(&path, MERGE, json!({"metadata": {"finalizers": null}})).await.code, 200);
    let gone = client.read(&path).await;
    assert_eq!((gone.code, gone.body["message"].as_str()), (404, Some("widgets.example.com \"a\" not found")));
}

#[tokio::test(start_paused = true)]
async fn an_object_without_finalizers_is_gone_at_once() {
    let client = Client::of(&cluster());
    created(&client).await;
    let path = format!("{WIDGETS}/a");
    assert_eq!(client.delete(&path).await.body["status"], "Success");
    assert_eq!(client.read(&path).await.code, 404);
}

#[tokio::test(start_paused = true)]
async fn a_name_is_made_from_generate_name_and_taken_names_are_refused() {
    let client = Client::of(&cluster());
    let mut object = widget("", 1);
    object["metadata"] = json!({"generateName": "a-"});
    let first = client.create(WIDGETS, object.clone()).await.body["metadata"]["name"].clone();
    let second = client.create(WIDGETS, object).await.body["metadata"]["name"].clone();
    assert!(first != second && first.as_str().is_some_and(|name| name.starts_with("a-") && name.len() == 7));
    created(&client).await;
    let taken = client.create(WIDGETS, widget("a", 1)).await;
    assert_eq!((taken.code, taken.body["reason"].as_str()), (409, Some("AlreadyExists")));
}

#[tokio::test(start_paused = true)]
async fn a_native_object_may_leave_out_its_kind_and_a_custom_one_may_not() {
    let client = Client::of(&cluster());
    let bare = json!({"metadata": {"generateName": "kopf-event-"}, "reason": "Made"});
    let made = client.create("/api/v1/namespaces/prod/events", bare.clone()).await;
    assert_eq!((made.code, made.body["kind"].as_str()), (201, Some("Event")));
    assert_eq!(client.create(WIDGETS, bare).await.code, 400);
}

#[tokio::test(start_paused = true)]
async fn a_body_that_is_not_json_is_refused() {
    let client = Client::of(&cluster());
    let answer = client.send(Method::POST, WIDGETS, "application/vnd.kubernetes.protobuf", &widget("a", 1)).await;
    assert_eq!((answer.code, answer.body["reason"].as_str()), (415, Some("UnsupportedMediaType")));
}

#[tokio::test(start_paused = true)]
async fn the_keys_of_a_list_stand_in_the_order_of_the_real_server() {
    let simulation = cluster();
    seed(&simulation, &["a"]);
    let client = Client::of(&simulation);
    let list = client.read(ALL_WIDGETS).await.text;
    assert!(list.starts_with("{\"apiVersion\":\"example.com/v1\",\"items\":[{\"apiVersion\""), "{list}");
    let end = format!(
        "\"kind\":\"WidgetList\",\"metadata\":{{\"continue\":\"\",\"resourceVersion\":\"{}\"}}}}\n",
        simulation.revision()
    );
    assert!(list.ends_with(&end), "{list}");
    let native = client.read("/api/v1/namespaces").await.text;
    assert!(
        native.starts_with("{\"kind\":\"NamespaceList\",\"apiVersion\":\"v1\",\"metadata\":{\"resource"),
        "{native}"
    );
}

#[tokio::test(start_paused = true)]
async fn pages_show_the_list_as_it_was_at_the_first_one() {
    let simulation = cluster();
    seed(&simulation, &["a", "b", "c"]);
    let client = Client::of(&simulation);
    let first = client.read(&format!("{ALL_WIDGETS}?limit=2")).await.body;
    assert_eq!((names(&first), first["metadata"]["remainingItemCount"].as_u64()), (vec!["a", "b"], Some(1)));
    simulation.delete("widgets.example.com", Some("prod"), "c").expect("deleted");
    seed(&simulation, &["d"]);
    let token = first["metadata"]["continue"].as_str().expect("a token");
    let second = client.read(&format!("{ALL_WIDGETS}?limit=2&continue={token}")).await.body;
    assert_eq!(names(&second), ["c"]);
    assert_eq!(second["metadata"]["resourceVersion"], first["metadata"]["resourceVersion"]);
    assert_eq!(second["metadata"]["continue"], "");
}

#[tokio::test(start_paused = true)]
async fn an_expired_token_answers_410_with_one_that_goes_on() {
    let simulation = cluster();
    seed(&simulation, &["a", "b"]);
    let client = Client::of(&simulation);
    let first = client.read(&format!("{ALL_WIDGETS}?limit=1")).await.body;
    seed(&simulation, &["c"]);
    simulation.compact();
    let token = first["metadata"]["continue"].as_str().expect("a token");
    let expired = client.read(&format!("{ALL_WIDGETS}?limit=1&continue={token}")).await;
    assert_eq!((expired.code, expired.body["reason"].as_str()), (410, Some("Expired")));
    let token = expired.body["metadata"]["continue"].as_str().expect("a fresh token");
    let rest = client.read(&format!("{ALL_WIDGETS}?continue={token}")).await;
    assert_eq!(names(&rest.body), ["b", "c"]);
}

#[tokio::test(start_paused = true)]
async fn resource_version_zero_ignores_the_limit_and_a_future_one_is_refused() {
    let simulation = cluster();
    seed(&simulation, &["a", "b"]);
    let client = Client::of(&simulation);
    let cached = client.read(&format!("{ALL_WIDGETS}?limit=1&resourceVersion=0")).await.body;
    assert_eq!(names(&cached), ["a", "b"]);
    assert_eq!(client.read(&format!("{ALL_WIDGETS}?resourceVersion=999")).await.code, 504);
}

#[tokio::test(start_paused = true)]
async fn a_crd_made_through_the_api_is_served_until_it_is_deleted() {
    let simulation = cluster();
    let client = Client::of(&simulation);
    let crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    let gadgets = "/apis/example.com/v1/namespaces/prod/gadgets";
    assert_eq!(client.read(gadgets).await.text, "404 page not found\n");
    let crd = Resource::custom("example.com", "v1", "Gadget").to_crd();
    let made = client.create(crds, crd).await;
    assert_eq!(made.body["status"]["conditions"][1]["type"], "Established");
    assert_eq!(client.read(gadgets).await.code, 200);
    let listed = client.read("/apis/example.com/v1").await.body;
    let found: Vec<_> = listed["resources"].as_array().expect("a list").iter().map(|entry| &entry["name"]).collect();
    assert_eq!(found, ["gadgets", "gadgets/status", "widgets", "widgets/status"]);
    client.delete(&format!("{crds}/gadgets.example.com")).await;
    assert_eq!(client.read(gadgets).await.code, 404);
}

#[tokio::test(start_paused = true)]
async fn a_namespace_terminates_until_the_last_finalizer_in_it_is_gone() {
    let simulation = cluster();
    seed(&simulation, &["free"]);
    let mut held = widget("held", 1);
    held["metadata"]["finalizers"] = json!(["example.com/f"]);
    simulation.create(held, "kubectl").expect("created");
    let client = Client::of(&simulation);
    let namespace = client.delete("/api/v1/namespaces/prod").await.body;
    assert_eq!(namespace["status"]["phase"], "Terminating");
    assert_eq!(names(&client.read(WIDGETS).await.body), ["held"]);
    let refused = client.create(WIDGETS, widget("new", 1)).await;
    assert_eq!(refused.code, 403);
    client.patch(&format!("{WIDGETS}/held"), MERGE, json!({"metadata": {"finalizers": []}})).await;
    assert_eq!(client.read("/api/v1/namespaces/prod").await.code, 404);
}

#[tokio::test(start_paused = true)]
async fn discovery_says_the_same_in_both_forms() {
    let simulation = cluster();
    let mut client = Client::of(&simulation);
    let old = client.read("/apis").await.body;
    let groups: Vec<_> = old["groups"].as_array().expect("a list").iter().map(|group| group["name"].clone()).collect();
    client.accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
    let new = client.read("/apis").await;
    let items = new.body["items"].as_array().expect("a list");
    assert_eq!(groups, items.iter().map(|group| group["metadata"]["name"].clone()).collect::<Vec<_>>());
    assert!(new.headers["content-type"].to_str().expect("text").contains("as=APIGroupDiscoveryList"));
    let widgets = &items.last().expect("a group")["versions"][0]["resources"][0];
    assert_eq!((widgets["resource"].as_str(), widgets["scope"].as_str()), (Some("widgets"), Some("Namespaced")));
    assert_eq!(widgets["subresources"][0]["subresource"], "status");
}
