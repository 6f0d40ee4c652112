//! Before a restart: reads the oldest candidates again, one by one, by GET, which goes to storage.

use std::sync::Arc;
use std::time::Duration;

use super::leader;
use super::operator::Name;
use super::reading::Answer;
use super::shared::{Known, Shared};
use crate::clock;
use crate::cluster::access::{self, Found};
use crate::cluster::connect::Cluster;
use crate::cluster::discover::Resource;
use crate::cluster::request::{self, Client, Reach};
use crate::judge::decision::{Decision, LEASE, Leadership, Reread};
use crate::judge::ledger::{Source, Uid};
use crate::judge::rule::Reader;
use crate::judge::state::{Judgement, Moment, State};

/// From one round to the next.
const ROUND: Duration = Duration::from_secs(10);
/// How soon a suspicion is noticed.
const LOOK: Duration = Duration::from_secs(1);

/// What one round reads.
struct Round {
    operator: String,
    stream: String,
    what: What,
}

enum What {
    Lease(Leadership),
    Objects { resource: Box<Resource>, name: String, reader: Arc<Reader>, objects: Vec<Name>, limit: usize },
}

/// Reads again for ever, while there is something to confirm.
pub(super) async fn keep(
    shared: Arc<Shared>,
    cluster: Arc<Cluster>,
    max_object_bytes: usize,
    lease: Option<leader::Place>,
) {
    loop {
        let rounds = shared.with(|known| rounds(known, max_object_bytes));
        let wait = if rounds.is_empty() { LOOK } else { ROUND };
        for round in rounds {
            let began = shared.now();
            let Ok(client) = cluster.client().await else { continue };
            let agrees = match &round.what {
                What::Lease(before) => lease_agrees(&shared, &client, &round.operator, *before, lease.as_ref()).await,
                What::Objects { .. } => objects_agree(&shared, &client, &round).await,
            };
            // A restart reads the API server's cache: it must have been seen to show what storage holds.
            let agrees = agrees.filter(|agrees| !agrees || (reads_well(&shared, &round) && writes_are_taken(&shared)));
            if let Some(agrees) = agrees {
                let reread = Reread { stream: round.stream, began: began.tick(), agrees };
                shared.with(|known| {
                    if let Some(operator) = known.operator(&round.operator) {
                        operator.reread = Some(reread);
                    }
                });
                shared.changed.notify_one();
            }
        }
        clock::sleep(wait).await;
    }
}

fn rounds(known: &Known, limit: usize) -> Vec<Round> {
    let round = |operator: &super::operator::Operator| {
        let step = operator.step.as_ref()?;
        if !matches!(step.decision, Decision::Suspect | Decision::Restarting) {
            return None;
        }
        let stream = step.subject.clone()?;
        let what = if stream == LEASE {
            What::Lease(operator.leadership)
        } else {
            let index = operator.stream(&stream)?;
            let facts = operator.facts.get(index)?;
            let watched = operator.watched(&facts.resource)?;
            let explanation = step.streams.iter().find(|explanation| explanation.stream == stream)?;
            let names = explanation.oldest.iter().filter_map(|uid| facts.names.of(*uid).cloned());
            What::Objects {
                resource: Box::new(watched.found.clone()?),
                name: watched.name.clone(),
                reader: Arc::clone(&watched.rule.as_ref()?.reader),
                objects: names.collect(),
                limit,
            }
        };
        Some(Round { operator: operator.name.clone(), stream, what })
    };
    known.operators.iter().filter_map(round).collect()
}

/// Whether the lease is still ours and still not renewed; nothing where it could not be read.
async fn lease_agrees(
    shared: &Shared,
    client: &Client,
    operator: &str,
    before: Leadership,
    place: Option<&leader::Place>,
) -> Option<bool> {
    match leader::read(shared, client, place?).await {
        Answer::Is(now) => {
            leader::set(shared, operator, now);
            Some(now == before)
        }
        Answer::Refused(_) | Answer::Failed(_) => None,
    }
}

/// Whether every candidate that could be read is still pending without an acknowledgement; nothing where none could.
async fn objects_agree(shared: &Shared, client: &Client, round: &Round) -> Option<bool> {
    let What::Objects { resource, name, reader, objects, limit } = &round.what else { return None };
    let mut agrees = None;
    for object in objects {
        let found = access::read(client, resource, object.namespace.as_deref(), &object.called, *limit).await;
        let now = shared.now();
        let is_as_before = match found {
            Ok(Found::Object(json, server)) => {
                shared.heard(Ok(server));
                reader.judge(&json, now.wall, |identity, judgement| {
                    let is_other = identity.uid != Some(&*object.uid);
                    let is_acked = shared.with(|known| {
                        let Some(operator) = known.operator(&round.operator) else { return false };
                        if is_other {
                            operator.gone(&round.stream, &object.uid);
                        }
                        operator.apply(name, Source::Single, identity, &judgement, (now, now)).ack
                    });
                    !is_other && !is_acked && is_pending(shared, round, &object.uid, &judgement, now)
                })
            }
            Ok(Found::Nothing) => {
                shared.heard(Ok(None));
                shared.with(|known| {
                    if let Some(operator) = known.operator(&round.operator) {
                        operator.gone(&round.stream, &object.uid);
                    }
                });
                false
            }
            Err(error) => {
                shared.heard(Err(error.request().map_or(Reach::Neither, request::Error::reach)));
                continue;
            }
        };
        agrees = Some(agrees.unwrap_or(true) && is_as_before);
    }
    agrees
}

/// Whether the API server takes what dogwatch writes, its Events: where it takes nothing, the operator cannot serve.
fn writes_are_taken(shared: &Shared) -> bool {
    let now = shared.now().elapsed;
    let (are_taken, is_retried) = shared.with(|known| known.letters.are_taken(now));
    if is_retried {
        shared.posted.notify_one();
    }
    are_taken
}

fn reads_well(shared: &Shared, round: &Round) -> bool {
    let now = shared.now().tick();
    let is_good = shared.with(|known| {
        let operator = known.operator(&round.operator)?;
        let facts = operator.facts.get(operator.stream(&round.stream)?)?;
        Some(facts.freshness.is_good(now))
    });
    // The lease is no stream of objects.
    is_good.unwrap_or(round.stream == LEASE)
}

fn is_pending(shared: &Shared, round: &Round, uid: &str, judgement: &Judgement, now: Moment) -> bool {
    let is_remembered = shared.with(|known| {
        let operator = known.operator(&round.operator)?;
        let stream = operator.streams.get(operator.stream(&round.stream)?)?;
        stream.ledger.pending_since(Uid::of(uid), now.tick())
    });
    judgement.state == State::Pending && is_remembered.is_some()
}
