//! Peering objects as context: which kopf operators wait, so that nobody expects them to act.
//!
//! A look from outside does not know which record is whose. Without a configured identity an operator counts as waiting
//! as soon as one live peer waits for another.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::settings::Plan;
use crate::cluster::discover::{Discovery, Resource};
use crate::cluster::list::{Query, Seen, list};
use crate::cluster::request::Client;
use crate::config::Role;
use crate::judge::object::{Identity, identity_mask, identity_of};
use crate::judge::peering::{CLUSTER_KIND, Peers, is_peering, paused};
use crate::judge::rule::Rule;
use crate::judge::state::Judgement;

/// The peering objects that were found.
#[derive(Debug, Default)]
pub struct Peerings {
    /// By namespace and name; no namespace: of the whole cluster.
    found: BTreeMap<(Option<String>, String), Peers>,
    /// What a reader must know, a line each.
    pub warnings: Vec<String>,
}

/// Who waits, at one moment.
#[derive(Debug, Default)]
pub struct Waiting {
    /// Why, by namespace; no namespace: everywhere.
    scopes: BTreeMap<Option<String>, String>,
}

impl Peerings {
    /// Takes in a peering object. One that cannot be read is said.
    pub fn add(&mut self, json: &[u8]) {
        let read = |identity: Identity<'_>| {
            let is_cluster_wide = identity.kind == Some(CLUSTER_KIND);
            let namespace = identity.namespace.filter(|_| !is_cluster_wide).map(str::to_owned);
            (namespace, identity.name.unwrap_or_default().to_owned())
        };
        let place = identity_of(json, &identity_mask(), read);
        match Peers::read(json) {
            Ok(peers) => drop(self.found.insert(place, peers)),
            Err(_) => self.warnings.push(format!("{} cannot be read as a peering object", shown(&place))),
        }
    }

    /// Lists the peering objects of a cluster, if it serves any.
    pub async fn list(client: &Client, discovery: &Discovery) -> Self {
        let mut peerings = Self::default();
        let all = discovery.preferred().filter(|resource| is_context(resource) && resource.is_listable());
        for resource in all {
            let listing = list(client, &Query::new(resource), &mut |seen| {
                if let Seen::Object(json) = seen {
                    peerings.add(json);
                }
            })
            .await;
            if let Some(error) = listing.error {
                let problem = crate::cli::chain(&error);
                peerings.warnings.push(format!("kopf operators may be paused by peers that cannot be seen: {problem}"));
            }
        }
        peerings
    }

    /// Who waits at `now`, as far as the configuration means these peerings. A pause is said.
    pub fn waiting(&mut self, plan: &Plan, now: Timestamp) -> Waiting {
        let beside = plan.config.as_ref().and_then(|config| match &config.role {
            Role::Sidecar(operator) => Some(operator),
            Role::Observer(_) => None,
        });
        let identity = beside.and_then(|operator| operator.identity.as_deref());
        let meant = beside.and_then(|operator| operator.peering.as_ref());
        let mut waiting = Waiting::default();
        for (place, peers) in &self.found {
            let is_meant = meant.is_none_or(|meant| (&meant.namespace, &meant.name) == (&place.0, &place.1));
            let Some(peer) = peers.pausing(identity, now).filter(|_| is_meant) else { continue };
            let name = shown(place);
            let (own, before) = (peers.live(now), peer.priority);
            self.warnings.push(format!(
                "{name} has {own} live peers and those below priority {before} wait: what kopf operators serve there is shown as paused"
            ));
            let why = format!("paused by {name}: a live peer has priority {before}");
            waiting.scopes.entry(place.0.clone()).or_insert(why);
        }
        waiting
    }
}

impl Waiting {
    /// The judgement, or what it comes to where the object's operator waits.
    pub fn apply(&self, rule: &Rule, namespace: Option<&str>, judgement: Judgement) -> Judgement {
        if self.scopes.is_empty() || !matches!(rule, Rule::Kopf(_)) {
            return judgement;
        }
        let of_namespace = namespace.and_then(|namespace| self.scopes.get(&Some(namespace.to_owned())));
        match self.scopes.get(&None).or(of_namespace) {
            Some(why) => paused(judgement, why),
            None => judgement,
        }
    }
}

/// Whether objects of this resource are context and are not judged themselves.
pub fn is_context(resource: &Resource) -> bool {
    is_peering(&resource.group, &resource.kind)
}

