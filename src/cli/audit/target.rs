//! Which resources of a cluster are audited.

use super::peering::is_context;
use super::settings::{Plan, Settings};
use crate::cli::exit::Exit;
use crate::cluster::discover::{self, CustomResources, Discovery, Resource, Selection, Unresolved, custom_resources};
use crate::cluster::request::Client;
use crate::config::resource::Resource as Configured;

/// One resource to list.
#[derive(Debug)]
pub struct Target {
    /// The resource.
    pub resource: Resource,
    /// Only objects of these names.
    pub names: Option<Vec<String>>,
    /// How it is judged.
    pub settings: Settings,
    /// Asked for by name, on the command line or in the configuration.
    pub is_named: bool,
}

/// The targets, and what a reader of the report must know about how they were found.
#[derive(Debug, Default)]
pub struct Targets {
    /// The resources.
    pub targets: Vec<Target>,
    /// Lines for a person.
    pub warnings: Vec<String>,
}

/// Why it is not known what to audit.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// RESOURCE beside a configuration that lists resources.
    #[error("RESOURCE and the resources of the configuration exclude each other; leave one of them out")]
    Both,
    /// A word means nothing, or too much.
    #[error(transparent)]
    Unresolved(#[from] Unresolved),
    /// The definitions of custom resources cannot be listed.
    #[error(transparent)]
    Discover(#[from] discover::Error),
}

impl Error {
    /// How the command ends.
    pub const fn exit(&self) -> Exit {
        match self {
            // What did not answer may serve what was asked for.
            Self::Unresolved(Unresolved::Unanswered { .. }) | Self::Discover(_) => Exit::Undetermined,
            Self::Both | Self::Unresolved(_) => Exit::Usage,
        }
    }
}

/// Finds the targets: those that `words` name, else those that the configuration lists, else every custom resource.
///
/// # Errors
/// See [`Error`].
pub async fn find(client: &Client, discovery: &Discovery, words: &[String], plan: &Plan) -> Result<Targets, Error> {
    let listed = plan.listed();
    if !words.is_empty() {
        if !listed.is_empty() {
            return Err(Error::Both);
        }
        let target = |selection: Selection| Target {
            settings: plan.apply(&Configured::default(), None),
            resource: selection.resource,
            names: selection.names,
            is_named: true,
        };
        let targets = discovery.resolve(words)?.into_iter().map(target).collect();
        return Ok(Targets { targets, warnings: Vec::new() });
    }
    if !listed.is_empty() {
        return Ok(Targets { targets: configured(discovery, plan)?, warnings: Vec::new() });
    }
    let CustomResources { resources, unserved, warning } = custom_resources(client, discovery).await?;
    let mut warnings: Vec<String> = warning.iter().map(ToString::to_string).collect();
    if !unserved.is_empty() {
        warnings.push(format!("defined and not served: {}", unserved.join(", ")));
    }
    if !discovery.unanswered.is_empty() {
        warnings.push(format!("these APIs did not answer: {}", discovery.unanswered.join(", ")));
    }
    let target = |resource: Resource| Target {
        settings: plan.apply(&Configured::default(), None),
        resource,
        names: None,
        is_named: false,
    };
    let judged = resources.into_iter().filter(|resource| !is_context(resource));
    Ok(Targets { targets: judged.map(target).collect(), warnings })
}

/// The resources that the configuration names, then those that only fit a pattern of it.
fn configured(discovery: &Discovery, plan: &Plan) -> Result<Vec<Target>, Error> {
    let mut targets: Vec<Target> = Vec::new();
    let listed = plan.listed();
    let (globs, named): (Vec<_>, Vec<_>) = listed.into_iter().partition(|(resource, _)| resource.resource.is_glob());
    for (resource, operator) in named {
        for selection in discovery.resolve(&[resource.resource.as_str()])? {
            let settings = plan.apply(resource, operator);
            push(&mut targets, Target { resource: selection.resource, names: None, settings, is_named: true });
        }
    }
    for (resource, operator) in globs {
        for found in discovery.preferred().filter(|found| resource.resource.matches(&found.name())) {
            let settings = plan.apply(resource, operator);
            push(&mut targets, Target { resource: found.clone(), names: None, settings, is_named: false });
        }
    }
    Ok(targets)
}

fn push(targets: &mut Vec<Target>, target: Target) {
    let is_known = |known: &Target| {
        known.resource.group == target.resource.group && known.resource.plural == target.resource.plural
    };
    if !targets.iter().any(is_known) {
        targets.push(target);
    }
}
