//! One test: looks in the API server's cache for what a GET shows.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::Notify;

use super::{Finding, Name};
use crate::clock;
use crate::cluster::access::{self, Found};
use crate::cluster::connect::Cluster;
use crate::cluster::discover::Resource;
use crate::cluster::list::{self, Query, Seen};
use crate::cluster::request::{self, Client, Reach};
use crate::cluster::watch::{self, Event};
use crate::judge::ledger::Source;
use crate::judge::object::{identity_mask, identity_of};
use crate::judge::rule::Reader;
use crate::sidecar::shared::Shared;
use crate::view::Stale;

/// A cache that is behind by less is not stale.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long the API server shall keep the new watch open: longer than anybody waits for it.
const WATCH_LASTS: Duration = Duration::from_secs(45);

/// What is tested.
#[derive(Debug)]
pub(super) struct Subject {
    pub(super) operator: String,
    pub(super) stream: String,
    pub(super) resource: String,
    pub(super) found: Resource,
    pub(super) reader: Arc<Reader>,
    /// Objects of more bytes are not read.
    pub(super) limit: usize,
}

/// A test of one stream.
#[derive(Debug)]
pub(super) struct Test {
    pub(super) subject: Subject,
    /// Among which the newest change is looked for.
    pub(super) names: Vec<Name>,
}

/// What storage holds.
#[derive(Debug, Clone)]
struct Stored {
    name: Name,
    version: String,
}

/// What a new watch did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Heard {
    /// It delivered, or the cache had passed what was asked for.
    Delivered,
    /// It was accepted and delivered nothing.
    Mute,
    /// It could not be opened, or did not stay open.
    Refused,
}

impl Test {
    /// Which stream of which operator.
    pub(super) fn key(&self) -> (String, String) {
        (self.subject.operator.clone(), self.subject.stream.clone())
    }

    pub(super) async fn run(&self, shared: &Shared, cluster: &Cluster) -> Finding {
        let since = shared.now().tick();
        let nobody_knows = Finding::Unknown { is_gone: false };
        // A new client is a new connection, maybe to another API server.
        let Ok(client) = cluster.client().await else { return nobody_knows };
        let Some(stored) = self.newest(shared, &client).await else { return self.unknown(shared, &client).await };
        let heard = match cluster.client().await {
            Ok(client) => self.listen(&client, &stored).await,
            Err(_) => Heard::Refused,
        };
        if heard == Heard::Delivered {
            return Finding::Fresh;
        }
        let mut is_listed = self.is_listed(&client, &stored).await;
        if heard == Heard::Refused {
            match is_listed {
                Some(true) => return Finding::Fresh,
                Some(false) => clock::sleep(PATIENCE).await,
                None => return nobody_knows,
            }
            is_listed = self.is_listed(&client, &stored).await;
            match is_listed {
                Some(true) => return Finding::Fresh,
                Some(false) => {}
                None => return nobody_knows,
            }
        }
        // What is deleted meanwhile is lacking with good reason.
        if self.read(shared, &client, &stored.name).await.is_none() {
            return self.unknown(shared, &client).await;
        }
        let object = stored.name.shown();
        let (by_watch, by_list) = (heard == Heard::Mute, is_listed == Some(false));
        Finding::Stale(stored.name, Stale { object, version: stored.version, since, by_watch, by_list })
    }

    /// Nothing could be told; whether that is since the object is no more.
    async fn unknown(&self, shared: &Shared, client: &Client) -> Finding {
        let Some(name) = self.names.first() else { return Finding::Unknown { is_gone: true } };
        let found =
            access::read(client, &self.subject.found, name.namespace.as_deref(), &name.called, self.subject.limit);
        match found.await {
            Ok(Found::Nothing) => Finding::Unknown { is_gone: true },
            Ok(Found::Object(json, _)) => {
                let now = shared.now().wall;
                let is_other = |uid: Option<&str>| uid != Some(&*name.uid);
                let is_gone = self.subject.reader.judge(&json, now, |identity, _| is_other(identity.uid));
                Finding::Unknown { is_gone }
            }
            Err(_) => Finding::Unknown { is_gone: false },
        }
    }

