//! Which of the resources are custom ones.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::super::list::{Query, Seen, list};
use super::super::request::{Client, Reason};
use super::resolve::is_built_in;
use super::{Discovery, Error, Resource};

/// The custom resources that an API server serves.
#[derive(Debug, Clone, Default)]
pub struct CustomResources {
    /// Each in its preferred version; those that cannot be listed included.
    pub resources: Vec<Resource>,
    /// `plural.group` of CRDs that exist and are not served: not yet established, no served version, a name conflict.
    pub unserved: Vec<String>,
    /// Set where the CRDs could not be read.
    pub warning: Option<Warning>,
}

/// What a reader of the result must know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Warning {
    /// The CRDs may not be listed. Taken were all groups that do not come with Kubernetes, among them those of
    /// aggregated APIs, whose objects are no custom resources.
    CrdsForbidden,
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::CrdsForbidden => f.write_str(
                "customresourcedefinitions may not be listed; taken instead: every group that does not come with \
                 Kubernetes, aggregated APIs included",
            ),
        }
    }
}

/// Finds every resource that a CRD serves. A CRD is called `plural.group`, so its name is all that is asked for.
///
/// # Errors
/// [`Error::Crds`] when the CRDs cannot be listed for another reason than missing rights.
pub async fn custom_resources(client: &Client, discovery: &Discovery) -> Result<CustomResources, Error> {
    let crds = crds();
    let mut names = BTreeSet::new();
    let mut broken = 0_u64;
    let listing = list(client, &Query { metadata_only: true, ..Query::new(&crds) }, &mut |seen| match seen {
        Seen::Object(bytes) => match serde_json::from_slice::<Crd>(bytes) {
            Ok(crd) => {
                names.insert(crd.metadata.name);
            }
            Err(_) => broken += 1,
        },
        Seen::Restarted => {
            names.clear();
            broken = 0;
        }
        Seen::TooLarge { .. } | Seen::Page { .. } => {}
    })
    .await;
    match listing.error {
        None if broken == 0 => Ok(served(discovery, names)),
        None => Err(Error::Document {
            path: crds.path(None),
            source: serde::de::Error::custom(format!("{broken} definitions without a name")),
        }),
        Some(error) if error.reason() == Reason::Forbidden => {
            let resources = discovery.preferred().filter(|r| !is_built_in(&r.group)).cloned().collect();
            Ok(CustomResources { resources, unserved: Vec::new(), warning: Some(Warning::CrdsForbidden) })
        }
        Some(source) => Err(Error::Crds { source: Box::new(source) }),
    }
}

#[derive(Deserialize)]
struct Crd {
    metadata: Named,
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

fn served(discovery: &Discovery, mut names: BTreeSet<String>) -> CustomResources {
    let resources = discovery.preferred().filter(|resource| names.remove(&resource.name())).cloned().collect();
    // Without an answer from its group nobody knows whether it is served.
    names.retain(|name| name.split_once('.').is_none_or(|(_, group)| !discovery.is_unanswered(group)));
    CustomResources { resources, unserved: names.into_iter().collect(), warning: None }
}

fn crds() -> Resource {
    Resource {
        group: "apiextensions.k8s.io".to_owned(),
        version: "v1".to_owned(),
        kind: "CustomResourceDefinition".to_owned(),
        plural: "customresourcedefinitions".to_owned(),
        singular: "customresourcedefinition".to_owned(),
        short_names: Vec::new(),
        categories: Vec::new(),
        namespaced: false,
        verbs: vec!["list".to_owned()],
        has_status: true,
    }
}
