//! Faults that show old or wrong revisions.

use super::faults::{all, watch_from_now};
use super::*;
use crate::sim::Fault;

#[tokio::test(start_paused = true)]
async fn the_410_loop_refuses_each_watch_and_lists_an_old_revision() {
    let simulation = cluster();
    let old = simulation.revision().to_string();
    simulation.begin(Fault::GoneLoop { old_objects: false }, all());
    seed(&simulation, &["a"]);
    let list = Client::of(&simulation).read(ALL_WIDGETS).await.body;
    assert_eq!((names(&list), list["metadata"]["resourceVersion"].as_str()), (vec!["a"], Some(old.as_str())));
    let error = watch_from_now(&simulation, "").await.raw().await.expect("an event");
    assert_eq!(error["object"]["code"], 410);
}

#[tokio::test(start_paused = true)]
async fn rv_future_refuses_whoever_names_a_revision() {
    let simulation = cluster();
    simulation.begin(Fault::RvFuture { new_revisions: true }, all());
    let client = Client::of(&simulation);
    let answer = client.read(&format!("{ALL_WIDGETS}?watch=true&resourceVersion=2")).await;
    assert_eq!(answer.code, 504);
    assert!(answer.body["message"].as_str().is_some_and(|text| text.starts_with("Too large resource version")));
    assert_eq!(client.read(ALL_WIDGETS).await.code, 200);
}

#[tokio::test(start_paused = true)]
async fn rv_regression_takes_the_store_back_and_mutes_watches_until_it_has_caught_up() {
    let simulation = cluster();
    seed(&simulation, &["a"]);
    let restored = simulation.revision();
    seed(&simulation, &["b", "c"]);
    let mut watch = watch_from_now(&simulation, "").await;
    simulation.begin(Fault::RvRegression { revisions: 2 }, all());
    let list = Client::of(&simulation).read(ALL_WIDGETS).await.body;
    assert_eq!((names(&list), simulation.revision()), (vec!["a"], restored));
    seed(&simulation, &["d", "e", "f"]);
    assert_eq!(watch.next().await, event("ADDED", "f"), "the first two have revisions that it thinks it knows");
}

#[tokio::test(start_paused = true)]
async fn revisions_of_later_are_not_in_the_future_where_a_new_list_cures() {
    let simulation = cluster();
    let old = simulation.revision();
    simulation.begin(Fault::RvFuture { new_revisions: false }, all());
    seed(&simulation, &["a"]);
    let client = Client::of(&simulation);
    let code = async |revision: u64| client.read(&format!("{ALL_WIDGETS}?resourceVersion={revision}")).await.code;
    assert_eq!((code(old).await, code(simulation.revision()).await), (504, 200));
}

#[tokio::test(start_paused = true)]
async fn a_default_shows_in_every_object_and_at_no_newer_revision() {
    let simulation = cluster();
    seed(&simulation, &["a"]);
    let before = simulation.revision();
    simulation.add_default("widgets.example.com", &json!({"spec": {"colour": "red"}}));
    let objects = simulation.objects("widgets.example.com");
    assert_eq!((objects.len(), &objects[0]["spec"]["colour"]), (1, &json!("red")));
    assert_eq!(simulation.revision(), before);
}
