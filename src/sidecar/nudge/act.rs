//! One nudge, or one look at what came of it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::super::operator::Operator;
use super::{Name, Nudges, Shared, Waiting};
use crate::cluster::access::{self, Found};
use crate::cluster::chain;
use crate::cluster::connect::Cluster;
use crate::cluster::discover::Resource;
use crate::cluster::event::Event;
use crate::cluster::request::{self, Client, Reach};
use crate::cluster::touch::{self, Object};
use crate::judge::ledger::{Source, Uid};
use crate::judge::nudge::{ANNOTATION, MANAGER, NudgeOutcome, outcome};
use crate::judge::rule::Reader;
use crate::judge::state::{Moment, State};

/// The reason of the Event on the Pod.
const REASON: &str = "OperatorNudged";
/// 409: somebody has written the object since it was read.
const CONFLICT: u16 = 409;

/// The object that is nudged.
pub(super) struct Target {
    pub(super) operator: String,
    pub(super) stream: String,
    pub(super) resource: Resource,
    pub(super) reader: Arc<Reader>,
    pub(super) name: Name,
    pub(super) limit: usize,
}

/// What is to be done.
pub(super) enum Job {
    Nudge { target: Target, overdue_after: Duration },
    Look { target: Target, token: u64, is_over: bool },
}

/// The object as a GET showed it.
struct Seen {
    state: State,
    token: u64,
    version: String,
}

/// What a reading came to.
enum Read {
    Is(Seen),
    /// It is no more, or another one bears its name.
    Gone,
    Failed(String),
}

impl Job {
    pub(super) async fn take(&self, shared: &Shared, cluster: &Cluster) {
        let (Self::Nudge { target, .. } | Self::Look { target, .. }) = self;
        let Ok(client) = cluster.client().await else { return };
        let read = target.read(shared, &client).await;
        match self {
            Self::Nudge { target, overdue_after } => {
                // What could not be read is tried again; what is gone, or not pending any more, needs no nudge.
                if let Read::Is(seen) = read
                    && seen.state == State::Pending
                    && target.may_nudge(shared, *overdue_after)
                {
                    target.nudge(shared, &client, &seen, *overdue_after).await;
                }
            }
            Self::Look { target, token, is_over } => {
                let outcome = match read {
                    Read::Is(seen) => outcome(seen.state, *token, seen.token, *is_over),
                    Read::Gone => Some(NudgeOutcome::Gone),
                    Read::Failed(problem) if *is_over => {
                        tracing::warn!(object = %target.name.shown(), problem, "cannot see what a nudge came to");
                        Some(NudgeOutcome::Failed)
                    }
                    Read::Failed(_) => None,
                };
                target.looked(shared, outcome);
            }
        }
        shared.changed.notify_one();
    }
}

impl Target {
    /// Reads the object, and lets the ledger know.
    async fn read(&self, shared: &Shared, client: &Client) -> Read {
        let namespace = self.name.namespace.as_deref();
        let found = access::read(client, &self.resource, namespace, &self.name.called, self.limit).await;
        let now = shared.now();
        match found {
            Ok(Found::Object(json, server)) => {
                shared.heard(Ok(server));
                self.see(shared, &json, now).map_or(Read::Gone, Read::Is)
            }
            Ok(Found::Nothing) => {
                shared.heard(Ok(None));
                self.with(shared, |operator| operator.gone(&self.stream, &self.name.uid));
                Read::Gone
            }
            Err(error) => {
                shared.heard(Err(error.request().map_or(Reach::Neither, request::Error::reach)));
                Read::Failed(chain(&error))
            }
        }
    }

    /// Judges the object; nothing where it is another one.
    fn see(&self, shared: &Shared, json: &[u8], now: Moment) -> Option<Seen> {
        self.reader.judge(json, now.wall, |identity, judgement| {
            self.with(shared, |operator| {
                operator.apply(&self.resource.name(), Source::Single, identity, &judgement, (now, now));
            });
            let version = identity.resource_version?.to_owned();
            let is_it = identity.uid == Some(&*self.name.uid);
            is_it.then_some(Seen { state: judgement.state, token: judgement.token, version })
        })
    }

