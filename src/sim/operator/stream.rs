//! How an operator learns of objects: a list, then one watch after the other.

use std::time::Duration;

use axum::body::Body;
use http::Method;
use http_body_util::BodyExt;
use serde_json::Value;
use tokio::sync::Barrier;
use tokio::sync::mpsc::UnboundedSender;

use super::client::Client;
use super::flaw::Flaw;
use super::{Listing, Name, Options};
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

/// One stream.
pub(super) struct Stream<'a> {
    pub(super) client: &'a Client,
    pub(super) resource: &'a Resource,
    pub(super) options: &'a Options,
    pub(super) queue: UnboundedSender<Name>,
    /// Passed once everything was read that must be read first.
    pub(super) synced: &'a Barrier,
}

impl Stream<'_> {
    /// Puts the name of every object that is there or changes into the queue, for ever, or until it gives up.
    pub(super) async fn follow(&self) {
        let version = self.resource.stored_version();
        let path = format!("/apis/{}/{version}/{}", self.resource.group, self.resource.plural);
        let mut patience = Patience::new(self.options);
        let mut is_synced = false;
        loop {
            let Some(mut revision) = self.list(&path).await else {
                if patience.is_over() {
                    return;
                }
                clock::sleep(self.options.back_off).await;
                continue;
            };
            if !std::mem::replace(&mut is_synced, true) {
                self.synced.wait().await;
            }
            loop {
                match self.watch(&path, &mut revision, &mut patience).await {
                    End::Resume => clock::sleep(RECONNECT).await,
                    End::Failed if patience.is_over() => return,
                    End::Failed => clock::sleep(self.options.back_off).await,
                    End::Gone => {
                        clock::sleep(self.options.back_off).await;
                        break;
                    }
                }
            }
        }
    }

    /// Reads what is there, and returns the revision from which to watch; nothing if that failed.
    async fn list(&self, path: &str) -> Option<String> {
        let limit = match self.options.listing {
            Listing::Whole => return self.page(path).await.map(|(revision, _)| revision),
            Listing::Watch => return self.list_by_watch(path).await,
            Listing::Pages(limit) => limit,
        };
        let mut next = String::new();
        loop {
            let (revision, token) = self.page(&format!("{path}?limit={limit}&continue={next}")).await?;
            if token.is_empty() {
                return Some(revision);
            }
            if token == next {
                // Not an error to a client of Kubernetes: it goes on for ever, if not quite as fast as it can.
                clock::sleep(self.options.back_off).await;
            }
            next = token;
        }
    }

    async fn page(&self, path: &str) -> Option<(String, String)> {
        let list = self.client.read(path).await.ok()??;
        let items = list["items"].as_array()?;
        if items.iter().any(|item| self.chokes_on(item)) {
            return None;
        }
        for item in items {
            self.enqueue(item);
        }
        let text = |field: &str| list["metadata"][field].as_str().unwrap_or_default().to_owned();
        Some((text("resourceVersion"), text("continue")))
    }

    /// The list is over with a bookmark that says so, and not before.
    async fn list_by_watch(&self, path: &str) -> Option<String> {
        let path = format!(
            "{path}?watch=true&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
        );
        let response = self.client.open(Method::GET, &path, None).await.ok()?;
        let mut lines = Lines { body: response.into_body(), rest: Vec::new() };
        let mut items = Vec::new();
        loop {
            let event: Value = serde_json::from_slice(&lines.next().await?).ok()?;
            let metadata = &event["object"]["metadata"];
            if metadata["annotations"]["k8s.io/initial-events-end"] == "true" {
                for item in &items {
                    self.enqueue(item);
                }
                return metadata["resourceVersion"].as_str().map(str::to_owned);
            }
            items.push(event["object"].clone());
        }
    }

    async fn watch(&self, path: &str, revision: &mut String, patience: &mut Patience) -> End {
        let inactivity = self.options.inactivity;
        let bookmarks = self.options.bookmarks;
        let path = format!("{path}?watch=true&allowWatchBookmarks={bookmarks}&resourceVersion={revision}");
        let opening = self.client.open(Method::GET, &path, None);
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
            if self.chokes_on(object) {
                return End::Failed;
            }
            patience.renew();
            if let Some(seen) = object["metadata"]["resourceVersion"].as_str() {
                seen.clone_into(revision);
            }
            if event["type"] == "ADDED" || event["type"] == "MODIFIED" {
                self.enqueue(object);
            }
        }
    }

    fn chokes_on(&self, object: &Value) -> bool {
        self.options.chokes && object["spec"]["poison"] == true
    }

    fn enqueue(&self, object: &Value) {
        let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default().to_owned();
        let (namespace, name) = (text("namespace"), text("name"));
        if !self.options.flaws.of(&self.resource.plural, &name).contains(&Flaw::Ignores) {
            // The worker holds the other end as long as this future lives.
            drop(self.queue.send((namespace, name)));
        }
    }
}

/// For how long failures are borne.
struct Patience {
    limit: Option<Duration>,
    clock: clock::Clock,
    since: Option<Duration>,
}

impl Patience {
    fn new(options: &Options) -> Self {
        Self { limit: options.gives_up_after, clock: options.clock, since: None }
    }

    const fn renew(&mut self) {
        self.since = None;
    }

    /// Counts a failure, and says whether it was one too many.
    fn is_over(&mut self) -> bool {
        let now = self.clock.boot();
        let since = *self.since.get_or_insert(now);
        self.limit.is_some_and(|limit| now.saturating_sub(since) >= limit)
    }
}

async fn limited<F: Future>(limit: Option<Duration>, future: F) -> Option<F::Output> {
    match limit {
        Some(limit) => clock::within(limit, future).await,
        None => Some(future.await),
    }
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
