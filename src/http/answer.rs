//! One answer.

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderValue, Response, StatusCode};

/// By this header `dogwatch probe` knows that it was dogwatch who answered.
const DOGWATCH: HeaderName = HeaderName::from_static("dogwatch");

pub(super) const TEXT: &str = "text/plain; charset=utf-8";
pub(super) const JSON: &str = "application/json";

/// One answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) content_type: &'static str,
    pub(super) body: String,
}

impl Answer {
    /// Lines for people; a missing end of line is added.
    pub(super) fn text(status: StatusCode, mut body: String) -> Self {
        if !body.ends_with('\n') {
            body.push('\n');
        }
        Self { status, content_type: TEXT, body }
    }
}

impl From<Answer> for Response<Body> {
    fn from(answer: Answer) -> Self {
        let mut response = Response::new(Body::from(answer.body));
        *response.status_mut() = answer.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(answer.content_type));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.insert(DOGWATCH, HeaderValue::from_static(env!("CARGO_PKG_VERSION")));
        response
    }
}
