//! Rules that are data: one file an ecosystem, over the closed set of predicates in [`engine`].
//!
//! An ecosystem has entries, and an entry says of some kinds when an object is paused, pending, failing, in progress
//! or processed; the first state of which a predicate holds is the answer, and where none does it is `unknown`. No
//! predicate holds on missing evidence, so a trimmed object is never called pending or processed for what was cut from
//! it. Deletion comes before all of this and is the same for every rule.

mod ack;
mod ansible_operator;
mod argo_cd;
mod argo_rollouts;
mod argo_workflows;
mod azure_service_operator;
mod cert_manager;
mod cloudnative_pg;
mod cluster_api;
mod config_connector;
mod crossplane;
mod eck;
mod engine;
mod external_secrets;
mod flink;
mod flux;
mod gateway_api;
mod helm_operator;
mod istio;
mod java_operator_sdk;
mod keda;
mod keycloak;
mod knative;
mod kubevirt;
mod metacontroller;
mod olm;
mod prometheus_operator;
mod rook;
mod sealed_secrets;
mod stackable;
mod state;
mod strimzi;
mod tekton;
mod velero;
mod zalando_postgres;

use std::time::Duration;

use super::{Durations, Holder};
use crate::judge::object::Object;
use crate::judge::object::mask::Mask;
pub use engine::entry::{Ecosystem, Entry, Example, Finalizers, Fit, Lasts, Outcome, Owed};
pub use engine::when::When;

/// Every ecosystem of the table, in the order in which they are listed.
pub static ALL: &[&Ecosystem] = &[
    &flux::RULE,
    &argo_cd::RULE,
    &argo_rollouts::RULE,
    &argo_workflows::RULE,
    &cert_manager::RULE,
    &crossplane::RULE,
    &knative::RULE,
    &cluster_api::RULE,
    &strimzi::RULE,
    &gateway_api::RULE,
    &external_secrets::RULE,
    &tekton::RULE,
    &keda::RULE,
    &cloudnative_pg::RULE,
    &eck::RULE,
    &zalando_postgres::RULE,
    &kubevirt::RULE,
    &rook::RULE,
    &velero::RULE,
    &olm::RULE,
    &config_connector::RULE,
    &ack::RULE,
    &azure_service_operator::RULE,
    &sealed_secrets::RULE,
    &prometheus_operator::RULE,
    &istio::RULE,
    &flink::RULE,
    &keycloak::RULE,
    &ansible_operator::RULE,
    &helm_operator::RULE,
    &metacontroller::RULE,
    &stackable::RULE,
    &java_operator_sdk::RULE,
];

/// A rule of the table, for the kinds that one entry fits.
#[derive(Debug, Clone, Copy)]
pub struct Table {
    ecosystem: &'static Ecosystem,
    entry: &'static Entry,
    max_attempt: Option<Duration>,
    counts_generation: bool,
}

/// The ecosystem of this name.
pub fn named(name: &str) -> Option<&'static Ecosystem> {
    ALL.iter().copied().find(|ecosystem| ecosystem.name == name)
}

/// The ecosystem and the entry that a resource belongs to.
pub fn of_resource(group: &str, kind: &str) -> Option<Table> {
    ALL.iter().find_map(|ecosystem| {
        let entry = ecosystem.entry(group, kind)?;
        Some(Table { ecosystem, entry, max_attempt: None, counts_generation: true })
    })
}

impl Ecosystem {
    fn entry(&self, group: &str, kind: &str) -> Option<&'static Entry> {
        self.entries.iter().find(|entry| entry.fits.iter().any(|fit| fit.fits(group, kind)))
    }
}

impl Table {
    /// The rule with the entry that speaks for its ecosystem as long as the resource is not known.
    pub fn new(ecosystem: &'static Ecosystem) -> Self {
        static NOTHING: &Entry = &Entry::NEW;
        let entry = ecosystem.entries.first().unwrap_or(NOTHING);
        Self { ecosystem, entry, max_attempt: None, counts_generation: true }
    }

    /// With an own `maxAttempt`, or the entry's where there is none.
    #[must_use]
    pub const fn with_max_attempt(self, max_attempt: Option<Duration>) -> Self {
        Self { max_attempt, ..self }
    }

    /// With the entry that fits a resource, if one does.
    #[must_use]
    pub fn for_resource(self, group: &str, kind: &str) -> Self {
        Self { entry: self.ecosystem.entry(group, kind).unwrap_or(self.entry), ..self }
    }

    /// For a resource without the status subresource: status writes raise its generation as well, so that nothing can
    /// be told from it.
    #[must_use]
    pub const fn without_status_subresource(self) -> Self {
        Self { counts_generation: false, ..self }
    }

    /// The ecosystem.
    pub const fn ecosystem(&self) -> &'static Ecosystem {
        self.ecosystem
    }

    /// How the resource is read.
    pub const fn entry(&self) -> &'static Entry {
        self.entry
    }

    /// The `maxAttempt` that is in force whatever the resource: the configured one, else the shortest of the entries.
    pub fn least_max_attempt(&self) -> Duration {
        let own = || self.ecosystem.entries.iter().map(|entry| entry.durations.max_attempt).min();
        self.max_attempt.or_else(own).unwrap_or_default()
    }

    pub(super) fn durations(&self) -> Durations {
        let own = self.entry.durations;
        Durations { max_attempt: self.max_attempt.unwrap_or(own.max_attempt), ..own }
    }

    pub(super) fn mask(&self, common: Mask) -> Mask {
        self.entry.reads(common)
    }

    pub(super) fn holder(&self, object: &Object<'_>) -> Holder {
        let (own, rest) = match self.entry.finalizers {
            Finalizers::Unknown => return Holder::Unknown,
            Finalizers::Some(own) => (own, Holder::Unknown),
            Finalizers::All(own) => (own, Holder::Others),
        };
        if object.finalizers().any(|finalizer| own.has(finalizer)) { Holder::Operator } else { rest }
    }
}

#[cfg(test)]
mod tests;
