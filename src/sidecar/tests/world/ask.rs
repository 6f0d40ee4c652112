//! What dogwatch answers, and what it has told.

use std::sync::Arc;

use axum::body::Body;
use http::{Request, StatusCode, header};
use http_body_util::BodyExt;
use serde_json::Value;
use tower::ServiceExt;

use super::{World, elapsed};
use crate::view::{Decision, Operator};

impl World {
    pub(in crate::sidecar::tests) fn decision(&self) -> Decision {
        self.board.view().operators.first().map_or(Decision::Starting, |operator| operator.verdict.decision)
    }

    pub(in crate::sidecar::tests) fn operator(&self) -> Operator {
        self.board.view().operators.first().cloned().expect("an operator")
    }

    /// What a path answers to a person.
    pub(in crate::sidecar::tests) async fn ask(&self, path: &str) -> (StatusCode, String) {
        self.ask_as("curl/8", path).await
    }

    pub(super) async fn ask_as(&self, agent: &str, path: &str) -> (StatusCode, String) {
        let router = crate::http::router(Arc::clone(&self.board), elapsed);
        let request = Request::get(path).header(header::USER_AGENT, agent).body(Body::empty()).expect("a request");
        let answer = router.oneshot(request).await.expect("an answer");
        let code = answer.status();
        let body = answer.into_body().collect().await.expect("a body").to_bytes();
        (code, String::from_utf8(body.to_vec()).expect("text"))
    }

    /// Reasons of the Events on the Pod.
    pub(in crate::sidecar::tests) async fn events(&self) -> Vec<String> {
        self.of_events("reason").await
    }

    /// What the Events on the Pod say.
    pub(in crate::sidecar::tests) async fn event_messages(&self) -> Vec<String> {
        self.of_events("message").await
    }

    async fn of_events(&self, key: &str) -> Vec<String> {
        let request = Request::get("/api/v1/namespaces/prod/events").body(Body::empty()).expect("a request");
        let answer = self.sim.router().oneshot(request).await.expect("an answer");
        let body = answer.into_body().collect().await.expect("a body").to_bytes();
        let list: Value = serde_json::from_slice(&body).expect("JSON");
        let items = list["items"].as_array().cloned().unwrap_or_default();
        items.iter().filter_map(|event| event[key].as_str().map(str::to_owned)).collect()
    }
}
