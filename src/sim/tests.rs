//! The simulated API server as a client sees it, through the router in memory and in paused time.

mod api;
mod control;
mod faults;
mod operator;
mod revisions;
mod rights;
mod watches;

use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use http::{HeaderMap, Method, Request};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;

use super::{Resource, Simulation};
use crate::clock::{self, Clock};

const WIDGETS: &str = "/apis/example.com/v1/namespaces/prod/widgets";
const ALL_WIDGETS: &str = "/apis/example.com/v1/widgets";
const MERGE: &str = "application/merge-patch+json";
const JSON_PATCH: &str = "application/json-patch+json";

/// A cluster with `widgets.example.com` and the namespace `prod`, in March 2026 by its own clock.
fn cluster() -> Simulation {
    let simulation = Simulation::new(Clock::of_tokio("2026-03-04T07:00:00Z".parse().expect("a time")));
    simulation.define(&Resource::custom("example.com", "v1", "Widget")).expect("not yet defined");
    simulation.ensure_namespace("prod");
    simulation
}

fn widget(name: &str, size: u32) -> Value {
    json!({
        "apiVersion": "example.com/v1", "kind": "Widget",
        "metadata": {"name": name, "namespace": "prod"}, "spec": {"size": size},
    })
}

/// Seconds since the cluster began, on its own clock.
fn seconds(simulation: &Simulation) -> u64 {
    simulation.shared.lock().boot().as_secs()
}

fn seed(simulation: &Simulation, names: &[&str]) {
    for name in names {
        simulation.create(widget(name, 1), "kubectl").expect("created");
    }
}

/// A client.
#[derive(Clone)]
struct Client {
    simulation: Simulation,
    token: Option<&'static str>,
    accept: &'static str,
}

struct Answer {
    code: u16,
    headers: HeaderMap,
    body: Value,
    text: String,
}

impl Client {
    fn of(simulation: &Simulation) -> Self {
        Self { simulation: simulation.clone(), token: None, accept: "application/json" }
    }

    fn with_token(simulation: &Simulation, token: &'static str) -> Self {
        Self { token: Some(token), ..Self::of(simulation) }
    }

    async fn open(&self, method: Method, path: &str, content_type: &str, body: &Value) -> Response {
        let body = if body.is_null() { Body::empty() } else { Body::from(body.to_string()) };
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header("user-agent", "tester/1.0")
            .header("accept", self.accept)
            .header("content-type", content_type);
        if let Some(token) = self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        self.simulation.router().oneshot(request.body(body).expect("a request")).await.expect("an answer")
    }

    async fn send(&self, method: Method, path: &str, content_type: &str, body: &Value) -> Answer {
        let (parts, body) = self.open(method, path, content_type, body).await.into_parts();
        let text = body.collect().await.map(|body| String::from_utf8(body.to_bytes().to_vec()).expect("text"));
        let text = text.unwrap_or_else(|_| "broken off".to_owned());
        let body = serde_json::from_str(&text).unwrap_or_default();
        Answer { code: parts.status.as_u16(), headers: parts.headers, body, text }
    }

    async fn read(&self, path: &str) -> Answer {
        self.send(Method::GET, path, "", &Value::Null).await
    }

    async fn create(&self, path: &str, body: Value) -> Answer {
        self.send(Method::POST, path, "application/json", &body).await
    }

    async fn replace(&self, path: &str, body: Value) -> Answer {
        self.send(Method::PUT, path, "application/json", &body).await
    }

    async fn patch(&self, path: &str, content_type: &str, body: Value) -> Answer {
        self.send(Method::PATCH, path, content_type, &body).await
    }

    async fn delete(&self, path: &str) -> Answer {
        self.send(Method::DELETE, path, "", &Value::Null).await
    }

    /// Opens a watch; `query` is what stands behind `watch=true`.
    async fn watch(&self, query: &str) -> Watch {
        let response = self.open(Method::GET, &format!("{ALL_WIDGETS}?watch=true{query}"), "", &Value::Null).await;
        assert_eq!(response.status(), 200);
        Watch { body: response.into_body() }
    }
}

/// An open watch.
struct Watch {
    body: Body,
}

/// What a watch yields next.
#[derive(Debug, PartialEq)]
enum Next {
    /// Type and name of an object.
    Event(String, String),
    Ended,
    BrokenOff,
    /// Nothing in two hours.
    Silence,
}

impl Watch {
    async fn raw(&mut self) -> Result<Value, Next> {
        match clock::within(Duration::from_hours(2), self.body.frame()).await {
            None => Err(Next::Silence),
            Some(None) => Err(Next::Ended),
            Some(Some(Err(_))) => Err(Next::BrokenOff),
            Some(Some(Ok(frame))) => {
                Ok(serde_json::from_slice(&frame.into_data().expect("data")).expect("one event a line"))
            }
        }
    }

    async fn next(&mut self) -> Next {
        match self.raw().await {
            Ok(event) => {
                let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                Next::Event(text(&event["type"]), text(&event["object"]["metadata"]["name"]))
            }
            Err(next) => next,
        }
    }
}

fn event(kind: &str, name: &str) -> Next {
    Next::Event(kind.to_owned(), name.to_owned())
}

fn names(list: &Value) -> Vec<&str> {
    let items = list["items"].as_array().expect("a list");
    items.iter().filter_map(|item| item["metadata"]["name"].as_str()).collect()
}
