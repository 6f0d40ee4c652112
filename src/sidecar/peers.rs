//! Reads the kopf peering object: whether the operator beside us waits for a peer.

use std::sync::Arc;

use super::reading::{Answer, EVERY, Reading};
use super::shared::Shared;
use crate::clock;
use crate::cluster::connect::Cluster;
use crate::cluster::request::{self, Client, Reach};
use crate::cluster::{chain, peering};
use crate::judge::decision::Peering;
use crate::judge::peering::{Peer, Peers};
use crate::view::{Rank, SeenPeering};

/// Which object, and by which name the operator writes its record.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) namespace: Option<String>,
    pub(super) name: String,
    /// `operator.identity`, else the hostname.
    pub(super) own: String,
}

/// Reads the peering for ever.
pub(super) async fn keep(shared: Arc<Shared>, cluster: Arc<Cluster>, operator: String, place: Place) {
    let mut reading = Reading::default();
    loop {
        let answer = match reading.client(&shared, &cluster).await {
            Ok(client) => read(&shared, &client, &place).await,
            Err(problem) => Answer::Failed(problem),
        };
        if let Some(settled) = reading.settle(answer) {
            set(&shared, &operator, see(&shared, &place, settled));
        }
        clock::sleep(EVERY).await;
    }
}

async fn read(shared: &Shared, client: &Client, place: &Place) -> Answer<Peers> {
    match peering::read(client, place.namespace.as_deref(), &place.name).await {
        Ok((peers, server)) => {
            shared.heard(Ok(server));
            Answer::Is(peers)
        }
        Err(error) => {
            let reach = match &error {
                peering::Error::Access(error) => error.request().map_or(Reach::Neither, request::Error::reach),
                peering::Error::Decode { .. } | peering::Error::Missing { .. } => Reach::Neither,
            };
            Answer::of_error(shared, reach, chain(&error))
        }
    }
}

/// What the peering says now, by the clock of this machine: it is the operator's own, which decides whether it waits.
fn see(shared: &Shared, place: &Place, settled: Result<Peers, String>) -> SeenPeering {
    let object = place.object();
    let peers = match settled {
        Ok(peers) => peers,
        Err(problem) => return SeenPeering { problem: Some(problem), ..SeenPeering::unread(object) },
    };
    let now = shared.machine_now().wall;
    let rank = |peer: &Peer| Rank { identity: peer.identity.clone(), priority: peer.priority };
    let pausing = peers.pausing(Some(&place.own), now).map(rank);
    SeenPeering {
        object,
        state: if pausing.is_some() { Peering::Paused } else { Peering::Free },
        problem: None,
        own: peers.own(&place.own).map(rank),
        pausing,
        live: peers.live(now),
    }
}

fn set(shared: &Shared, operator: &str, seen: SeenPeering) {
    let words = seen.words();
    let state = seen.state;
    let is_news = shared.with(|known| {
        let Some(operator) = known.operator(operator) else { return false };
        let before = operator.own.peering.replace(seen);
        before.is_none_or(|before| before.state != state)
    });
    if is_news {
        if state == Peering::Unreadable {
            tracing::warn!(operator, peering = words, "cannot read the peering");
        } else {
            tracing::info!(operator, peering = words, "peering");
        }
        shared.changed.notify_one();
    }
}

impl Place {
    fn object(&self) -> String {
        self.namespace.as_ref().map_or_else(|| self.name.clone(), |namespace| format!("{namespace}/{}", self.name))
    }
}
