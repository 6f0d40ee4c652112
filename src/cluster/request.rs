//! One request to the API server, and the closed set of what can come back.
//!
//! kube's own request helpers hide what a watchdog must see: they retry 429 and 5xx for minutes, drop the headers and
//! wait without end for a body. This is the only user of [`kube::Client`], and only of its `send`.

mod error;
mod status;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, DATE, HeaderMap, HeaderValue, USER_AGENT};
use http::{Request, Response};
use http_body_util::BodyExt;
use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;
use tower::BoxError;

use crate::clock;
use error::{cause, from_kube};

pub use error::{Error, Reach, Reason};
pub(super) use status::{of_event, one_line};

/// `dogwatch/<version>`, by which the API server's audit log and metrics name these requests.
pub const AGENT: &str = concat!("dogwatch/", env!("CARGO_PKG_VERSION"));

const JSON: &str = "application/json";

/// A wait where the API server asks to slow down and does not say for how long.
const DEFAULT_RETRY_AFTER: Duration = Duration::from_secs(1);

/// What came back: an answer whose body can be read, or the reason why there is none.
pub type Outcome = Result<Answer, Error>;

/// A client of one API server, with connections of its own. Clones share the connections.
#[derive(Clone)]
pub struct Client {
    #[expect(clippy::disallowed_types, reason = "this is the place that the ban points to")]
    inner: kube::Client,
    server: Arc<str>,
    timeout: Duration,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("server", &self.server).field("timeout", &self.timeout).finish_non_exhaustive()
    }
}

impl Client {
    /// `server` is the address that messages show; `timeout` bounds each request, its body included.
    #[expect(clippy::disallowed_types, reason = "this is the place that the ban points to")]
    fn new(inner: kube::Client, server: impl Into<Arc<str>>, timeout: Duration) -> Self {
        Self { inner, server: server.into(), timeout }
    }

    /// Builds the client that `config` describes. Runs the kubeconfig's credential command, if it has one, and blocks
    /// meanwhile.
    #[expect(clippy::disallowed_types, reason = "this is the place that the ban points to")]
    pub(super) fn from_config(config: kube::Config, timeout: Duration) -> Result<(Self, Option<Timestamp>), Error> {
        let server: Arc<str> = server_name(&config.cluster_url).into();
        let inner = kube::Client::try_from(config).map_err(|error| from_kube(error, &server))?;
        let valid_until = *inner.valid_until();
        Ok((Self::new(inner, server, timeout), valid_until))
    }

    /// The client of a service in this process: a simulated API server, or a test's.
    #[expect(clippy::disallowed_types, reason = "this is the place that the ban points to")]
    pub(super) fn from_service<S, B>(service: S, timeout: Duration) -> Self
    where
        S: tower::Service<Request<kube::client::Body>, Response = Response<B>> + Send + 'static,
        S::Future: Send + 'static,
        S::Error: Into<BoxError>,
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        Self::new(kube::Client::new(service, "default"), "in this process", timeout)
    }

    /// The moment by which a request that begins now must be answered.
    pub fn deadline(&self) -> Instant {
        Instant::now() + self.timeout
    }

    /// Sends one request and waits for the headers of its answer, at most until `deadline`; the answer's body is bound
    /// by the same deadline. Never retries.
    ///
    /// # Errors
    /// Every answer but a successful one in the form that was asked for is an [`Error`].
    pub async fn send(&self, mut request: Request<Vec<u8>>, deadline: Instant) -> Outcome {
        let headers = request.headers_mut();
        headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
        let accepted = headers.entry(ACCEPT).or_insert(HeaderValue::from_static(JSON)).clone();
        let response = tokio::time::timeout_at(deadline, self.inner.send(request.map(kube::client::Body::from)))
            .await
            .map_err(|_| self.timed_out())?
            .map_err(|error| from_kube(error, &self.server))?;
        let (head, body) = response.into_parts();
        let server = ServerTime::read(&head.headers, clock::wall());
        let body = Body { inner: body, deadline, timeout: self.timeout, server: Arc::clone(&self.server) };
        if !head.status.is_success() {
            return Err(status::classify(head.status, &head.headers, body).await);
        }
        if !is_accepted(&head.headers, &accepted) {
            return Err(not_kubernetes(head.status, &head.headers));
        }
        Ok(Answer { server, body })
    }

    /// As [`Client::send`], and sends again when the API server asks to slow down, as long as the wait it asks for ends
    /// before `deadline`.
    ///
    /// # Errors
    /// As [`Client::send`]; [`Error::Throttled`] when the API server still asks to slow down at the deadline.
    pub async fn send_patiently(&self, request: Request<Vec<u8>>, deadline: Instant) -> Outcome {
        loop {
            let outcome = self.send(request.clone(), deadline).await;
            let Err(Error::Throttled { retry_after, .. }) = &outcome else { return outcome };
            let again_at = Instant::now() + retry_after.unwrap_or(DEFAULT_RETRY_AFTER);
            if again_at >= deadline {
                return outcome;
            }
            tokio::time::sleep_until(again_at).await;
        }
    }

    pub(super) fn timed_out(&self) -> Error {
        Error::Timeout { server: Arc::clone(&self.server), after: self.timeout }
    }
}

