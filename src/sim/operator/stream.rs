//! How an operator learns of objects: a list, then one watch after the other.

use std::time::Duration;

use axum::body::Body;
use http::Method;
use http_body_util::BodyExt;
use serde_json::Value;
use tokio::sync::mpsc::UnboundedSender;

use super::client::Client;
use super::{BACK_OFF, Name};
use crate::clock;
use crate::sim::resource::Resource;

/// How long it waits before it goes on with another watch; kopf's own pause.
const RECONNECT: Duration = Duration::from_millis(100);

/// How a watch ended.
enum End {
    /// Another one can go on where it stopped.
    Resume,
    /// Only a new list can tell what is there.
    Gone,
    /// Something went wrong; the next one should wait.
    Failed,
}

/// Puts the name of every object that is there or changes into the queue, for ever.
pub(super) async fn follow(
    client: &Client,
    resource: &Resource,
    inactivity: Option<Duration>,
    queue: &UnboundedSender<Name>,
) {
    let version = resource.stored_version();
    let path = format!("/apis/{}/{version}/{}", resource.group, resource.plural);
    loop {
        let Ok(Some(list)) = client.read(&path).await else {
            clock::sleep(BACK_OFF).await;
            continue;
        };
        list["items"].as_array().into_iter().flatten().for_each(|item| enqueue(queue, item));
        let mut revision = list["metadata"]["resourceVersion"].as_str().unwrap_or_default().to_owned();
        loop {
            match watch(client, &path, &mut revision, inactivity, queue).await {
                End::Resume => clock::sleep(RECONNECT).await,
                End::Failed => clock::sleep(BACK_OFF).await,
                End::Gone => break,
            }
        }
    }
}

async fn watch(
    client: &Client,
    path: &str,
    revision: &mut String,
    inactivity: Option<Duration>,
    queue: &UnboundedSender<Name>,
) -> End {
    let path = format!("{path}?watch=true&allowWatchBookmarks=true&resourceVersion={revision}");
    let opening = client.open(Method::GET, &path, None);
    let Some(opened) = limited(inactivity, opening).await else { return End::Failed };
    let Ok(response) = opened else { return End::Failed };
    let mut lines = Lines { body: response.into_body(), rest: Vec::new() };
    loop {
        let Some(next) = limited(inactivity, lines.next()).await else { return End::Resume };
        let Some(line) = next else { return End::Resume };
        let Ok(event) = serde_json::from_slice::<Value>(&line) else { return End::Failed };
        let object = &event["object"];
        if event["type"] == "ERROR" {
            return if object["code"] == 410 { End::Gone } else { End::Failed };
        }
        if let Some(seen) = object["metadata"]["resourceVersion"].as_str() {
            seen.clone_into(revision);
        }
        if event["type"] == "ADDED" || event["type"] == "MODIFIED" {
            enqueue(queue, object);
        }
    }
}

async fn limited<F: Future>(limit: Option<Duration>, future: F) -> Option<F::Output> {
    match limit {
        Some(limit) => clock::within(limit, future).await,
        None => Some(future.await),
    }
}

fn enqueue(queue: &UnboundedSender<Name>, object: &Value) {
    let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default().to_owned();
    // The worker holds the other end as long as this future lives.
    drop(queue.send((text("namespace"), text("name"))));
}

/// The lines of a body as they arrive.
struct Lines {
    body: Body,
    rest: Vec<u8>,
}

impl Lines {
    /// The next whole line; nothing when the body has ended or broken off.
    async fn next(&mut self) -> Option<Vec<u8>> {
        loop {
            if let Some(end) = memchr::memchr(b'\n', &self.rest) {
                let rest = self.rest.split_off(end + 1);
                return Some(std::mem::replace(&mut self.rest, rest));
            }
            let frame = self.body.frame().await?.ok()?;
            if let Some(bytes) = frame.data_ref() {
                self.rest.extend_from_slice(bytes);
            }
        }
    }
}
