//! A simulated operator: it lists, watches, and serves each object by writing `status.observedGeneration`.
//!
//! It has the manners that make real operators go deaf. It lists once, then trusts its watch; it goes on from the last
//! `resourceVersion` when a watch ends and lists again only after 410 or a restart; without [`Options::inactivity`] it
//! waits on a silent stream for ever; and its `/healthz` answers 200 whatever happens.

pub mod client;
mod stream;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

use super::resource::Resource;
use super::serve;
use crate::clock;
use client::Client;

/// What an operator serves, and how.
#[derive(Debug, Clone)]
pub struct Options {
    /// The resources; each has a stream and a worker of its own.
    pub resources: Vec<Resource>,
    /// How long it works on one object.
    pub service_time: Duration,
    /// The finalizer that it puts on each object and takes away when it has noticed the deletion.
    pub finalizer: Option<String>,
    /// After how much silence it opens a new watch; absent: never, as kopf before 1.44.
    pub inactivity: Option<Duration>,
    /// Where its `/healthz` listens.
    pub healthz: Option<SocketAddr>,
}

/// What keeps an operator from starting.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The API server's address.
    #[error("cannot use {url:?} as the address of the API server; give it as http://HOST:PORT")]
    Url {
        /// As given.
        url: String,
        /// Why not.
        #[source]
        source: http::uri::InvalidUri,
    },
    /// The health endpoint.
    #[error("cannot listen on {address} for the operator's /healthz; choose another port")]
    Listen {
        /// The address asked for.
        address: SocketAddr,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
}

/// How long it waits after a failure.
const BACK_OFF: Duration = Duration::from_secs(1);

impl Options {
    /// An operator for one resource that works 100 ms on an object.
    pub fn new(resource: Resource) -> Self {
        Self {
            resources: vec![resource],
            service_time: Duration::from_millis(100),
            finalizer: None,
            inactivity: None,
            healthz: None,
        }
    }
}

/// Runs an operator against an API server over plain HTTP, `http://HOST:PORT`, until the future is dropped.
///
/// # Errors
/// When the address is unusable, or its health endpoint cannot listen.
pub async fn run_operator(url: &str, options: Options) -> Result<Infallible, Error> {
    let client = Client::over_tcp(url).map_err(|source| Error::Url { url: url.to_owned(), source })?;
    run(client, options).await
}

/// Runs an operator with a client until the future is dropped.
///
/// # Errors
/// When its health endpoint cannot listen, or stops to.
pub async fn run(client: Client, options: Options) -> Result<Infallible, Error> {
    let work = async {
        join_all(options.resources.iter().map(|resource| serve_resource(&client, resource, &options))).await;
        std::future::pending().await
    };
    let Some(address) = options.healthz else { return work.await };
    let listen = |source| Error::Listen { address, source };
    let listener = TcpListener::bind(address).await.map_err(listen)?;
    let health = Router::new().route("/healthz", get(|| async { "ok" }));
    tokio::select! {
        never = work => never,
        source = serve::serve(listener, health) => Err(listen(source)),
    }
}

/// An object that may need service: its namespace, empty for none, and its name.
type Name = (String, String);

async fn serve_resource(client: &Client, resource: &Resource, options: &Options) {
    let (queue, waiting) = mpsc::unbounded_channel();
    let worker = Worker { client, resource, options, queue: queue.clone() };
    tokio::join!(stream::follow(client, resource, options.inactivity, &queue), worker.run(waiting));
}

struct Worker<'a> {
    client: &'a Client,
    resource: &'a Resource,
    options: &'a Options,
    queue: UnboundedSender<Name>,
}

/// A step that an object still needs.
enum Task {
    /// Write this finalizer list: ours is added or taken away.
    Finalizers(Vec<Value>),
    /// Write that this generation was seen.
    Status(i64),
}

impl Worker<'_> {
    async fn run(&self, mut waiting: UnboundedReceiver<Name>) {
        while let Some(name) = waiting.recv().await {
            if self.serve(&name).await.is_err() {
                clock::sleep(BACK_OFF).await;
                // The queue is open as long as this worker holds an end of it.
                drop(self.queue.send(name));
            }
        }
    }

    /// Does what the object still needs, one step after the other.
    async fn serve(&self, name: &Name) -> Result<(), client::Error> {
        while let Some(object) = self.client.read(&self.path(name)).await? {
            let Some(task) = self.task(&object) else { return Ok(()) };
            clock::sleep(self.options.service_time).await;
            self.perform(name, &object, task).await?;
        }
        Ok(())
    }

    fn task(&self, object: &Value) -> Option<Task> {
        let metadata = &object["metadata"];
        let finalizers = metadata["finalizers"].as_array().cloned().unwrap_or_default();
        let others = |finalizer: &str| finalizers.iter().filter(|own| **own != finalizer).cloned().collect::<Vec<_>>();
        let is_deleted = metadata.get("deletionTimestamp").is_some();
        if let Some(finalizer) = &self.options.finalizer {
            let others = others(finalizer);
            let is_ours = others.len() < finalizers.len();
            match (is_deleted, is_ours) {
                (true, true) => return Some(Task::Finalizers(others)),
                (false, false) => {
                    return Some(Task::Finalizers([others, vec![finalizer.as_str().into()]].concat()));
                }
                _ => {}
            }
        }
        let generation = metadata["generation"].as_i64().unwrap_or_default();
        let observed = object["status"]["observedGeneration"].as_i64().unwrap_or_default();
        (!is_deleted && observed < generation).then_some(Task::Status(generation))
    }

    async fn perform(&self, name: &Name, object: &Value, task: Task) -> Result<(), client::Error> {
        let path = self.path(name);
        match task {
            Task::Finalizers(finalizers) => {
                let version = &object["metadata"]["resourceVersion"];
                let change = json!({"metadata": {"resourceVersion": version, "finalizers": finalizers}});
                self.client.patch(&path, &change).await
            }
            Task::Status(generation) => {
                let path = if self.resource.status { format!("{path}/status") } else { path };
                let change = json!({"status": {"observedGeneration": generation, "phase": "Ready"}});
                self.client.patch(&path, &change).await
            }
        }
    }

    fn path(&self, (namespace, name): &Name) -> String {
        let Resource { group, plural, .. } = self.resource;
        let version = self.resource.stored_version();
        if namespace.is_empty() {
            format!("/apis/{group}/{version}/{plural}/{name}")
        } else {
            format!("/apis/{group}/{version}/namespaces/{namespace}/{plural}/{name}")
        }
    }
}
