//! Whom a fault concerns, and how faults are switched.

use super::*;
use crate::sim::{Fault, Scope, Verb};

const RESOURCE: &str = "widgets.example.com";

#[tokio::test(start_paused = true)]
async fn a_scope_limits_a_fault_to_a_resource_a_verb_and_a_client() {
    let simulation = cluster();
    let client = Client::of(&simulation);
    for scope in [
        Scope::resource("gadgets.example.com"),
        Scope::user_agent("kopf"),
        Scope::resource(RESOURCE).verbs(&[Verb::Create]),
        Scope { token: Some("secret".to_owned()), ..Scope::default() },
        Scope { namespace: Some("other".to_owned()), ..Scope::default() },
    ] {
        simulation.begin(Fault::ApiDown, scope);
    }
    assert_eq!(client.read(WIDGETS).await.code, 200);
    simulation.begin(Fault::ApiDown, Scope::user_agent("tester").verbs(&[Verb::List]));
    assert_eq!(client.read(WIDGETS).await.code, 503);
    assert_eq!(client.read(&format!("{WIDGETS}/a")).await.code, 404);
}

#[tokio::test(start_paused = true)]
async fn faults_are_switched_over_the_control_path_and_tokens_are_not_shown() {
    let simulation = cluster();
    let client = Client::of(&simulation);
    let scope = json!({"resource": RESOURCE, "verbs": ["list"], "userAgent": "tester"});
    let begun = client.create("/sim/faults", json!({"name": "throttle", "retryAfter": 3, "scope": scope})).await;
    assert_eq!(begun.code, 201);
    assert_eq!(client.read(WIDGETS).await.code, 429);
    let hidden = json!({"name": "mute-open", "scope": {"token": "secret"}});
    client.create("/sim/faults", hidden).await;
    let listed = client.read("/sim/faults").await;
    assert_eq!(listed.body["faults"][0]["name"], "throttle");
    assert!(!listed.text.contains("secret"));
    assert_eq!(client.delete(&format!("/sim/faults/{}", begun.body["id"])).await.code, 200);
    assert_eq!(client.read(WIDGETS).await.code, 200);
    client.delete("/sim/faults").await;
    assert_eq!(simulation.faults().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn an_unknown_fault_option_or_scope_is_refused() {
    let client = Client::of(&cluster());
    for wrong in [
        json!({"name": "nonsense"}),
        json!({"name": "html", "scope": {"verb": "list"}}),
        json!({"name": "slow", "second": 1}),
    ] {
        assert_eq!(client.create("/sim/faults", wrong).await.code, 400);
    }
}
