//! Reads the operator's Lease: whether the operator beside us leads.

use std::sync::Arc;

use super::reading::{Answer, EVERY, Reading};
use super::shared::Shared;
use crate::clock;
use crate::cluster::connect::Cluster;
use crate::cluster::request::{self, Client, Reach};
use crate::cluster::{chain, lease};
use crate::judge::decision::Leadership;

/// Which Lease, and by which name the operator holds it.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) identity: Option<String>,
    pub(super) hostname: String,
}

/// Reads the Lease for ever.
pub(super) async fn keep(shared: Arc<Shared>, cluster: Arc<Cluster>, operator: String, place: Place) {
    let mut reading = Reading::default();
    loop {
        let answer = match reading.client(&shared, &cluster).await {
            Ok(client) => read(&shared, &client, &place).await,
            Err(problem) => Answer::Failed(problem),
        };
        match reading.settle(answer) {
            Some(Ok(leadership)) => drop(set(&shared, &operator, leadership)),
            Some(Err(problem)) if set(&shared, &operator, Leadership::Unreadable) => {
                tracing::warn!(operator, problem, "cannot read the lease");
            }
            Some(Err(_)) | None => {}
        }
        clock::sleep(EVERY).await;
    }
}

/// Reads the Lease once.
pub(super) async fn read(shared: &Shared, client: &Client, place: &Place) -> Answer<Leadership> {
    match lease::read(client, &place.namespace, &place.name).await {
        Ok((found, server)) => {
            shared.heard(Ok(server));
            let ours = found.filter(|lease| lease.is_held_by(place.identity.as_deref(), &place.hostname));
            Answer::Is(ours.map_or(Leadership::Elsewhere, |lease| Leadership::Ours {
                renewal: lease.renewal,
                duration: lease.duration,
            }))
        }
        Err(lease::Error::Access(error)) => {
            let reach = error.request().map_or(Reach::Neither, request::Error::reach);
            Answer::of_error(shared, reach, chain(&error))
        }
        Err(error @ lease::Error::Decode { .. }) => Answer::Refused(chain(&error)),
    }
}

/// Notes who leads; true if that is news.
pub(super) fn set(shared: &Shared, operator: &str, leadership: Leadership) -> bool {
    let is_news = shared.with(|known| {
        known.operator(operator).is_some_and(|operator| {
            let before = std::mem::replace(&mut operator.leadership, leadership);
            before != leadership
        })
    });
    if is_news {
        shared.changed.notify_one();
    }
    is_news
}