    fn may_nudge(&self, shared: &Shared, overdue_after: Duration) -> bool {
        let (uid, now) = (Uid::of(&self.name.uid), shared.now().tick());
        let may = self.with(shared, |operator| {
            let stream = operator.stream(&self.stream).and_then(|index| operator.streams.get(index));
            stream.is_some_and(|stream| stream.ledger.may_nudge(uid, overdue_after, now))
        });
        may == Some(true)
    }

    /// Writes the annotation, unless somebody has written the object since it was read.
    async fn nudge(&self, shared: &Shared, client: &Client, seen: &Seen, overdue_after: Duration) {
        let now = shared.now();
        let patch = json!({"metadata": {
            "resourceVersion": seen.version,
            "annotations": {ANNOTATION: now.wall.to_string()},
        }});
        let object =
            Object { resource: &self.resource, namespace: self.name.namespace.as_deref(), name: &self.name.called };
        let written = object.patch(client, &patch, MANAGER, self.limit).await;
        if matches!(written, Err(touch::Error::Invalid { status: CONFLICT, .. })) {
            return;
        }
        if let Ok(json) = &written {
            self.see(shared, json, shared.now());
        }
        self.with(shared, |operator| {
            // Also where it failed: it may have been written, and is not to be tried for ever.
            if let Some(stream) = operator.stream(&self.stream).and_then(|index| operator.streams.get_mut(index)) {
                stream.ledger.nudged(Uid::of(&self.name.uid));
            }
            let Some(nudges) = &mut operator.nudges else { return };
            nudges.rate.sent(now.tick());
            match &written {
                Ok(_) => self.sent(nudges, seen, now, overdue_after),
                Err(error) => nudges.fail(chain(error)),
            }
        });
        self.tell(shared, written.is_ok());
    }

    fn sent(&self, nudges: &mut Nudges, seen: &Seen, now: Moment, overdue_after: Duration) {
        nudges.problem = None;
        nudges.waiting.push(Waiting {
            stream: self.stream.clone(),
            name: self.name.clone(),
            token: seen.token,
            looked: now.tick(),
            until: now.tick().after(overdue_after),
        });
    }

    /// Posts the Event, and has the state file written: a dogwatch that restarts must not nudge again.
    fn tell(&self, shared: &Shared, is_sent: bool) {
        shared.with(|known| {
            known.saved = Duration::ZERO;
            let has_pod = known.operators.iter().any(|it| it.name == self.operator && it.plan.beside.is_some());
            if is_sent && has_pod && shared.options.pod_name.is_some() {
                let what = format!("{} {}", self.stream, self.name.shown());
                let message =
                    format!("{what} is overdue and was touched once, so that the operator is sent a fresh event");
                known.letters.post(&self.operator, Event { reason: REASON, is_warning: false, message });
            }
        });
        shared.posted.notify_one();
        if is_sent {
            tracing::info!(operator = %self.operator, resource = %self.stream, object = %self.name.shown(), "nudged");
        }
    }

    fn looked(&self, shared: &Shared, outcome: Option<NudgeOutcome>) {
        let now = shared.now().tick();
        self.with(shared, |operator| {
            let Some(nudges) = &mut operator.nudges else { return };
            if let Some(outcome) = outcome {
                nudges.settle(&self.name.uid, outcome);
                let object = self.name.shown();
                tracing::info!(resource = %self.stream, object, outcome = outcome.as_str(), "what a nudge came to");
            } else {
                let waiting = nudges.waiting.iter_mut().filter(|waiting| waiting.name.uid == self.name.uid);
                waiting.for_each(|waiting| waiting.looked = now);
            }
        });
    }

    fn with<R>(&self, shared: &Shared, look: impl FnOnce(&mut Operator) -> R) -> Option<R> {
        shared.with(|known| known.operator(&self.operator).map(look))
    }
}
