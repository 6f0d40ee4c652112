//! kopf's peering: who of several operators works, and who waits.
//!
//! Every kopf operator that takes part writes a record with its priority into the status of one peering object, again
//! and again. An operator waits while a live record of another one has a higher priority, or the same one: it then closes
//! its watches and handles nothing, and its own health endpoint still says that it is well.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::object::parse_time;
use super::state::{Judgement, Reason, State};

/// What kopf takes where a record has no `lifetime`.
const DEFAULT_LIFETIME: f64 = 60.0;
/// What a longer lifetime is cut to, in seconds; some numbers of JSON are no duration.
const LONGEST_LIFETIME: f64 = 1e9;

/// API groups of peering objects: since kopf 1.29, and before.
pub const GROUPS: [&str; 2] = ["kopf.dev", "zalando.org"];
/// The kind for operators that serve all namespaces.
pub const CLUSTER_KIND: &str = "ClusterKopfPeering";
/// The kind for operators that serve single namespaces.
pub const KIND: &str = "KopfPeering";

/// Whether a group and a kind are those of a peering object.
pub fn is_peering(group: &str, kind: &str) -> bool {
    GROUPS.contains(&group) && matches!(kind, CLUSTER_KIND | KIND)
}

/// The records of one peering object.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Peers(Vec<Peer>);

/// The record of one operator.
#[derive(Debug, Clone, PartialEq)]
pub struct Peer {
    /// What the operator calls itself: `POD_ID` of its environment, else `user@host/time/random`.
    pub identity: String,
    /// Higher ones go first.
    pub priority: i64,
    /// When it was last written, by the operator's clock. kopf takes a record without it as just written.
    seen: Option<Timestamp>,
    lifetime: Duration,
}

#[derive(Deserialize)]
struct Record {
    #[serde(default)]
    priority: Option<i64>,
    #[serde(default)]
    lifetime: Option<f64>,
    #[serde(default)]
    lastseen: Option<String>,
}

impl Peers {
    /// Reads a peering object. What stands in its status and is no record is left out, as kopf does.
    ///
    /// # Errors
    /// When it is no JSON object.
    pub fn read(json: &[u8]) -> Result<Self, serde_json::Error> {
        // A struct would take a list as well.
        let object: BTreeMap<String, &RawValue> = serde_json::from_slice(json)?;
        let Some(status) = object.get("status") else { return Ok(Self::default()) };
        let entries: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(status.get()).unwrap_or_default();
        let peers = entries.into_iter().filter_map(|(identity, record)| {
            let is_mapping = record.is_object();
            let record: Record = serde_json::from_value(record).ok().filter(|_| is_mapping)?;
            let lifetime = record.lifetime.unwrap_or(DEFAULT_LIFETIME).clamp(0.0, LONGEST_LIFETIME);
            Some(Peer {
                identity,
                priority: record.priority.unwrap_or(0),
                seen: record.lastseen.as_deref().and_then(parse_time),
                lifetime: Duration::from_secs_f64(lifetime),
            })
        });
        Ok(Self(peers.collect()))
    }

    /// The record of the operator that is called `name`, or whose host is. Of several the newest: a killed process
    /// leaves its record behind, and its successor waits for it as for any other.
    pub fn own(&self, name: &str) -> Option<&Peer> {
        self.0.iter().filter(|peer| peer.is_called(name)).max_by_key(|peer| peer.seen.unwrap_or(Timestamp::MAX))
    }

    /// How many records are not expired at `now`.
    pub fn live(&self, now: Timestamp) -> usize {
        self.0.iter().filter(|peer| peer.is_live(now)).count()
    }

    /// The peer that an operator waits for at `now`, by the clock that the operator sees.
    ///
    /// `name` is how the operator is known, see [`Peers::own`]. Without it, or where no record bears it, nobody knows
    /// which one is meant: it counts as waiting as soon as any live peer waits for another.
    pub fn pausing(&self, name: Option<&str>, now: Timestamp) -> Option<&Peer> {
        let own = name.and_then(|name| self.own(name));
        let mut live: Vec<&Peer> = self.0.iter().filter(|peer| peer.is_live(now)).collect();
        live.sort_by_key(|peer| std::cmp::Reverse(peer.priority));
        match own {
            Some(own) => live.into_iter().find(|peer| peer.identity != own.identity && peer.priority >= own.priority),
            None => live.first().filter(|_| live.len() > 1).copied(),
        }
    }
}

impl Peer {
    fn is_live(&self, now: Timestamp) -> bool {
        let age = |seen| Duration::try_from(now.duration_since(seen)).unwrap_or_default();
        self.seen.is_none_or(|seen| age(seen) < self.lifetime)
    }

    fn is_called(&self, name: &str) -> bool {
        let host = self.identity.split_once('@').map(|(_, rest)| rest.split_once('/').map_or(rest, |(host, _)| host));
        // kopf prefers a full host name to a short one.
        let is_host = |host: &str| host.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        !name.is_empty() && (self.identity == name || host.is_some_and(is_host))
    }
}

/// What is said of an object whose operator waits. What could not be judged stays unknown, and what stands in the object
/// stays known.
#[must_use]
pub fn paused(judgement: Judgement, why: &str) -> Judgement {
    if matches!(judgement.state, State::Unknown | State::Paused) {
        return judgement;
    }
    Judgement {
        state: State::Paused,
        reason: Some(Reason::Suspended),
        since: None,
        until: None,
        excuse: None,
        conditional: false,
        message: why.to_owned().into(),
        ..judgement
    }
}

#[cfg(test)]
mod tests;
