//! Reads the operator's Lease: whether the operator beside us leads.

use std::sync::Arc;
use std::time::Duration;

use super::shared::Shared;
use crate::clock;
use crate::cluster::connect::Cluster;
use crate::cluster::lease;
use crate::cluster::request::{self, Client, Reach};
use crate::judge::decision::Leadership;

/// client-go renews every 2 s and controller-runtime every 2 to 10 s.
const EVERY: Duration = Duration::from_secs(10);
/// So many reads in a row may fail before it counts as unreadable. While the API server is at fault the gate closes.
const FAILURES: u8 = 3;

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
    let mut client = None;
    let mut failures = 0_u8;
    loop {
        let now = match &client {
            Some(client) => Some(read(&shared, client, &place).await),
            None => match cluster.client().await {
                Ok(fresh) => Some(read(&shared, client.insert(fresh), &place).await),
                Err(error) => {
                    shared.heard(Err(error.reach()));
                    None
                }
            },
        };
        match now {
            Some(Answer::Is(leadership)) => {
                failures = 0;
                set(&shared, &operator, leadership);
            }
            Some(Answer::Refused) => set(&shared, &operator, Leadership::Unreadable),
            Some(Answer::Failed) | None => {
                client = None;
                failures = failures.saturating_add(1);
                if failures >= FAILURES {
                    set(&shared, &operator, Leadership::Unreadable);
                }
            }
        }
        clock::sleep(EVERY).await;
    }
}

/// What one read came to.
pub(super) enum Answer {
    Is(Leadership),
    /// Reading it is not allowed, or it is no Lease.
    Refused,
    Failed,
}

/// Reads the Lease once.
pub(super) async fn read(shared: &Shared, client: &Client, place: &Place) -> Answer {
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
            shared.heard(Err(reach));
            if reach == Reach::Neither { Answer::Refused } else { Answer::Failed }
        }
        Err(lease::Error::Decode { .. }) => Answer::Refused,
    }
}

pub(super) fn set(shared: &Shared, operator: &str, leadership: Leadership) {
    let is_news = shared.with(|known| {
        known.operator(operator).is_some_and(|operator| {
            let before = std::mem::replace(&mut operator.leadership, leadership);
            before != leadership
        })
    });
    if is_news {
        shared.changed.notify_one();
    }
}