    /// The newest change among the candidates. The cache that shows it has passed all others.
    async fn newest(&self, shared: &Shared, client: &Client) -> Option<Stored> {
        let mut newest: Option<Stored> = None;
        for name in &self.names {
            let Some(version) = self.read(shared, client, name).await else { continue };
            let is_newer = newest.as_ref().is_none_or(|known| number(&version) > number(&known.version));
            if is_newer {
                newest = Some(Stored { name: name.clone(), version });
            }
        }
        newest
    }

    /// The resourceVersion of an object, as storage holds it. The ledger learns of it as well.
    async fn read(&self, shared: &Shared, client: &Client, name: &Name) -> Option<String> {
        let Subject { operator, stream, resource, found, reader, limit } = &self.subject;
        let answer = access::read(client, found, name.namespace.as_deref(), &name.called, *limit).await;
        let now = shared.now();
        match answer {
            Ok(Found::Object(json, server)) => {
                shared.heard(Ok(server));
                reader.judge(&json, now.wall, |identity, judgement| {
                    let is_same = identity.uid == Some(&*name.uid);
                    shared.with(|known| {
                        let Some(operator) = known.operator(operator) else { return };
                        if !is_same {
                            operator.gone(stream, &name.uid);
                        }
                        operator.apply(resource, Source::Single, identity, &judgement, (now, now));
                    });
                    identity.resource_version.filter(|_| is_same).map(str::to_owned)
                })
            }
            Ok(Found::Nothing) => {
                shared.heard(Ok(None));
                shared.with(|known| {
                    if let Some(operator) = known.operator(operator) {
                        operator.gone(stream, &name.uid);
                    }
                });
                None
            }
            Err(error) => {
                shared.heard(Err(error.request().map_or(Reach::Neither, request::Error::reach)));
                None
            }
        }
    }

    /// Opens a watch of the one object from just before its change.
    async fn listen(&self, client: &Client, stored: &Stored) -> Heard {
        // Versions that are no numbers cannot be gone behind.
        let Some(from) = number(&stored.version).and_then(|version| version.checked_sub(1)).filter(|it| *it > 0) else {
            return Heard::Refused;
        };
        let (begun, delivered) = (Notify::new(), AtomicBool::new(false));
        let arrived = Notify::new();
        let query = watch::Query {
            resource: &self.subject.found,
            namespace: stored.name.namespace.as_deref(),
            name: Some(&stored.name.called),
            labels: None,
            from: &from.to_string(),
            lasts: WATCH_LASTS,
            idle_after: WATCH_LASTS,
            max_object_bytes: self.subject.limit,
        };
        let mut each = |event: Event<'_>| match event {
            Event::Begun => begun.notify_one(),
            Event::Added(_) | Event::Modified(_) | Event::Deleted(_) | Event::TooLarge => {
                delivered.store(true, Ordering::Relaxed);
                arrived.notify_one();
            }
            Event::Bookmark | Event::Failed => {}
        };
        let waited = async {
            begun.notified().await;
            clock::sleep(PATIENCE).await;
        };
        tokio::select! {
            () = arrived.notified() => Heard::Delivered,
            watched = watch::watch(client, &query, &mut each) => match watched.end {
                _ if delivered.load(Ordering::Relaxed) => Heard::Delivered,
                Err(request::Error::Expired { .. }) => Heard::Delivered,
                _ => Heard::Refused,
            },
            () = waited => Heard::Mute,
        }
    }

    /// Whether a list from the cache shows the object as new as storage holds it; nothing where there is no answer.
    async fn is_listed(&self, client: &Client, stored: &Stored) -> Option<bool> {
        let fields = format!("metadata.name={}", stored.name.called);
        let query = Query {
            namespace: stored.name.namespace.as_deref(),
            fields: Some(&fields),
            cached: true,
            max_object_bytes: self.subject.limit,
            ..Query::new(&self.subject.found)
        };
        let mask = identity_mask();
        let mut is_shown = false;
        let listing = list::list(client, &query, &mut |seen| {
            if let Seen::Object(json) = seen {
                identity_of(json, &mask, |identity| {
                    let version = identity.resource_version.unwrap_or_default();
                    let is_as_new = match (number(version), number(&stored.version)) {
                        (Some(shown), Some(stored)) => shown >= stored,
                        _ => version == stored.version,
                    };
                    // Another object under the name came later.
                    is_shown |= is_as_new;
                });
            }
        })
        .await;
        listing.error.is_none().then_some(is_shown)
    }
}

fn number(version: &str) -> Option<u64> {
    version.parse().ok()
}
