//! What is known of one operator: its streams with what belongs to them, and the decider over them.

mod feed;
mod in_force;
mod names;
mod own;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, watch};

use super::follow::Basis;
use super::nudge::Nudges;
use super::plan::OperatorPlan;
use super::sockets::Sight;
use super::stale::Freshness;
use crate::cluster::discover;
use crate::config::operator::ObjectName;
use crate::config::resource::Resource;
use crate::judge::decision::{Decider, Leadership, Reread, Step};
use crate::judge::diagnosis::{Diagnosis, Stream};
use crate::judge::ledger::{Regression, Uid};
use crate::judge::rule::auto::Mark;
use crate::judge::state::Moment;
use crate::judge::tick::Tick;
use crate::view::{self, Counts, EventResult, Histogram, Restarts};
pub(super) use in_force::InForce;
use in_force::unsettled;
pub(super) use names::{Name, Names};
pub(super) use own::Own;

/// One operator.
#[derive(Debug)]
pub(super) struct Operator {
    pub(super) name: String,
    pub(super) plan: OperatorPlan,
    pub(super) decider: Decider,
    /// In the order of the configuration.
    pub(super) resources: Vec<Watched>,
    pub(super) streams: Vec<Stream>,
    /// What the shell knows of each of `streams`, in the same order.
    pub(super) facts: Vec<Facts>,
    pub(super) leadership: Leadership,
    pub(super) own: Own,
    /// Absent unless they are enabled.
    pub(super) nudges: Option<Nudges>,
    /// A round of re-reads that ended since the last step.
    pub(super) reread: Option<Reread>,
    pub(super) restarts: Restarts,
    pub(super) events: Counts<EventResult>,
    pub(super) connections: Sight,
    /// The newest step.
    pub(super) step: Option<Step>,
    /// The first line of `/healthz`, written when the decision was taken.
    pub(super) line: String,
    /// A restart that could not be put on record: none is requested until the state file can be written again.
    pub(super) is_unrecorded: bool,
    /// The stream that was fed last: lists come in the order of namespaces.
    hot: usize,
}

/// One watched resource.
#[derive(Debug)]
pub(super) struct Watched {
    /// `plural.group`, or as written in the configuration until the API server knows it.
    pub(super) name: String,
    /// What the configuration says of it.
    pub(super) entry: Resource,
    /// As the API server serves it; absent until then.
    pub(super) found: Option<discover::Resource>,
    /// How its objects are judged; absent until a rule could be chosen.
    pub(super) rule: Option<InForce>,
    /// The strongest mark that its objects have shown.
    pub(super) mark: Option<Mark>,
    pub(super) list: view::List,
    /// Asks for a list at once.
    pub(super) wake: Arc<Notify>,
    /// The own watch; absent until it was first tried.
    pub(super) watch: Option<view::Watch>,
    /// From what the own watch begins: the newest complete list.
    pub(super) basis: watch::Sender<Option<Arc<Basis>>>,
    /// How often the store went back in time.
    pub(super) regressions: u64,
}

/// What the shell knows of one stream.
#[derive(Debug)]
pub(super) struct Facts {
    /// The resource's name.
    pub(super) resource: String,
    /// Where streams are per namespace.
    pub(super) namespace: Option<String>,
    /// The fingerprint of the rule that the ledger was kept under; empty before the first.
    pub(super) fingerprint: String,
    pub(super) names: Names,
    pub(super) diagnosis: Option<(Diagnosis, Tick)>,
    pub(super) time_to_ack: Histogram,
    /// Whether the API server's cache shows what storage holds.
    pub(super) freshness: Freshness,
    /// The last time that the store went back.
    pub(super) regression: Option<(Regression, Tick)>,
}

impl Operator {
    pub(super) fn new(name: String, plan: OperatorPlan, decider: Decider, now: Moment) -> Self {
        let resources = plan.resources.clone();
        let connections = if plan.beside.is_some() { Sight::default() } else { Sight::elsewhere() };
        let mut operator = Self {
            name,
            plan,
            decider,
            resources: Vec::new(),
            streams: Vec::new(),
            facts: Vec::new(),
            leadership: Leadership::NotNeeded,
            own: Own::default(),
            nudges: None,
            reread: None,
            restarts: Restarts::default(),
            events: Counts::default(),
            connections,
            step: None,
            line: String::new(),
            is_unrecorded: false,
            hot: 0,
        };
        operator.configure_beside(now);
        operator.reconfigure(resources);
        operator
    }

    /// Takes over a new plan. Resources that stay keep their memory; whether their rule changed shows when it is chosen.
    pub(super) fn replan(&mut self, name: String, plan: OperatorPlan, now: Moment) {
        self.name = name;
        self.decider.policy = plan.policy();
        let resources = plan.resources.clone();
        let is_same_lease = lease_of(&self.plan) == lease_of(&plan);
        self.plan = plan;
        if !is_same_lease {
            self.leadership = Leadership::NotNeeded;
        }
        self.configure_beside(now);
        self.reconfigure(resources);
    }

