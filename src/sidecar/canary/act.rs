//! One request after the other about the canary.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{Kept, Shared};
use crate::cluster::access::{self, Found};
use crate::cluster::chain;
use crate::cluster::connect::Cluster;
use crate::cluster::discover::Resource;
use crate::cluster::request::{self, Client, Reach};
use crate::cluster::touch::{self, CANARY_MANAGER, Object};
use crate::judge::canary::{Due, Problem, Reading};
use crate::judge::ledger::{Source, Uid};
use crate::judge::rule::Reader;
use crate::judge::state::{Moment, State};

/// What is to be done now, and everything that it needs.
pub(super) struct Turn {
    pub(super) due: Due,
    pub(super) operator: String,
    pub(super) resource: Resource,
    /// Absent for an object of the whole cluster.
    pub(super) namespace: Option<String>,
    pub(super) name: String,
    pub(super) reader: Arc<Reader>,
    /// Where the change is written.
    pub(super) path: Vec<String>,
    pub(super) create: Option<Map<String, Value>>,
    pub(super) limit: usize,
}

/// The canary as the API server showed it.
struct Seen {
    uid: Uid,
    value: Option<String>,
    state: State,
    token: u64,
}

impl Seen {
    fn reading(&self) -> Reading<'_> {
        Reading { uid: self.uid, value: self.value.as_deref(), state: self.state, token: self.token }
    }
}

impl Turn {
    /// Does it, and takes in what comes of it.
    pub(super) async fn take(&self, shared: &Shared, cluster: &Cluster) {
        let client = match cluster.client().await {
            Ok(client) => client,
            Err(error) => return self.fail(shared, Problem::Unreachable, &chain(&error)),
        };
        let found = access::read(&client, &self.resource, self.namespace.as_deref(), &self.name, self.limit).await;
        let now = shared.now();
        match found {
            Ok(Found::Object(json, server)) => {
                shared.heard(Ok(server));
                match (self.see(shared, &json, now), self.due) {
                    (None, _) => self.fail(shared, Problem::Unreadable, "it cannot be read as an object"),
                    (Some(seen), Due::Look) => self.look(shared, &seen, now),
                    (Some(seen), _) => self.change(shared, &client, &seen, now).await,
                }
            }
            Ok(Found::Nothing) => {
                shared.heard(Ok(None));
                self.find_nothing(shared, &client, now).await;
            }
            Err(error) => {
                shared.heard(Err(error.request().map_or(Reach::Neither, request::Error::reach)));
                let problem = error.request().map_or(Problem::Unreachable, problem_of);
                self.fail(shared, problem, &chain(&error));
            }
        }
    }

    /// Judges the object, as a GET or the answer to a write shows it, and lets the ledger know.
    fn see(&self, shared: &Shared, json: &[u8], now: Moment) -> Option<Seen> {
        let object: Value = serde_json::from_slice(json).ok()?;
        let value = self.path.iter().try_fold(&object, |value, key| value.get(key)).and_then(Value::as_str);
        self.reader.judge(json, now.wall, |identity, judgement| {
            let uid = Uid::of(identity.uid?);
            shared.with(|known| {
                if let Some(operator) = known.operator(&self.operator) {
                    operator.apply(&self.resource.name(), Source::Single, identity, &judgement, (now, now));
                }
            });
            Some(Seen { uid, value: value.map(str::to_owned), state: judgement.state, token: judgement.token })
        })
    }

    fn look(&self, shared: &Shared, seen: &Seen, now: Moment) {
        kept(shared, |kept| {
            let looked = kept.judged.looked(&seen.reading(), now.tick());
            kept.acknowledged(looked);
            self.settle(kept);
        });
    }

    async fn change(&self, shared: &Shared, client: &Client, seen: &Seen, now: Moment) {
        let is_ready = kept(shared, |kept| {
            let is_ready = kept.judged.is_ready(&seen.reading(), now.tick());
            if !is_ready {
                self.settle(kept);
            }
            is_ready
        });
        if is_ready != Some(true) {
            return;
        }
        let value = now.wall.to_string();
        let patch = self
            .path
            .iter()
            .rev()
            .fold(Value::from(value.as_str()), |value, key| Value::Object(Map::from_iter([(key.clone(), value)])));
        match self.object().patch(client, &patch, CANARY_MANAGER, self.limit).await {
            Ok(json) => match self.see(shared, &json, shared.now()) {
                Some(seen) => drop(kept(shared, |kept| {
                    kept.judged.changed(&value, &seen.reading(), now.tick());
                    self.settle(kept);
                })),
                None => self.fail(shared, Problem::Unreadable, "it cannot be read as an object"),
            },
            Err(error) => self.refused(shared, &error),
        }
    }

