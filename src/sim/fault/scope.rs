//! Whose requests a fault concerns.

use serde::{Deserialize, Serialize};

use crate::sim::call::{Call, Place, Verb};

/// Whose requests a fault concerns: those that fit everything that is given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Scope {
    /// `plural.group`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
    /// The namespace in the path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Empty for all that the fault can concern.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub verbs: Vec<Verb>,
    /// The bearer token. It is not shown when faults are listed.
    #[serde(skip_serializing)]
    pub token: Option<String>,
    /// A part of the User-Agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_agent: Option<String>,
}

impl Scope {
    /// All requests about one resource, `plural.group`.
    pub fn resource(name: &str) -> Self {
        Self { resource: Some(name.to_owned()), ..Self::default() }
    }

    /// The requests of clients whose User-Agent contains this.
    pub fn user_agent(part: &str) -> Self {
        Self { user_agent: Some(part.to_owned()), ..Self::default() }
    }

    /// The same, for these verbs alone.
    #[must_use]
    pub fn verbs(mut self, verbs: &[Verb]) -> Self {
        self.verbs = verbs.to_vec();
        self
    }

    pub(super) fn fits(&self, call: &Call) -> bool {
        let place = call.place();
        let is = |wanted: &Option<String>, found: Option<String>| wanted.is_none() || *wanted == found;
        is(&self.resource, place.map(Place::resource))
            && is(&self.namespace, place.and_then(|place| place.namespace.clone()))
            && is(&self.token, call.sender.token.clone())
            && self.user_agent.as_ref().is_none_or(|part| call.sender.user_agent.contains(part.as_str()))
            && (self.verbs.is_empty() || call.verb.is_some_and(|verb| place.is_some() && self.verbs.contains(&verb)))
    }
}
