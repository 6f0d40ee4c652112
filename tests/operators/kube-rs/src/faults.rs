//! What is broken in this process. Nothing mends it but its end.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::routing::post;
use kube::api::DynamicObject;
use kube::runtime::watcher;
use serde::Deserialize;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

/// One event of a watch on its way to its controller.
type Sender = mpsc::Sender<Result<DynamicObject, watcher::Error>>;

#[derive(Default)]
pub(crate) struct Faults(Mutex<Broken>);

#[derive(Default)]
struct Broken {
    watches: BTreeMap<String, (AbortHandle, Sender)>,
    /// Plurals of which every worker blocks.
    blocked: BTreeSet<String>,
    /// Names of objects whose worker blocks.
    keys: BTreeSet<String>,
}

/// Of what: of one kind, of one object, or of everything.
#[derive(Deserialize)]
struct Of {
    plural: Option<String>,
    name: Option<String>,
}

impl Faults {
    pub(crate) fn add(&self, plural: &str, watch: AbortHandle, sender: Sender) {
        self.with(|broken| broken.watches.insert(plural.to_owned(), (watch, sender)));
    }

    /// Returns at once, or never.
    pub(crate) async fn pass_or_block(&self, plural: &str, name: &str) {
        if self.with(|broken| broken.blocked.contains(plural) || broken.keys.contains(name)) {
            std::future::pending::<()>().await;
        }
    }

    fn with<T>(&self, work: impl FnOnce(&mut Broken) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The control port.
pub(crate) fn control(faults: Arc<Faults>) -> Router {
    Router::new()
        .route("/workers-blocked", post(workers_blocked))
        .route("/key-blocked", post(key_blocked))
        .route("/watch-dead", post(watch_dead))
        .with_state(faults)
}

async fn workers_blocked(State(faults): State<Arc<Faults>>, Query(of): Query<Of>) {
    faults.with(|broken| {
        let plurals = broken.watches.keys().filter(|plural| of.plural.as_ref().is_none_or(|only| only == *plural));
        broken.blocked = plurals.cloned().collect();
    });
}

async fn key_blocked(State(faults): State<Arc<Faults>>, Query(of): Query<Of>) {
    faults.with(|broken| broken.keys.extend(of.name));
}

async fn watch_dead(State(faults): State<Arc<Faults>>, Query(of): Query<Of>) -> StatusCode {
    let plural = of.plural.unwrap_or_default();
    faults.with(|broken| match broken.watches.get(&plural) {
        Some((watch, _)) => {
            watch.abort();
            StatusCode::OK
        }
        None => StatusCode::NOT_FOUND,
    })
}
