//! A scripted API server for this module's tests: answers in a fixed order, and remembers what it was asked.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderName};
use http::{HeaderMap, Request, Response};
use http_body::{Body, Frame};
use tower::service_fn;

use super::connect::{Cluster, from_service};
use super::request::Client;

pub(super) const TIMEOUT: Duration = Duration::from_secs(30);

/// One scripted answer.
#[derive(Debug, Clone)]
pub(super) struct Reply {
    status: u16,
    headers: Vec<(&'static str, String)>,
    parts: VecDeque<Part>,
    never_begins: bool,
}

#[derive(Debug, Clone)]
enum Part {
    Bytes(Bytes),
    Hang,
    Break,
}

impl Reply {
    pub(super) fn json(status: u16, body: impl Into<String>) -> Self {
        let parts = VecDeque::from([Part::Bytes(Bytes::from(body.into()))]);
        Self { status, headers: vec![("content-type", "application/json".into())], parts, never_begins: false }
    }

    pub(super) fn ok(body: impl Into<String>) -> Self {
        Self::json(200, body)
    }

    pub(super) fn status(code: u16, reason: &str, message: &str) -> Self {
        Self::json(
            code,
            format!(
                r#"{{"kind":"Status","apiVersion":"v1","metadata":{{}},"reason":{reason:?},"message":{message:?},"code":{code}}}"#
            ),
        )
    }

    /// A page of widgets with these names.
    pub(super) fn page(names: &[&str], token: &str) -> Self {
        let items: Vec<_> = names.iter().map(|name| format!(r#"{{"metadata":{{"name":{name:?}}}}}"#)).collect();
        Self::ok(format!(
            r#"{{"apiVersion":"example.com/v1","items":[{}],"kind":"WidgetList","metadata":{{"continue":{token:?},"remainingItemCount":7,"resourceVersion":"42"}}}}"#,
            items.join(",")
        ))
    }

    pub(super) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.retain(|(known, _)| *known != name);
        self.headers.push((name, value.into()));
        self
    }

    pub(super) fn without_content_type(mut self) -> Self {
        self.headers.retain(|(name, _)| *name != CONTENT_TYPE.as_str());
        self
    }

    /// Nothing comes behind what was given so far, and no end.
    pub(super) fn then_hangs(mut self) -> Self {
        self.parts.push_back(Part::Hang);
        self
    }

    /// The connection breaks behind what was given so far.
    pub(super) fn then_breaks(mut self) -> Self {
        self.parts.push_back(Part::Break);
        self
    }

    /// No headers come.
    pub(super) fn never() -> Self {
        Self { never_begins: true, ..Self::ok("") }
    }
}

/// The body of one answer.
struct Parts(VecDeque<Part>);

impl Body for Parts {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if let Some(Part::Hang) = self.0.front() {
            return Poll::Pending;
        }
        Poll::Ready(match self.0.pop_front() {
            Some(Part::Bytes(bytes)) => Some(Ok(Frame::data(bytes))),
            Some(Part::Break) => Some(Err(std::io::ErrorKind::ConnectionReset.into())),
            Some(Part::Hang) | None => None,
        })
    }
}

/// The requests that were made.
#[derive(Debug, Clone, Default)]
pub(super) struct Asked(Arc<Mutex<Vec<(String, HeaderMap)>>>);

impl Asked {
    fn all(&self) -> Vec<(String, HeaderMap)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Paths and queries, in order.
    pub(super) fn targets(&self) -> Vec<String> {
        self.all().into_iter().map(|(target, _)| target).collect()
    }

    /// One header of the last request.
    pub(super) fn last_header(&self, name: &HeaderName) -> Option<String> {
        let (_, headers) = self.all().pop()?;
        headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
    }
}

/// A cluster that answers with `answer`'s reply to each path and query.
pub(super) fn cluster_of(answer: impl Fn(&str) -> Reply + Clone + Send + Sync + 'static) -> (Cluster, Asked) {
    let asked = Asked::default();
    let log = asked.clone();
    let service = service_fn(move |request: Request<kube::client::Body>| {
        let target = request.uri().to_string();
        log.0.lock().unwrap_or_else(PoisonError::into_inner).push((target.clone(), request.headers().clone()));
        let reply = answer(&target);
        async move {
            if reply.never_begins {
                std::future::pending::<()>().await;
            }
            let mut response = Response::new(Parts(reply.parts));
            *response.status_mut() = reply.status.try_into().expect("a status code");
            for (name, value) in reply.headers {
                response.headers_mut().insert(name, value.parse().expect("a header value"));
            }
            Ok::<_, Infallible>(response)
        }
    });
    (from_service(service, TIMEOUT), asked)
}

/// A client whose requests are answered in order; one more than scripted is answered with 500.
pub(super) async fn client(replies: impl IntoIterator<Item = Reply>) -> (Client, Asked) {
    let replies = Arc::new(Mutex::new(replies.into_iter().collect::<VecDeque<_>>()));
    let (cluster, asked) = cluster_of(move |target| {
        let next = replies.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        next.unwrap_or_else(|| Reply::status(500, "Unscripted", target))
    });
    (cluster.client().await.expect("a service needs no credentials"), asked)
}
