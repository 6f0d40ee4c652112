//! Switching faults from outside: `/sim/faults`.
//!
//! `GET` lists the faults in force. `POST` begins one, `{"name": "mute-open", "bookmarks": false, "scope":
//! {"resource": "widgets.example.com", "userAgent": "kopf"}}`, and answers with its `id`. `DELETE /sim/faults/ID`
//! ends it, `DELETE /sim/faults` ends all.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::{delete, get};
use bytes::Bytes;
use serde_json::{Value, json};

use super::{Fault, Scope};
use crate::sim::Shared;
use crate::sim::failure::answer;

/// The routes of the control path.
pub(in crate::sim) fn routes() -> Router<Arc<Shared>> {
    Router::new().route("/sim/faults", get(list).post(begin).delete(end_all)).route("/sim/faults/{id}", delete(end))
}

async fn list(State(shared): State<Arc<Shared>>) -> Response {
    let faults = shared.lock().faults.in_force().to_vec();
    match serde_json::to_value(faults) {
        Ok(faults) => answer(200, &json!({"faults": faults})),
        Err(error) => problem(500, &error.to_string()),
    }
}

async fn begin(State(shared): State<Arc<Shared>>, body: Bytes) -> Response {
    match read(&body) {
        Ok((fault, scope)) => answer(201, &json!({"id": shared.begin_fault(fault, scope)})),
        Err(error) => problem(400, &error.to_string()),
    }
}

/// The scope is taken out first, so that what is left can be held against the options of the fault alone.
fn read(body: &[u8]) -> serde_json::Result<(Fault, Scope)> {
    let mut asked: Value = serde_json::from_slice(body)?;
    let scope = asked.as_object_mut().and_then(|asked| asked.remove("scope"));
    let scope = scope.map(serde_json::from_value).transpose()?.unwrap_or_default();
    Ok((serde_json::from_value(asked)?, scope))
}

async fn end(State(shared): State<Arc<Shared>>, Path(id): Path<u64>) -> Response {
    if shared.end_fault(id) { answer(200, &json!({})) } else { problem(404, "no such fault is in force") }
}

async fn end_all(State(shared): State<Arc<Shared>>) -> Response {
    shared.end_faults();
    answer(200, &json!({}))
}

fn problem(code: u16, message: &str) -> Response {
    answer(code, &json!({"error": message}))
}
