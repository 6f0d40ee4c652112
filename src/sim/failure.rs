//! Refusals in the API server's own form: a `Status` object with reason, details and code.

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::{StatusCode, header};
use serde_json::{Value, json};

use super::resource::Resource;

/// In place of a reason: the answer is no `Status` object but the message as plain text.
const NO_STATUS: &str = "";

/// A request that the simulated API server refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// The HTTP code.
    pub code: u16,
    /// The machine-readable word, such as `NotFound`.
    pub reason: &'static str,
    /// The sentence that kubectl prints.
    pub message: String,
    details: Value,
    retry_after: Option<u64>,
    continue_token: Option<String>,
}

impl Failure {
    pub(super) fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { code, reason, message, details: Value::Null, retry_after: None, continue_token: None }
    }

    fn about(mut self, resource: &Resource, name: &str) -> Self {
        self.details = json!({"kind": resource.plural});
        for (field, text) in [("name", name), ("group", resource.group.as_str())] {
            if !text.is_empty() {
                self.details[field] = text.into();
            }
        }
        self
    }

    pub(super) fn not_found(resource: &Resource, name: &str) -> Self {
        Self::new(404, "NotFound", format!("{} \"{name}\" not found", resource.name())).about(resource, name)
    }

    /// A path that nothing serves: the real server answers plain text there, and no `Status`.
    pub(super) fn no_such_path() -> Self {
        Self::new(404, NO_STATUS, "404 page not found\n")
    }

    pub(super) fn already_exists(resource: &Resource, name: &str) -> Self {
        Self::new(409, "AlreadyExists", format!("{} \"{name}\" already exists", resource.name())).about(resource, name)
    }

    pub(super) fn conflict(resource: &Resource, name: &str) -> Self {
        let message = format!(
            "Operation cannot be fulfilled on {} \"{name}\": the object has been modified; please apply your changes to \
             the latest version and try again",
            resource.name()
        );
        Self::new(409, "Conflict", message).about(resource, name)
    }

    pub(super) fn invalid(resource: &Resource, name: &str, problem: &str) -> Self {
        let message = format!("{} \"{name}\" is invalid: {problem}", resource.kind_name());
        Self::new(422, "Invalid", message).about(resource, name)
    }

    pub(super) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    pub(super) fn forbidden(resource: &Resource, name: Option<&str>, problem: &str) -> Self {
        let subject = name.map_or_else(|| resource.name(), |name| format!("{} \"{name}\"", resource.name()));
        Self::new(403, "Forbidden", format!("{subject} is forbidden: {problem}"))
            .about(resource, name.unwrap_or_default())
    }

    pub(super) fn unauthorized() -> Self {
        Self::new(401, "Unauthorized", "Unauthorized")
    }

    pub(super) fn method_not_allowed() -> Self {
        Self::new(405, "MethodNotAllowed", "the server does not allow this method on the requested resource")
    }

    /// A list, or a page of one, that the history no longer reaches.
    pub(super) fn expired(continue_token: Option<String>) -> Self {
        let message = if continue_token.is_some() {
            "The provided continue parameter is too old to display a consistent list result. You can start a new list \
             without the continue parameter, or use the continue token in this response to go on inconsistently."
        } else {
            "The resourceVersion for the provided list is too old."
        };
        Self { continue_token, ..Self::new(410, "Expired", message) }
    }

    /// A watch that the history no longer reaches.
    pub(super) fn watch_expired(asked: u64, oldest: u64) -> Self {
        Self::new(410, "Expired", format!("too old resource version: {asked} ({oldest})"))
    }

    pub(super) fn from_the_future(asked: u64, current: u64) -> Self {
        let mut failure = Self::new(504, "Timeout", format!("Too large resource version: {asked}, current: {current}"));
        failure.details = json!({
            "causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}],
            "retryAfterSeconds": 1,
        });
        failure.retry_after = Some(1);
        failure
    }

    pub(super) fn too_many_requests(retry_after: u64) -> Self {
        let message = "The apiserver is too busy to answer this request; try again later";
        let mut failure = Self::new(429, "TooManyRequests", message);
        failure.details = json!({"retryAfterSeconds": retry_after});
        failure.retry_after = Some(retry_after);
        failure
    }

    /// The `Status` object, as it stands in an answer and in an `ERROR` event of a watch.
    pub(super) fn to_status(&self) -> Value {
        let mut status = json!({
            "apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Failure",
            "message": self.message, "reason": self.reason, "code": self.code,
        });
        if !self.details.is_null() {
            status["details"] = self.details.clone();
        }
        if let Some(token) = &self.continue_token {
            status["metadata"]["continue"] = token.as_str().into();
        }
        status
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        if self.reason == NO_STATUS {
            return answer_bytes(self.code, "text/plain; charset=utf-8", self.message);
        }
        let mut response = answer(self.code, &self.to_status());
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
        }
        response
    }
}

/// A JSON answer.
pub(super) fn answer(code: u16, body: &Value) -> Response {
    answer_bytes(code, "application/json", body.to_string())
}

/// An answer of any type.
pub(super) fn answer_bytes(code: u16, content_type: &'static str, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(header::CONTENT_TYPE, http::HeaderValue::from_static(content_type));
    response
}