    /// What is configured beside the resources. Who leads is not known until the lease was read.
    fn configure_beside(&mut self, now: Moment) {
        self.own.configure(self.plan.beside.as_ref(), now);
        if lease_of(&self.plan).is_some() && self.leadership == Leadership::NotNeeded {
            self.leadership = Leadership::Unreadable;
        }
    }

    fn reconfigure(&mut self, entries: Vec<Resource>) {
        // What a pattern found stays until discovery says otherwise, under what the configuration says of it now.
        self.resources.retain_mut(|watched| {
            let entry = entries.iter().find(|entry| entry.resource == watched.entry.resource);
            if let Some(entry) = entry {
                watched.entry = entry.clone();
            }
            entry.is_some()
        });
        for entry in entries {
            if !self.resources.iter().any(|watched| watched.entry.resource == entry.resource) {
                self.resources.push(Watched::new(entry.resource.as_str().to_owned(), entry));
            }
        }
        self.settle_streams();
    }

    /// Every resource has a stream, and no stream is without its resource.
    pub(super) fn settle_streams(&mut self) {
        let known: HashSet<&str> = self.resources.iter().map(|watched| watched.name.as_str()).collect();
        let mut index = 0;
        while index < self.facts.len() {
            if known.contains(self.facts[index].resource.as_str()) {
                index += 1;
            } else {
                self.facts.remove(index);
                self.streams.remove(index);
            }
        }
        for index in 0..self.resources.len() {
            let name = self.resources[index].name.clone();
            if !self.facts.iter().any(|facts| facts.resource == name) {
                self.add_stream(index, None);
            }
        }
    }

    /// Adds the stream of a resource, or of one namespace of it, and gives it what the state file kept.
    pub(super) fn add_stream(&mut self, resource: usize, namespace: Option<&str>) {
        let Some(watched) = self.resources.get(resource) else { return };
        let name = stream_name(&watched.name, namespace);
        let settings =
            watched.rule.as_ref().map_or_else(|| unsettled(&self.plan, &watched.entry), |it| it.settings.clone());
        let mut stream = Stream::new(name, settings);
        let fingerprint = watched.rule.as_ref().map(|it| it.fingerprint.clone()).unwrap_or_default();
        if !fingerprint.is_empty() {
            self.decider.claim(&mut stream, &fingerprint);
        }
        self.streams.push(stream);
        self.facts.push(Facts {
            resource: watched.name.clone(),
            namespace: namespace.map(str::to_owned),
            fingerprint,
            names: Names::default(),
            diagnosis: None,
            time_to_ack: Histogram::default(),
            freshness: Freshness::default(),
            regression: None,
        });
    }

    pub(super) fn watched(&self, name: &str) -> Option<&Watched> {
        self.resources.iter().find(|watched| watched.name == name)
    }

    pub(super) fn watched_mut(&mut self, name: &str) -> Option<&mut Watched> {
        self.resources.iter_mut().find(|watched| watched.name == name)
    }

    pub(super) fn found_resources(&self) -> impl Iterator<Item = &discover::Resource> {
        self.resources.iter().filter_map(|watched| watched.found.as_ref())
    }

    /// Puts an interval of lists in force.
    pub(super) fn set_interval(&mut self, resource: &str, interval: Duration) {
        let own = self.streams.iter_mut().zip(&self.facts).filter(|(_, facts)| facts.resource == resource);
        own.for_each(|(stream, _)| stream.settings.interval = interval);
    }

    /// The index of a stream by its name.
    pub(super) fn stream(&self, name: &str) -> Option<usize> {
        self.streams.iter().position(|stream| stream.name() == name)
    }

    /// `namespace/name` of an object of a stream, if it has a name.
    pub(super) fn object_name(&self, stream: &str, uid: Uid) -> Option<String> {
        let facts = self.facts.get(self.stream(stream)?)?;
        facts.names.of(uid).map(Name::shown)
    }
}

impl Watched {
    pub(super) fn new(name: String, entry: Resource) -> Self {
        Self {
            name,
            entry,
            found: None,
            rule: None,
            mark: None,
            list: view::List { interval: Duration::from_secs(30), ..view::List::default() },
            wake: Arc::new(Notify::new()),
            watch: None,
            basis: watch::Sender::new(None),
            regressions: 0,
        }
    }
}

fn lease_of(plan: &OperatorPlan) -> Option<(&ObjectName, Option<&str>)> {
    let beside = plan.beside.as_ref()?;
    Some((beside.lease.as_ref()?, beside.identity.as_deref()))
}

/// The name of a stream within its operator, also in the state file.
pub(super) fn stream_name(resource: &str, namespace: Option<&str>) -> String {
    namespace.map_or_else(|| resource.to_owned(), |namespace| format!("{resource}/{namespace}"))
}
