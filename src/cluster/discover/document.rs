//! The documents of discovery: the aggregated form (`apidiscovery.k8s.io`, v2 and v2beta1 alike) and the old one.

use serde::{Deserialize, Deserializer};

use super::{Discovery, Resource};

/// `APIGroupDiscovery`.
#[derive(Debug, Deserialize)]
pub(super) struct Group {
    #[serde(default, deserialize_with = "null_is_default")]
    metadata: Named,
    #[serde(default, deserialize_with = "null_is_default")]
    versions: Vec<Version>,
}

#[derive(Debug, Default, Deserialize)]
struct Named {
    /// Missing for the core group.
    #[serde(default)]
    name: String,
}

#[derive(Debug, Deserialize)]
struct Version {
    #[serde(rename = "version")]
    name: String,
    #[serde(default, deserialize_with = "null_is_default")]
    freshness: String,
    #[serde(default, deserialize_with = "null_is_default")]
    resources: Vec<Entry>,
}

/// `APIResourceDiscovery`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    #[serde(rename = "resource")]
    plural: String,
    #[serde(default, deserialize_with = "null_is_default")]
    response_kind: Kind,
    #[serde(default, deserialize_with = "null_is_default")]
    scope: String,
    #[serde(default, deserialize_with = "null_is_default")]
    singular_resource: String,
    #[serde(default, deserialize_with = "null_is_default")]
    verbs: Vec<String>,
    #[serde(default, deserialize_with = "null_is_default")]
    short_names: Vec<String>,
    #[serde(default, deserialize_with = "null_is_default")]
    categories: Vec<String>,
    #[serde(default, deserialize_with = "null_is_default")]
    subresources: Vec<Subresource>,
}

#[derive(Debug, Default, Deserialize)]
struct Kind {
    #[serde(default)]
    kind: String,
}

#[derive(Debug, Deserialize)]
struct Subresource {
    subresource: String,
}

/// Go writes an empty list as `null` where it is not careful.
fn null_is_default<'de, D: Deserializer<'de>, T: Default + Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// Reads one item of the aggregated form.
pub(super) fn group(item: &[u8]) -> Result<Group, serde_json::Error> {
    serde_json::from_slice(item)
}

impl Group {
    /// Adds what the group serves. A stale version's resources are those of an earlier answer and may be missing.
    pub(super) fn add_to(self, discovery: &mut Discovery) {
        let group = self.metadata.name;
        for Version { name: version, freshness, resources } in self.versions {
            if freshness == "Stale" {
                discovery.unanswered.push(format!("{group}/{version}"));
            }
            discovery.resources.extend(resources.into_iter().map(|entry| Resource {
                group: group.clone(),
                version: version.clone(),
                kind: entry.response_kind.kind,
                plural: entry.plural,
                singular: entry.singular_resource,
                short_names: entry.short_names,
                categories: entry.categories,
                namespaced: entry.scope == "Namespaced",
                verbs: entry.verbs,
                has_status: entry.subresources.iter().any(|sub| sub.subresource == "status"),
            }));
        }
    }
}

/// `APIVersions` of `/api` or `APIGroupList` of `/apis`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Root {
    kind: String,
    #[serde(default, deserialize_with = "null_is_default")]
    versions: Vec<String>,
    #[serde(default, deserialize_with = "null_is_default")]
    groups: Vec<OldGroup>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct OldGroup {
    versions: Vec<GroupVersion>,
    preferred_version: Option<GroupVersion>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
struct GroupVersion {
    group_version: String,
}

/// The versions of the core group, or `group/version` of every other one, the preferred one first in each group.
pub(super) fn group_versions(document: &[u8]) -> Result<Vec<String>, serde_json::Error> {
    let root: Root = serde_json::from_slice(document)?;
    if root.kind != "APIVersions" && root.kind != "APIGroupList" {
        return Err(serde::de::Error::custom("neither APIVersions nor APIGroupList"));
    }
    let in_order = |group: OldGroup| {
        let preferred = group.preferred_version;
        let is_other = |version: &GroupVersion| Some(version) != preferred.as_ref();
        let others: Vec<_> = group.versions.into_iter().filter(is_other).collect();
        preferred.into_iter().chain(others).map(|version| version.group_version)
    };
    Ok(root.versions.into_iter().chain(root.groups.into_iter().flat_map(in_order)).collect())
}

/// `APIResourceList`.
#[derive(Debug, Deserialize)]
struct OldResources {
    #[serde(default, deserialize_with = "null_is_default")]
    resources: Vec<OldEntry>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct OldEntry {
    /// A plural, or `plural/subresource`.
    name: String,
    #[serde(default)]
    singular_name: String,
    namespaced: bool,
    kind: String,
    #[serde(default, deserialize_with = "null_is_default")]
    verbs: Vec<String>,
    #[serde(default, deserialize_with = "null_is_default")]
    short_names: Vec<String>,
    #[serde(default, deserialize_with = "null_is_default")]
    categories: Vec<String>,
}

/// Adds what one version of a group serves, from the old form.
pub(super) fn old_resources(
    group_version: &str,
    document: &[u8],
    discovery: &mut Discovery,
) -> Result<(), serde_json::Error> {
    let OldResources { resources } = serde_json::from_slice(document)?;
    let (group, version) = group_version.split_once('/').unwrap_or(("", group_version));
    let with_status: Vec<String> =
        resources.iter().filter_map(|entry| entry.name.strip_suffix("/status").map(str::to_owned)).collect();
    discovery.resources.extend(resources.into_iter().filter(|entry| !entry.name.contains('/')).map(|entry| Resource {
        group: group.to_owned(),
        version: version.to_owned(),
        kind: entry.kind,
        has_status: with_status.contains(&entry.name),
        plural: entry.name,
        singular: entry.singular_name,
        short_names: entry.short_names,
        categories: entry.categories,
        namespaced: entry.namespaced,
        verbs: entry.verbs,
    }));
    Ok(())
}
