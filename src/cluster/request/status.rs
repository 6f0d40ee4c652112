//! What an answer with a status code other than 2xx means.

use std::time::Duration;

use http::StatusCode;
use http::header::{HeaderMap, RETRY_AFTER};
use serde::Deserialize;

use super::{Body, Error, content_type, not_kubernetes};

/// More of an error's body is not read.
const LIMIT: usize = 64 * 1024;

/// More characters of a message are not shown.
const MESSAGE_LIMIT: usize = 500;

/// The parts of `metav1.Status` that are of use.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Status {
    kind: String,
    code: u16,
    message: String,
    reason: String,
    metadata: Metadata,
    details: Option<Details>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Metadata {
    r#continue: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Details {
    retry_after_seconds: u64,
}

/// Sorts an answer by its code. The body only adds words: an error whose body cannot be read is still that error.
pub(super) async fn classify(code: StatusCode, headers: &HeaderMap, body: Body) -> Error {
    let bytes = body.collect(LIMIT).await.unwrap_or_default();
    let status = serde_json::from_slice::<Status>(&bytes).ok().filter(|status| status.kind == "Status");
    // Load balancers answer 5xx with a page of their own when no API server is up, and an API server says
    // `404 page not found` in plain text where it serves no such group.
    let is_page = content_type(headers).is_some_and(|form| form.contains("html"));
    if status.is_none() && !code.is_server_error() && (is_page || code.is_redirection()) {
        return not_kubernetes(code, headers);
    }
    let is_wordless = status.is_none();
    let status = status.unwrap_or_default();
    let message = match (status.message.as_str(), status.reason.as_str()) {
        ("", "") if is_wordless && !is_page && !bytes.is_empty() => one_line(&String::from_utf8_lossy(&bytes)),
        ("", "") => code.canonical_reason().unwrap_or("no reason given").to_owned(),
        ("", reason) => one_line(reason),
        (message, _) => one_line(message),
    };
    let retry_after = retry_after(headers).or(status.asked_to_wait());
    sort(code, message, Some(status.metadata.r#continue), retry_after)
}

/// Sorts the `Status` that an `ERROR` event of a watch carries, as the same answer to a request would be.
pub(in crate::cluster) fn of_event(status: &str) -> Error {
    let status = serde_json::from_str::<Status>(status).unwrap_or_default();
    let code = StatusCode::from_u16(status.code).ok().filter(|code| code.as_u16() >= 400);
    let message = one_line(if status.message.is_empty() { &status.reason } else { &status.message });
    let wait = status.asked_to_wait();
    sort(code.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), message, None, wait)
}

fn sort(code: StatusCode, message: String, token: Option<String>, retry_after: Option<u64>) -> Error {
    match code {
        StatusCode::UNAUTHORIZED => Error::Unauthorized { message },
        StatusCode::FORBIDDEN => Error::Forbidden { message },
        StatusCode::NOT_FOUND => Error::NotFound { message },
        StatusCode::GONE => Error::Expired { message, fresh: token.filter(|token| !token.is_empty()) },
        StatusCode::TOO_MANY_REQUESTS => {
            Error::Throttled { message, retry_after: retry_after.map(Duration::from_secs) }
        }
        code if code.is_server_error() => Error::Server { status: code.as_u16(), message },
        code => Error::Refused { status: code.as_u16(), message },
    }
}

impl Status {
    fn asked_to_wait(&self) -> Option<u64> {
        self.details.as_ref().map(|details| details.retry_after_seconds).filter(|seconds| *seconds > 0)
    }
}

/// Seconds. The header's other form, a date, is not used by API servers.
fn retry_after(headers: &HeaderMap) -> Option<u64> {
    headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()
}

/// One printable line of bounded length: what a server says must not move a terminal's cursor.
pub(in crate::cluster) fn one_line(text: &str) -> String {
    let mut line: String = text
        .trim()
        .chars()
        .take(MESSAGE_LIMIT)
        .map(|character| if character.is_control() { ' ' } else { character })
        .collect();
    if text.trim().chars().nth(MESSAGE_LIMIT).is_some() {
        line.push_str("...");
    }
    line
}