    /// Creates the object if the configuration says with what.
    async fn find_nothing(&self, shared: &Shared, client: &Client, now: Moment) {
        kept(shared, |kept| {
            kept.judged.gone(now.tick());
            self.settle(kept);
        });
        let Some(create) = &self.create else { return };
        let mut body = create.clone();
        body.insert("apiVersion".to_owned(), self.resource.api_version().into());
        body.insert("kind".to_owned(), self.resource.kind.as_str().into());
        let metadata = body.entry("metadata").or_insert_with(|| Value::Object(Map::new()));
        metadata["name"] = self.name.as_str().into();
        if let Some(namespace) = &self.namespace {
            metadata["namespace"] = namespace.as_str().into();
        }
        match self.object().create(client, &Value::Object(body), CANARY_MANAGER, self.limit).await {
            Ok(_) => tracing::info!(canary = %self.object().shown(), "canary created"),
            Err(error) => self.refused(shared, &error),
        }
    }

    fn object(&self) -> Object<'_> {
        Object { resource: &self.resource, namespace: self.namespace.as_deref(), name: &self.name }
    }

    fn refused(&self, shared: &Shared, error: &touch::Error) {
        let problem = match error {
            touch::Error::Admission { .. } | touch::Error::Invalid { .. } => Problem::Rejected,
            touch::Error::Request { source, .. } => problem_of(source),
            touch::Error::Name { .. } => Problem::Unreachable,
        };
        self.fail(shared, problem, &chain(error));
    }

    fn fail(&self, shared: &Shared, problem: Problem, cause: &str) {
        let now = shared.now().tick();
        let hint = match problem {
            Problem::Forbidden => format!("; allow `get` and `patch`{} on it", self.also_create()),
            _ => String::new(),
        };
        kept(shared, |kept| {
            kept.judged.failed(problem, now);
            kept.complain(problem, format!("{cause}{hint}"));
        });
    }

    const fn also_create(&self) -> &'static str {
        if self.create.is_some() { ", and `create`," } else { "" }
    }

    /// Says what is wrong, or that nothing is.
    fn settle(&self, kept: &mut Kept) {
        let Some(problem) = kept.judged.problem() else { return kept.is_well() };
        let (resource, object) = (self.resource.name(), self.object().shown());
        let what = match problem {
            Problem::NotFound if self.create.is_some() => "does not exist and is being created",
            Problem::NotFound => "does not exist; create it with kubectl, or write `canary.create: {spec: ...}`",
            Problem::NotKept => {
                "was changed and the API server did not keep it: the schema has no such field, or a webhook undoes it; \
                 see `canary.path`"
            }
            Problem::Reverted => {
                "was changed back before the operator acknowledged it; take it out of what GitOps controllers apply"
            }
            Problem::NotProcessed => {
                "is not processed by the operator as it is, and is not changed before; a filter may leave it out"
            }
            Problem::LeftOut => "is left out by `where`, by `dogwatch/ignore` or as paused",
            Problem::Unreadable => "cannot be judged by its rule",
            Problem::NotWatched => "is not watched",
            Problem::NoPath => "needs `canary.path`",
            Problem::Forbidden | Problem::Rejected | Problem::Unreachable => "cannot be changed",
        };
        kept.complain(problem, format!("{resource} {object} {what}"));
    }
}

/// Nothing where the canary is configured no more.
fn kept<R>(shared: &Shared, look: impl FnOnce(&mut Kept) -> R) -> Option<R> {
    shared.with(|known| known.canary.as_mut().map(look))
}

const fn problem_of(error: &request::Error) -> Problem {
    match error {
        request::Error::Forbidden { .. } | request::Error::Unauthorized { .. } => Problem::Forbidden,
        request::Error::NotFound { .. } => Problem::NotFound,
        request::Error::Refused { .. } => Problem::Rejected,
        _ => Problem::Unreachable,
    }
}
