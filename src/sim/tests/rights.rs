//! Tokens, rules and reviews.

use super::*;
use crate::sim::User;

fn guarded() -> Simulation {
    let simulation = cluster();
    seed(&simulation, &["a"]);
    let reader = User::new("system:serviceaccount:prod:reader").allow("example.com", &["widgets"], &["get", "list"]);
    simulation.set_token("reader", reader.in_namespace("prod"));
    let admin = User::new("admin").allow("*", &["*"], &["*"]);
    simulation.set_token("admin", admin);
    simulation
}

#[tokio::test(start_paused = true)]
async fn an_unknown_token_is_unauthorized() {
    let simulation = guarded();
    for client in [Client::of(&simulation), Client::with_token(&simulation, "other")] {
        let answer = client.read(WIDGETS).await;
        assert_eq!((answer.code, answer.body["reason"].as_str()), (401, Some("Unauthorized")));
        assert_eq!(client.read("/apis").await.code, 401);
    }
}

#[tokio::test(start_paused = true)]
async fn what_no_rule_allows_is_forbidden_in_the_words_of_the_real_server() {
    let simulation = guarded();
    let client = Client::with_token(&simulation, "reader");
    assert_eq!(client.read(WIDGETS).await.code, 200);
    let refused = client.read(ALL_WIDGETS).await;
    let message = "widgets.example.com is forbidden: User \"system:serviceaccount:prod:reader\" cannot list resource \
                   \"widgets\" in API group \"example.com\" at the cluster scope";
    assert_eq!((refused.code, refused.body["message"].as_str()), (403, Some(message)));
    let patched = client.patch(&format!("{WIDGETS}/a/status"), MERGE, json!({"status": {}})).await;
    let text = patched.body["message"].as_str().expect("a message");
    assert!(
        text.contains("cannot patch resource \"widgets/status\"") && text.ends_with("in the namespace \"prod\""),
        "{text}"
    );
}

#[tokio::test(start_paused = true)]
async fn reviews_answer_for_oneself_and_for_others() {
    let simulation = guarded();
    let attributes =
        |verb: &str| json!({"verb": verb, "group": "example.com", "resource": "widgets", "namespace": "prod"});
    let reviews = "/apis/authorization.k8s.io/v1";
    for (verb, allowed) in [("list", true), ("watch", false)] {
        let own = json!({
            "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": attributes(verb)},
        });
        let answer =
            Client::with_token(&simulation, "reader").create(&format!("{reviews}/selfsubjectaccessreviews"), own).await;
        assert_eq!((answer.code, answer.body["status"]["allowed"].as_bool()), (201, Some(allowed)));
        let other = json!({
            "apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
            "spec": {"user": "system:serviceaccount:prod:reader", "resourceAttributes": attributes(verb)},
        });
        let path = format!("{reviews}/subjectaccessreviews");
        let answer = Client::with_token(&simulation, "admin").create(&path, other.clone()).await;
        assert_eq!(answer.body["status"]["allowed"].as_bool(), Some(allowed));
        assert_eq!(Client::with_token(&simulation, "reader").create(&path, other).await.code, 403);
    }
}

#[tokio::test(start_paused = true)]
async fn the_last_revoked_token_opens_nothing() {
    let simulation = guarded();
    simulation.revoke_token("reader");
    simulation.revoke_token("admin");
    assert_eq!(Client::with_token(&simulation, "admin").read(WIDGETS).await.code, 401);
}
