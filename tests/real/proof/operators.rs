//! Every operator does what it says, and breaks as it is told.

use std::time::Duration;

use futures_util::{StreamExt, stream};
use http::Version;
use serde_json::json;

use super::basics::{is_alive, mute, staged};
use super::make::{self, Make};
use super::operator::{Fault, Habits};
use super::rules::{Client, Which};
use super::stage::{PATIENCE, Stage};
use crate::api_server::ApiServer;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a real kube-apiserver: see tests/cluster/README.md"]
async fn every_operator_creates_changes_and_deletes_through_the_proxy() {
    for make in make::ALL {
        let stage = staged(&format!("basic-{}", make.name.replace('.', "-")), make, Habits::default()).await;
        let operator = stage.operator.start(stage.folder());
        stage.create(0, "a", json!({"size": 1})).await;
        assert!(stage.are_served(0, &["a"], PATIENCE).await, "{}", operator.last_words());
        stage.change(0, "a", json!({"size": 2})).await;
        assert!(stage.are_served(0, &["a"], PATIENCE).await, "{}", operator.last_words());
        stage.delete(0, "a").await;
        assert!(stage.are_served(0, &["a"], PATIENCE).await, "{}", operator.last_words());
        assert!(is_alive(&stage).await);
        let counters = stage.proxy.counters(Client::Operator, "widgets");
        assert_eq!((counters.watches, counters.open, counters.swallowed), (1, 1, 0), "{}", make.name);
        assert!(counters.passed >= 4, "{}: {counters:?}", make.name);
        // The proxy offers both, as the API server does: it is the client who chooses.
        let version = if *make == make::CONTROLLER_RUNTIME { Version::HTTP_2 } else { Version::HTTP_11 };
        assert_eq!(counters.version, Some(version), "{}", make.name);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a real kube-apiserver: see tests/cluster/README.md"]
async fn of_two_watches_on_one_connection_one_goes_silent() {
    let kinds = ["Widget", "Gadget"];
    let server = ApiServer::shared().await;
    let stage = Stage::new(server, "one-connection", &kinds, &make::CONTROLLER_RUNTIME, Habits::default()).await;
    let operator = stage.operator.start(stage.folder());
    for index in 0..kinds.len() {
        stage.create(index, "first", json!({})).await;
        assert!(stage.are_served(index, &["first"], PATIENCE).await, "{}", operator.last_words());
    }
    let counters = |plural| stage.proxy.counters(Client::Operator, plural);
    assert_eq!(counters("widgets").connection, counters("gadgets").connection);

    stage.proxy.mute(mute("widgets", Which::Open));
    for index in 0..kinds.len() {
        stage.create(index, "missed", json!({})).await;
    }
    assert!(stage.are_served(1, &["missed"], PATIENCE).await, "{}", operator.last_words());
    assert!(!stage.are_served(0, &["missed"], Duration::from_secs(3)).await, "its watch is silent");
    let (widgets, gadgets) = (counters("widgets"), counters("gadgets"));
    assert!(widgets.swallowed > 0 && gadgets.swallowed == 0, "{widgets:?}, {gadgets:?}");
    assert_eq!((widgets.open, widgets.watches, widgets.connection), (1, 1, gadgets.connection));

    stage.change(1, "missed", json!({"size": 2})).await;
    assert!(stage.are_served(1, &["missed"], PATIENCE).await, "the other one still hears");
    drop(operator);
    let operator = stage.operator.start(stage.folder());
    assert!(stage.are_served(0, &["missed"], PATIENCE).await, "a restart cures: {}", operator.last_words());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a real kube-apiserver: see tests/cluster/README.md"]
async fn every_operator_breaks_as_it_is_told_and_says_that_all_is_well() {
    stream::iter(make::ALL).for_each_concurrent(3, breaks_as_it_is_told).await;
}

async fn breaks_as_it_is_told(make: &'static Make) {
    let name = format!("breaks-{}", make.name.replace('.', "-"));
    let stage = Stage::new(ApiServer::shared().await, &name, &["Widget", "Gadget"], make, Habits::default()).await;
    let faults = [
        Fault::KeyBlocked("missed-0"),
        Fault::WatchDead("widgets"),
        Fault::WorkersOfOneKindBlocked("widgets"),
        Fault::WorkersBlocked,
    ];
    for (round, fault) in faults.into_iter().enumerate() {
        if *make == make::KOPF_NEWEST && matches!(fault, Fault::WatchDead(_)) {
            // It starts the task again at the next change of any CRD, and other tests make some.
            continue;
        }
        let operator = stage.operator.start(stage.folder());
        let [healthy, missed, heard] = ["healthy", "missed", "heard"].map(|name| format!("{name}-{round}"));
        for index in 0..2 {
            stage.create(index, &healthy, json!({})).await;
            assert!(stage.are_served(index, &[&healthy], PATIENCE).await, "{}", operator.last_words());
        }
        stage.operator.suffer(fault).await;
        stage.create(0, &missed, json!({})).await;
        stage.create(1, &heard, json!({})).await;
        let others_are_served = stage.are_served(1, &[&heard], Duration::from_secs(5)).await;
        assert_eq!(others_are_served, !matches!(fault, Fault::WorkersBlocked), "{}: {fault:?}", make.name);
        assert!(!stage.are_served(0, &[&missed], Duration::from_secs(3)).await, "{}: {fault:?}", make.name);
        assert!(is_alive(&stage).await, "{}: {fault:?}", make.name);
        drop(operator);
        let operator = stage.operator.start(stage.folder());
        let is_cured = stage.are_served(0, &[&missed], PATIENCE).await;
        assert!(is_cured, "{}: a restart cures {fault:?}: {}", make.name, operator.last_words());
    }
}
