//! What `/status` tells of an operator beside its objects: its peering, and its own metrics.

use std::time::Duration;

use serde::Serialize;

use super::{Scene, seconds};
use crate::view::{Peering, Rank, SeenMetrics, SeenPeering};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PeeringEntry<'v> {
    object: &'v str,
    state: &'static str,
    problem: Option<&'v str>,
    own: Option<RankEntry<'v>>,
    paused_by: Option<RankEntry<'v>>,
    live_peers: usize,
}

#[derive(Serialize)]
struct RankEntry<'v> {
    identity: &'v str,
    priority: i64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MetricsEntry<'v> {
    /// Why nothing can be said; absent where something can.
    unavailable: Option<&'v str>,
    standing_still: Vec<StillEntry<'v>>,
    longest_running_processor: Option<WorkEntry<'v>>,
    unfinished_work: Option<WorkEntry<'v>>,
    /// Families that were not there.
    missing: &'v [&'static str],
}

#[derive(Serialize)]
struct StillEntry<'v> {
    controller: &'v str,
    since: String,
}

#[derive(Serialize)]
struct WorkEntry<'v> {
    controller: &'v str,
    seconds: serde_json::Number,
}

pub(super) fn peering(seen: &SeenPeering) -> PeeringEntry<'_> {
    PeeringEntry {
        object: &seen.object,
        state: match seen.state {
            Peering::NotNeeded => "not-needed",
            Peering::Unreadable => "unreadable",
            Peering::Free => "free",
            Peering::Paused => "paused",
        },
        problem: seen.problem.as_deref(),
        own: seen.own.as_ref().map(rank),
        paused_by: seen.pausing.as_ref().map(rank),
        live_peers: seen.live,
    }
}

fn rank(rank: &Rank) -> RankEntry<'_> {
    RankEntry { identity: &rank.identity, priority: rank.priority }
}

pub(super) fn metrics<'v>(scene: Scene<'_>, seen: &'v SeenMetrics) -> MetricsEntry<'v> {
    let evidence = match seen {
        SeenMetrics::Unavailable(why) => {
            return MetricsEntry {
                unavailable: Some(why),
                standing_still: Vec::new(),
                longest_running_processor: None,
                unfinished_work: None,
                missing: &[],
            };
        }
        SeenMetrics::Read(evidence) => evidence,
    };
    let still = evidence.still.iter().map(|(controller, at)| StillEntry { controller, since: scene.at(*at) });
    MetricsEntry {
        unavailable: None,
        standing_still: still.collect(),
        longest_running_processor: evidence.longest.as_ref().map(work),
        unfinished_work: evidence.unfinished.as_ref().map(work),
        missing: &evidence.missing,
    }
}

fn work((controller, duration): &(String, Duration)) -> WorkEntry<'_> {
    WorkEntry { controller, seconds: seconds(*duration) }
}