fn shown((namespace, name): &(Option<String>, String)) -> String {
    match namespace {
        Some(namespace) => format!("kopf peering {namespace}/{name}"),
        None => format!("kopf cluster peering {name}"),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::clock::Clock;
    use crate::cluster::connect;
    use crate::cluster::discover::discover;
    use crate::config;
    use crate::judge::rule::auto::{Evidence, Mark};
    use crate::judge::state::{Reason, State};
    use crate::sim::{self, Fault, Scope, Simulation};

    fn now() -> Timestamp {
        "2026-03-01T12:00:00Z".parse().expect("a time")
    }

    fn peering(kind: &str, namespace: Option<&str>, own: i64) -> Peerings {
        let record = |priority: i64| serde_json::json!({"priority": priority, "lifetime": 60, "lastseen": "2026-03-01T11:59:50+00:00"});
        let object = serde_json::json!({
            "apiVersion": "kopf.dev/v1", "kind": kind, "metadata": {"name": "default", "namespace": namespace},
            "status": {"op-1": record(own), "dev@laptop/1/x": record(666)},
        });
        let mut peerings = Peerings::default();
        peerings.add(object.to_string().as_bytes());
        peerings
    }

    fn plan(operator: &str) -> Plan {
        let text = format!("apiVersion: dogwatch/v1\nkind: Config\noperator: {operator}\n");
        Plan { rule: None, overdue_after: None, config: Some(config::parse(&text, "config.yaml").expect("valid")) }
    }

    fn state(waiting: &Waiting, namespace: &str, kopf_marks: bool) -> State {
        let settings = Plan { rule: None, overdue_after: None, config: None }.settings("a.b").expect("meant");
        let chosen = settings.choose(Evidence { mark: kopf_marks.then_some(Mark::Kopf), ..Evidence::default() });
        let pending = Judgement::new(State::Pending, Reason::NeverProcessed, "");
        waiting.apply(chosen.rule(), Some(namespace), pending).state
    }

    #[test]
    fn a_cluster_wide_peering_pauses_every_kopf_operator_and_no_other() {
        let mut peerings = peering(CLUSTER_KIND, None, 0);
        let waiting = peerings.waiting(&plan("{}"), now());
        assert_eq!(state(&waiting, "a", true), State::Paused);
        assert_eq!(state(&waiting, "a", false), State::Pending);
        assert!(peerings.warnings[0].contains("cluster peering default"), "{:?}", peerings.warnings);
    }

    #[test]
    fn a_peering_of_one_namespace_pauses_there_alone() {
        let waiting = peering("KopfPeering", Some("a"), 0).waiting(&plan("{}"), now());
        assert_eq!((state(&waiting, "a", true), state(&waiting, "b", true)), (State::Paused, State::Pending));
    }

    #[tokio::test(start_paused = true)]
    async fn the_peerings_of_a_cluster_are_listed_and_what_may_not_be_is_said() {
        let sim = Simulation::new(Clock::of_tokio(now()));
        let mut resource = sim::Resource::custom("kopf.dev", "v1", "KopfPeering");
        resource.status = false;
        sim.define(&resource).expect("defined");
        let record = |priority: i64| serde_json::json!({"priority": priority, "lastseen": "2026-03-01T11:59:50Z"});
        let object = serde_json::json!({
            "apiVersion": "kopf.dev/v1", "kind": "KopfPeering", "metadata": {"name": "default", "namespace": "a"},
            "status": {"op-1": record(0), "op-2": record(0)},
        });
        sim.create(object, "kopf").expect("created");
        let cluster = connect::from_service(sim.router(), Duration::from_secs(30));
        let client = cluster.client().await.expect("a client");
        let discovery = discover(&client).await.expect("discovered");
        let mut peerings = Peerings::list(&client, &discovery).await;
        let waiting = peerings.waiting(&plan("{}"), now());
        assert_eq!((state(&waiting, "a", true), state(&waiting, "b", true)), (State::Paused, State::Pending));

        sim.begin(Fault::Html, Scope::resource("kopfpeerings.kopf.dev"));
        let peerings = Peerings::list(&client, &discovery).await;
        assert!(peerings.warnings[0].contains("cannot list kopfpeerings.kopf.dev"), "{:?}", peerings.warnings);
    }

    #[test]
    fn a_configured_identity_or_name_decides() {
        let paused = |operator: &str, own| {
            let mut peerings = peering(CLUSTER_KIND, None, own);
            state(&peerings.waiting(&plan(operator), now()), "a", true) == State::Paused
        };
        assert!(paused("{identity: op-1}", 0));
        assert!(!paused("{identity: op-1}", 667));
        assert!(
            paused("{peering: default}", 0) && !paused("{peering: other}", 0) && !paused("{peering: a/default}", 0)
        );
    }
}
