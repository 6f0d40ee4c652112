//! A simulated operator: it lists, watches, and serves each object by writing `status.observedGeneration`.
//!
//! It has the manners that make real operators go deaf. It lists once, then trusts its watch; it goes on from the last
//! `resourceVersion` when a watch ends and lists again only after 410 or a restart; without [`Options::inactivity`] it
//! waits on a silent stream for ever; and its `/healthz` answers 200 whatever happens. Who loses the lease neither serves
//! nor ends.
//!
//! It is a model and no framework: [`Options`] say what kind of operator it is, and [`flaw::Flaws`] what goes wrong in it
//! while it runs.

pub mod client;
pub mod flaw;
pub mod lease;
mod mark;
mod stream;
mod work;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::routing::get;
use futures_util::future::join_all;
use tokio::net::TcpListener;
use tokio::sync::{Barrier, mpsc};

use super::resource::Resource;
use super::serve;
use crate::clock::Clock;
use client::Client;
use flaw::Flaws;
use lease::Lease;
use stream::Stream;
use work::Worker;

/// What an operator serves, and how.
#[derive(Debug, Clone)]
pub struct Options {
    /// The resources; each has a stream and workers of its own.
    pub resources: Vec<Resource>,
    /// How many objects of a resource it works on at once.
    pub workers: usize,
    /// How long it works on one object.
    pub service_time: Duration,
    /// How often it says, while it works on an object, that it still does.
    pub progress: Option<Duration>,
    /// How often it writes into the status of each object, whatever happens to its streams.
    pub timer: Option<Duration>,
    /// What it writes into objects.
    pub report: Report,
    /// The finalizer that it puts on each object and takes away when it has noticed the deletion.
    pub finalizer: Option<String>,
    /// How it reads what is there.
    pub listing: Listing,
    /// Whether its watches ask for bookmarks.
    pub bookmarks: bool,
    /// After how much silence it opens a new watch; absent: never, as kopf before 1.44.
    pub inactivity: Option<Duration>,
    /// For how long it bears that a stream cannot be opened, before it gives it up without a word; absent: for ever.
    pub gives_up_after: Option<Duration>,
    /// How long it waits after a failure.
    pub back_off: Duration,
    /// Whether it serves nothing before it has read all its resources, as controller-runtime does.
    pub waits_for_all: bool,
    /// Whether it cannot decode an object with `spec.poison`, nor then the list or event that has it.
    pub chokes: bool,
    /// Without it nothing is served.
    pub lease: Option<Lease>,
    /// What goes wrong in it.
    pub flaws: Flaws,
    /// The time that it writes.
    pub clock: Clock,
    /// Where its `/healthz` listens.
    pub healthz: Option<SocketAddr>,
}

/// What an operator writes into an object that it has served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Report {
    /// `status.observedGeneration`; while it works or fails, conditions with the same number.
    Generation,
    /// `status.observedGeneration`, once it has succeeded; until then it counts its steps in the status.
    GenerationAtEnd,
    /// A status without any number.
    Phase,
    /// kopf's mark. Of so many handlers each but the last leaves a record, and the next one waits for the event of
    /// that write.
    Kopf {
        /// At least one.
        handlers: u32,
    },
    /// Nothing at all.
    Nothing,
}

/// How an operator reads what is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listing {
    /// A list in one piece, as kopf does.
    Whole,
    /// A list in pages of so many objects, as client-go does.
    Pages(u32),
    /// A watch with `sendInitialEvents`, as newer client-go does.
    Watch,
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

impl Options {
    /// An operator for one resource that works 100 ms on an object.
    pub fn new(resource: Resource) -> Self {
        Self {
            resources: vec![resource],
            workers: 1,
            service_time: Duration::from_millis(100),
            progress: None,
            timer: None,
            report: Report::Generation,
            finalizer: None,
            listing: Listing::Whole,
            bookmarks: true,
            inactivity: None,
            gives_up_after: None,
            back_off: Duration::from_secs(1),
            waits_for_all: false,
            chokes: false,
            lease: None,
            flaws: Flaws::default(),
            clock: Clock::of_machine(),
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
        match &options.lease {
            None => serve_all(&client, &options).await,
            Some(lease) => {
                lease.acquire(&client, options.clock).await;
                tokio::select! {
                    () = serve_all(&client, &options) => {}
                    () = lease.keep(&client, options.clock) => {}
                }
            }
        }
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

async fn serve_all(client: &Client, options: &Options) {
    // A stream and the workers of each resource wait for those of all, or for nobody.
    let synced = Barrier::new(if options.waits_for_all { 2 * options.resources.len() } else { 1 });
    join_all(options.resources.iter().map(|resource| serve_resource(client, resource, options, &synced))).await;
}

async fn serve_resource(client: &Client, resource: &Resource, options: &Options, synced: &Barrier) {
    let (queue, waiting) = mpsc::unbounded_channel();
    let worker = Worker::new(client, resource, options);
    let stream = Stream { client, resource, options, queue: queue.clone(), synced };
    let work = async {
        synced.wait().await;
        worker.run(waiting, &queue).await;
    };
    tokio::join!(stream.follow(), work);
}
