//! The operator's own client: no retries, no timeouts on streams, one connection a watch.

use std::time::Duration;

use axum::Router;
use axum::body::Body;
use http::uri::{InvalidUri, Uri};
use http::{Method, Request, Response, StatusCode, header};
use http_body_util::BodyExt;
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::Value;
use tower::ServiceExt;

use crate::clock;

/// A client of the API, in memory or over TCP.
#[derive(Debug, Clone)]
pub struct Client {
    door: Door,
    user_agent: String,
    token: Option<String>,
}

#[derive(Debug, Clone)]
enum Door {
    Memory(Router),
    Tcp { client: legacy::Client<HttpConnector, Body>, url: String },
}

/// A request that did not get a usable answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No answer.
    #[error("cannot reach the API server for {method} {path}")]
    Unreachable {
        /// The method of the request.
        method: Method,
        /// Its path.
        path: String,
        /// What the connection said; absent when time ran out.
        #[source]
        source: Option<legacy::Error>,
    },
    /// An answer that says no.
    #[error("the API server answered {code} to {method} {path}")]
    Refused {
        /// The HTTP code.
        code: StatusCode,
        /// The method of the request.
        method: Method,
        /// Its path.
        path: String,
    },
    /// An answer that breaks off or is no JSON.
    #[error("cannot read the API server's answer to {method} {path}")]
    Unreadable {
        /// The method of the request.
        method: Method,
        /// Its path.
        path: String,
    },
}

/// How long a request may take that is no watch; kopf's own limit.
const REQUEST_LIMIT: Duration = Duration::from_mins(5);

impl Client {
    /// A client that calls a router in memory.
    pub fn in_memory(router: Router) -> Self {
        Self::through(Door::Memory(router))
    }

    /// A client for `http://HOST:PORT`.
    ///
    /// # Errors
    /// When the address cannot be read.
    pub fn over_tcp(url: &str) -> Result<Self, InvalidUri> {
        url.parse::<Uri>()?;
        let client = legacy::Client::builder(TokioExecutor::new()).build_http();
        Ok(Self::through(Door::Tcp { client, url: url.trim_end_matches('/').to_owned() }))
    }

    fn through(door: Door) -> Self {
        Self { door, user_agent: "simulated-operator/1".to_owned(), token: None }
    }

    /// The same with another User-Agent, by which faults can be aimed and `managedFields` tells writers apart.
    #[must_use]
    pub fn user_agent(mut self, user_agent: &str) -> Self {
        user_agent.clone_into(&mut self.user_agent);
        self
    }

    /// The same with a bearer token.
    #[must_use]
    pub fn token(mut self, token: &str) -> Self {
        self.token = Some(token.to_owned());
        self
    }

    /// Reads one object, or nothing where there is none.
    pub async fn read(&self, path: &str) -> Result<Option<Value>, Error> {
        match self.json(Method::GET, path, None).await {
            Err(Error::Refused { code: StatusCode::NOT_FOUND, .. }) => Ok(None),
            answer => answer.map(Some),
        }
    }

    /// Changes an object by a merge patch.
    pub(super) async fn patch(&self, path: &str, change: &Value) -> Result<(), Error> {
        match self.json(Method::PATCH, path, Some(change)).await {
            // What is gone needs no change.
            Err(Error::Refused { code: StatusCode::NOT_FOUND, .. }) => Ok(()),
            answer => answer.map(drop),
        }
    }

    async fn json(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, Error> {
        let unreadable = || Error::Unreadable { method: method.clone(), path: path.to_owned() };
        let exchange = async {
            let response = self.open(method.clone(), path, body).await?;
            let body = response.into_body().collect().await.map_err(|_| unreadable())?.to_bytes();
            serde_json::from_slice(&body).map_err(|_| unreadable())
        };
        clock::within(REQUEST_LIMIT, exchange)
            .await
            .unwrap_or_else(|| Err(Error::Unreachable { method: method.clone(), path: path.to_owned(), source: None }))
    }

    /// Sends a request and returns as soon as a good answer begins, however long that takes.
    pub(in crate::sim) async fn open(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Response<Body>, Error> {
        let unreachable =
            |source| Error::Unreachable { method: method.clone(), path: path.to_owned(), source: Some(source) };
        let response = match &self.door {
            Door::Memory(router) => {
                let Ok(response) = router.clone().oneshot(self.request(&method, path, body)).await;
                response
            }
            Door::Tcp { client, url } => {
                let request = self.request(&method, &format!("{url}{path}"), body);
                client.request(request).await.map_err(unreachable)?.map(Body::new)
            }
        };
        if response.status().is_success() {
            return Ok(response);
        }
        Err(Error::Refused { code: response.status(), method, path: path.to_owned() })
    }

    fn request(&self, method: &Method, uri: &str, body: Option<&Value>) -> Request<Body> {
        let mut request = Request::new(body.map_or_else(Body::empty, |body| Body::from(body.to_string())));
        *request.method_mut() = method.clone();
        // An address that cannot be read leaves the root, which nothing serves.
        *request.uri_mut() = uri.parse().unwrap_or_default();
        let authorization = self.token.as_ref().map(|token| format!("Bearer {token}"));
        let content_type = body.map(|_| "application/merge-patch+json".to_owned());
        let headers = [
            (header::USER_AGENT, Some(self.user_agent.clone())),
            (header::AUTHORIZATION, authorization),
            (header::CONTENT_TYPE, content_type),
            (header::ACCEPT, Some("application/json".to_owned())),
        ];
        for (name, value) in headers {
            if let Some(value) = value.and_then(|value| value.try_into().ok()) {
                request.headers_mut().insert(name, value);
            }
        }
        request
    }
}