/// A successful answer.
#[derive(Debug)]
pub struct Answer {
    /// The API server's clock, where the answer carried a `Date`.
    pub server: Option<ServerTime>,
    /// The answer's body.
    pub body: Body,
}

/// The API server's clock as one answer showed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerTime {
    /// The `Date` header; whole seconds, rounded down.
    pub date: Timestamp,
    /// How far the API server's clock is ahead of this machine's; negative when it is behind. Off by up to a second
    /// plus the time that the answer was under way.
    pub skew: SignedDuration,
}

impl ServerTime {
    fn read(headers: &HeaderMap, wall: Timestamp) -> Option<Self> {
        let text = headers.get(DATE)?.to_str().ok()?;
        let date = jiff::fmt::rfc2822::parse(text).ok()?.timestamp();
        Some(Self { date, skew: date.duration_since(wall) })
    }
}

/// The body of an answer, read piece by piece.
#[derive(Debug)]
pub struct Body {
    inner: kube::client::Body,
    deadline: Instant,
    timeout: Duration,
    server: Arc<str>,
}

impl Body {
    /// The next bytes; `None` at the end.
    ///
    /// # Errors
    /// [`Error::Timeout`] at the request's deadline, [`Error::Lost`] when the connection broke.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, Error> {
        loop {
            let frame = tokio::time::timeout_at(self.deadline, self.inner.frame())
                .await
                .map_err(|_| Error::Timeout { server: Arc::clone(&self.server), after: self.timeout })?;
            match frame {
                None => return Ok(None),
                Some(Err(error)) => {
                    return Err(Error::Lost { server: Arc::clone(&self.server), source: cause(error) });
                }
                // Trailers carry no bytes.
                Some(Ok(frame)) => {
                    if let Ok(bytes) = frame.into_data() {
                        return Ok(Some(bytes));
                    }
                }
            }
        }
    }

    /// The whole body, of at most `limit` bytes. For answers that are small by nature.
    ///
    /// # Errors
    /// As [`Body::chunk`]; [`Error::TooLarge`] beyond the limit.
    pub async fn collect(mut self, limit: usize) -> Result<Vec<u8>, Error> {
        let mut all = Vec::new();
        while let Some(bytes) = self.chunk().await? {
            if all.len() + bytes.len() > limit {
                return Err(Error::TooLarge { limit });
            }
            all.extend_from_slice(&bytes);
        }
        Ok(all)
    }
}

/// Scheme, host and port, without a path and without the credentials that an address may hold.
fn server_name(address: &http::Uri) -> String {
    let port = address.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}://{}{port}", address.scheme_str().unwrap_or("https"), address.host().unwrap_or_default())
}

fn content_type(headers: &HeaderMap) -> Option<&str> {
    let text = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    Some(text.split(';').next().unwrap_or(text).trim())
}

/// An answer in a form that was not asked for comes from a proxy or a login page. An answer that does not name its form
/// gets the benefit of the doubt; whoever parses it will find out.
fn is_accepted(headers: &HeaderMap, accepted: &HeaderValue) -> bool {
    let Some(form) = content_type(headers) else { return true };
    accepted.to_str().is_ok_and(|accepted| accepted.contains(form) || accepted.contains("*/*"))
}

fn not_kubernetes(status: http::StatusCode, headers: &HeaderMap) -> Error {
    let content_type = content_type(headers).unwrap_or("no content type");
    Error::NotKubernetes { status: status.as_u16(), content_type: one_line(content_type) }
}

#[cfg(test)]
mod tests;
